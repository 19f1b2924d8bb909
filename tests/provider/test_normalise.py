"""Usage at the edge: facts 50-63 as providers report them, cases C-072 to C-090, and nothing invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model.usage import Usage
from qiming_tui.provider import normalise


def openai(prompt, completion, total=None, *, cached=0, write=0, reasoning=0):
    return normalise.openai(
        {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_tokens": write},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
    )


def test_fact_50_51_54_openai():
    assert openai(1000, 500, 1500) == Usage(input=1000, output=500, total=1500)
    assert openai(1000, 500, 1500, cached=200) == Usage(input=800, output=500, cache_read=200, total=1500)
    assert openai(1000, 500, 1500, reasoning=100) == Usage(input=1000, output=400, reasoning=100, total=1500)


def test_fact_56_zeros_stay_zeros():
    assert openai(0, 0, 0) == Usage()
    assert openai(0, 0, 0).empty


def test_c_072_prompt_tokens_include_the_cache():
    used = openai(9888, 5, 9893, cached=6752)
    assert (used.input, used.cache_read, used.output, used.parts_sum) == (3136, 6752, 5, 9893)


def test_c_080_reasoning_is_inside_the_completion():
    used = openai(14_746, 1944, 16_690, reasoning=1360)
    assert (used.output, used.reasoning, used.broken) == (584, 1360, False)


def test_c_090_a_total_that_proves_that_the_cache_or_reasoning_is_beside():
    used = openai(100, 10, 5110, cached=5000)
    assert (used.input, used.cache_read, used.broken) == (100, 5000, False)
    used = openai(100, 10, 150, reasoning=40)
    assert (used.output, used.reasoning, used.broken) == (10, 40, False)
    used = openai(100, 10, 3150, cached=3000, reasoning=40)
    assert (used.input, used.output, used.broken) == (100, 10, False)


def test_c_090_a_total_that_contradicts_is_kept_and_flagged():
    used = openai(1000, 500, 1777)
    assert (used.total, used.parts_sum, used.broken) == (1777, 1500, True)


def test_cache_figures_in_other_places():
    assert normalise.openai({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}).cache_read == 4  # DeepSeek
    assert openai(5300, 7, 5307, cached=5000, write=200) == Usage(
        input=100, output=7, cache_read=5000, cache_write=200, total=5307
    )


def test_fact_52_53_61_anthropic_counts_the_cache_beside_the_input():
    raw = {
        "input_tokens": 500,
        "output_tokens": 500,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 300,
    }
    used = normalise.anthropic(raw)
    assert used == Usage(input=500, output=500, cache_read=200, cache_write=300)
    assert used.parts_sum == 1500
    raw["output_tokens_details"] = {"thinking_tokens": 120}
    assert normalise.anthropic(raw).output == 380
    assert normalise.anthropic(raw).reasoning == 120


def test_both_ways_agree_for_anthropic():
    """litellm's sum (100+5000+200 -> 5300) and its guess of the reasoning are taken apart again."""
    used = normalise.litellm(
        {
            "prompt_tokens": 5300,
            "completion_tokens": 77,
            "total_tokens": 5377,
            "prompt_tokens_details": {"cached_tokens": 5000, "cache_creation_tokens": 200},
            "cache_read_input_tokens": 5000,
            "cache_creation_input_tokens": 200,
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
        guesses_reasoning=True,
    )
    raw = {
        "input_tokens": 100,
        "output_tokens": 77,
        "cache_read_input_tokens": 5000,
        "cache_creation_input_tokens": 200,
    }
    assert used == normalise.anthropic(raw)


def test_gemini_thoughts_beside_or_inside_the_candidates():
    raw = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20,
    }
    beside = normalise.gemini({**raw, "totalTokenCount": 150})
    assert beside == Usage(input=60, output=30, reasoning=20, cache_read=40, total=150)
    inside = normalise.gemini({**raw, "totalTokenCount": 130})
    assert inside == Usage(input=60, output=10, reasoning=20, cache_read=40, total=130)
    assert normalise.gemini({"promptTokenCount": 10, "toolUsePromptTokenCount": 5}).input == 15


@pytest.mark.parametrize("raw", [None, [], "x", 5])
def test_missing_usage_is_absent(raw):
    assert normalise.openai(raw) is None
    assert normalise.anthropic(raw) is None
    assert normalise.gemini(raw) is None
    assert normalise.litellm(raw, guesses_reasoning=False) is None


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.data())
def test_parts_inside_their_whole_always_add_up(prompt, completion, data):
    read = data.draw(st.integers(0, prompt))
    write = data.draw(st.integers(0, prompt - read))
    reasoning = data.draw(st.integers(0, completion))
    used = openai(prompt, completion, prompt + completion, cached=read, write=write, reasoning=reasoning)
    assert used.parts_sum == prompt + completion
    assert not used.broken
