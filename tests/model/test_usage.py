"""Usage from a provider's numbers, and its price: conformance 2.6, cases C-072 and C-080."""

import math

import pytest

from qiming_tui.model.limits import Price, PriceTier
from qiming_tui.model.usage import Usage, cost, tokens_of, usage_from_counts, usage_of


def reported(prompt, completion, total=None, **more):
    return usage_from_counts(prompt=prompt, completion=completion, total=total, **more)


def test_fact_50_plain_numbers():
    usage = reported(1000, 500, 1500)
    assert usage == Usage(input=1000, output=500, total=1500)
    assert (usage.reasoning, usage.cache_read, usage.cache_write) == (0, 0, 0)


def test_facts_51_53_cache_reads_are_inside_the_prompt():
    assert reported(1000, 500, 1500, cache_read=200) == Usage(
        input=800, output=500, cache_read=200, total=1500
    )


def test_facts_52_63_cache_writes_are_inside_the_prompt():
    usage = reported(1000, 500, 1500, cache_write=300)
    assert (usage.cache_write, usage.input) == (300, 700)
    both = reported(1000, 500, 1500, cache_read=200, cache_write=300)
    assert (both.cache_write, both.input) == (300, 500)


def test_fact_54_reasoning_is_inside_the_output():
    assert reported(1000, 500, 1500, reasoning=100) == Usage(
        input=1000, output=400, reasoning=100, total=1500
    )


def test_fact_55_reasoning_is_priced_as_output():
    usage = reported(0, 1_000_000, reasoning=250_000)
    assert (usage.output, usage.reasoning) == (750_000, 250_000)
    assert cost(usage, Price(output=15.0)) == pytest.approx(15.0)


def test_fact_56_all_zero():
    usage = reported(0, 0, 0)
    assert usage == Usage(total=0)
    assert usage.empty
    assert cost(usage, Price(3.0, 15.0)) == 0.0


def test_fact_57_plain_price():
    assert cost(reported(1_000_000, 100_000), Price(3.0, 15.0)) == pytest.approx(4.5)


def test_fact_58_copilots_own_bill_beats_the_price():
    usage = reported(1_000_000, 100_000)
    assert cost(usage, Price(3.0, 15.0), nano_aiu=4_473_525_000) == pytest.approx(0.04473525)
    assert cost(usage, Price(3.0, 15.0), nano_aiu=0) == 0.0


@pytest.mark.parametrize("nonsense", [None, -1, math.nan, math.inf, "12", True])
def test_fact_58_a_bill_that_is_no_number_is_ignored(nonsense):
    assert cost(reported(1_000_000, 100_000), Price(3.0, 15.0), nano_aiu=nonsense) == pytest.approx(4.5)


TIERED = Price(1.0, 2.0, 0.1, tiers=(PriceTier(200_000, 3.0, 4.0, 0.3), PriceTier(500_000, 5.0, 6.0, 0.5)))


def test_fact_59_the_largest_tier_that_the_input_side_exceeds():
    usage = reported(650_000, 100_000, cache_read=100_000)
    assert usage.input == 550_000
    assert cost(usage, TIERED) == pytest.approx(2.75 + 0.6 + 0.05)


@pytest.mark.parametrize(("prompt", "rate"), [(200_000, 1.0), (200_001, 3.0), (500_000, 3.0), (500_001, 5.0)])
def test_fact_59_a_tier_begins_above_its_size(prompt, rate):
    assert cost(reported(prompt, 0), TIERED) == pytest.approx(prompt * rate / 1_000_000)


@pytest.mark.parametrize("who", ["anthropic", "vertex", "bedrock"])
def test_facts_61_62_read_and_write_together(who):
    usage = reported(1000, 500, 1500, cache_read=200, cache_write=300)
    assert usage == Usage(input=500, output=500, cache_read=200, cache_write=300, total=1500)
    assert not usage.broken, who


@pytest.mark.parametrize("nonsense", [None, -5, math.nan, math.inf, -math.inf, "7", True, 10**400, {}])
def test_numbers_that_cannot_be_are_zero_and_an_impossible_total_is_unknown(nonsense):
    usage = usage_from_counts(
        prompt=nonsense,
        completion=nonsense,
        total=nonsense,
        cache_read=nonsense,
        cache_write=nonsense,
        reasoning=nonsense,
    )
    assert usage == Usage()
    assert usage.total is None


def test_more_cache_than_prompt_leaves_no_negative_input():
    usage = reported(100, 10, 110, cache_read=90, cache_write=50, reasoning=20)
    assert (usage.input, usage.output) == (0, 0)
    assert usage.broken, "flagged, never mended"


def test_conformance_1_openai_compatible_wire():
    usage = reported(2000, 40, 2040, cache_read=500)
    assert usage == Usage(input=1500, output=40, cache_read=500, total=2040)


def test_c_072_the_prompt_already_holds_the_cache():
    usage = reported(9888, 5, 9893, cache_read=6752)
    assert (usage.input, usage.cache_read, usage.output, usage.total) == (3136, 6752, 5, 9893)
    assert usage.parts_sum == 9893


def test_c_072_share_of_the_cache():
    usage = reported(46_799, 0, cache_read=45_312)
    assert round(100 * usage.cache_read / usage.prompt) == 97


def test_c_080_reasoning_is_paid_once():
    usage = reported(14_746, 1_944, reasoning=1_360)
    assert cost(usage, Price(30.0, 180.0)) == pytest.approx(0.7923)


def test_c_080_reasoning_inside_the_output_of_a_long_run():
    usage = reported(16_845_360, 63_820, 16_909_180, reasoning=24_882)
    assert usage.parts_sum == usage.total == 16_909_180


def test_c_090_a_total_that_contradicts_its_parts_is_flagged():
    assert Usage(input=100, output=5, cache_read=900, total=105).broken
    assert not Usage(input=100, output=5, cache_read=900, total=1005).broken
    assert not Usage(input=100, output=5).broken, "an unknown total contradicts nothing"


def test_usage_survives_its_stored_shape():
    usage = reported(1000, 500, 1500, cache_read=200, cache_write=300, reasoning=100)
    assert usage_of(tokens_of(usage)) == usage
