"""The three presets and the verdict: conformance 2.1, the table of data.md 4, cases A and parts of D."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.budget import (
    bound,
    count_usage,
    is_over,
    max_output,
    percent,
    verdict,
)
from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import Limits
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Preset, Settings, State
from tests.context.short import M

OC, QM, GD = Preset.OPENCODE, Preset.QIMING, Preset.GUARDED


def judge(limits, count, preset=GD, **more):
    chosen = {name: more.pop(name) for name in ("reserved", "auto") if name in more}
    settings = Settings(preset=preset, **chosen)
    return verdict(settings=settings, limits=limits, count=count, basis=Basis.MEASURED, **more)


def overflows(limits, usage, preset=OC, **settings):
    return judge(limits, count_usage(preset, usage), preset, **settings).overflow


def used(input, output, read=0, write=0, total=None, reasoning=0):
    return Usage(
        input=input, output=output, reasoning=reasoning, cache_read=read, cache_write=write, total=total
    )


@pytest.mark.parametrize(
    ("limits", "usage", "expected"),
    [
        pytest.param(M(100_000, 32_000), used(75_000, 5_000), True, id="fact-01"),
        pytest.param(M(200_000, 32_000), used(100_000, 10_000), False, id="fact-02"),
        pytest.param(M(100_000, 32_000), used(60_000, 10_000, 10_000), True, id="fact-03"),
        pytest.param(M(400_000, 128_000, 272_000), used(271_000, 1_000, 2_000), True, id="fact-04"),
        pytest.param(M(400_000, 128_000, 272_000), used(200_000, 20_000, 10_000), False, id="fact-05"),
        pytest.param(M(200_000, 10_000, 120_000), used(50_000, 9_999), False, id="fact-06"),
        pytest.param(M(200_000, 32_000, 200_000), used(180_000, 15_000, 3_000), True, id="fact-07"),
        pytest.param(M(200_000, 32_000), used(180_000, 15_000, 3_000), True, id="fact-08"),
        pytest.param(M(200_000, 32_000, 200_000), used(166_000, 10_000, 5_000), True, id="fact-09-input"),
        pytest.param(M(200_000, 32_000), used(166_000, 10_000, 5_000), True, id="fact-09-context"),
        pytest.param(M(0, 32_000), used(100_000, 10_000), False, id="fact-10"),
        pytest.param(M(8_000, 1_000), used(0, 0, total=6_550), False, id="fact-12-below"),
        pytest.param(M(8_000, 1_000), used(0, 0, total=7_000), True, id="fact-12-equal"),
        pytest.param(M(8_000, 1_000), used(0, 0, total=7_220), True, id="fact-12-above"),
        pytest.param(M(8_000, 1_000), Usage(), False, id="fact-14"),
    ],
)
def test_facts_01_to_14_overflow(limits, usage, expected):
    assert overflows(limits, usage) is expected


def test_fact_11_auto_off_never_overflows_but_is_over():
    found = judge(M(100_000, 32_000), 80_000, OC, auto=False)
    assert not found.overflow
    assert (found.state, found.auto, found.over_by) == (State.OVER, False, 12_000)
    assert found.arithmetic.endswith("80,000 >= 68,000 true, 12,000 over"), "auto is a flag"


@pytest.mark.parametrize(
    ("output", "cap", "kept"),
    [
        (0, 32_000, 32_000),
        (-1, 32_000, 32_000),
        (128_000, 32_000, 32_000),
        (8_192, 32_000, 8_192),
        (128_000, 64_000, 64_000),
        (0, 64_000, 64_000),
    ],
)
def test_fact_13_output_limit_is_capped_and_has_a_default(output, cap, kept):
    assert max_output(M(200_000, output), Settings(output_token_max=cap)) == kept


def test_fact_13_reserve_is_ignored_without_an_input_limit():
    assert bound(M(200_000, 8_192), Settings(preset=OC, reserved=50_000)).usable == 191_808


def test_fact_13_usable_is_never_below_zero_and_then_every_step_overflows():
    found = judge(M(16_384, 0), 1, OC)
    assert (found.usable, found.overflow, found.percent, found.over_by) == (0, True, None, 1)
    assert judge(M(16_384, 0), 0, OC).overflow, "0 >= 0"
    assert not judge(M(16_384, 0), 0, QM).overflow, "0 > 0 is false"


TABLE = [
    # limits, reserved, usable under opencode, qiming, guarded
    (M(200_000, 8_192), None, 191_808, 191_808, 191_808),
    (M(400_000, 8_192, 180_000), 20_000, 160_000, 391_808, 160_000),
    (M(400_000, 8_192, 180_000), None, 171_808, 391_808, 171_808),
    (M(16_384, 0), None, 0, 0, 8_192),
    (M(4_096, 4_096), None, 0, 0, 2_048),
    # cases C-002 to C-005
    (M(200_000, 32_000, 200_000), None, 180_000, 168_000, 168_000),
    (M(400_000, 128_000, 272_000), None, 252_000, 368_000, 252_000),
    (M(262_144, 32_768), 50_000, 230_144, 230_144, 212_144),
    (M(200_000, 32_000), 32_000, 168_000, 168_000, 168_000),
    (M(272_000, 128_000), None, 240_000, 240_000, 240_000),
    # a set reserve of 0 counts as set: no half of the window
    (M(16_384, 0), 0, 0, 0, 0),
    (M(400_000, 8_192, 180_000), 0, 180_000, 391_808, 180_000),
    # the smaller of both bounds, and half of an odd window
    (M(200_000, 32_000, 195_000), 1_000, 194_000, 168_000, 168_000),
    (M(4_097, 4_096), None, 1, 1, 2_048),
    (M(30_000, 16_000, 20_000), None, 4_000, 14_000, 10_000),
    # the reserve above an input limit: opencode clamps
    (M(200_000, 32_000, 15_000), None, 0, 168_000, 7_500),
]


@pytest.mark.parametrize(("limits", "reserved", "opencode", "qiming", "guarded"), TABLE)
def test_usable_of_the_table_of_data_4(limits, reserved, opencode, qiming, guarded):
    def usable(preset):
        return bound(limits, Settings(preset=preset, reserved=reserved)).usable

    assert (usable(OC), usable(QM), usable(GD)) == (opencode, qiming, guarded)


@pytest.mark.parametrize(
    ("output", "set_to", "reserved"),
    [(8_192, None, 8_192), (32_000, None, 20_000), (0, None, 20_000), (8_192, 50_000, 50_000), (8_192, 0, 0)],
)
def test_reserved_is_the_users_or_at_most_20_000(output, set_to, reserved):
    limits = M(200_000, output)
    assert bound(limits, Settings(preset=OC, reserved=set_to)).reserved == reserved
    assert bound(limits, Settings(preset=GD, reserved=set_to)).reserved == reserved
    assert bound(limits, Settings(preset=QM, reserved=set_to)).reserved is None


@pytest.mark.parametrize(
    ("limits", "reserved"),
    [(M(16_384, 512), 16_384), (M(400_000, 8_192, 180_000), 180_000), (M(400_000, 8_192, 180_000), 300_000)],
)
def test_guarded_refuses_a_reserve_that_is_not_smaller_than_the_window(limits, reserved):
    with pytest.raises(ConfigError, match=f"{reserved:,}"):
        bound(limits, Settings(preset=GD, reserved=reserved))
    assert bound(limits, Settings(preset=GD, reserved=limits.window - 1)).usable == 1
    assert bound(limits, Settings(preset=OC, reserved=reserved)).usable is not None
    assert bound(Limits(0, None, 0), Settings(preset=GD, reserved=reserved)).usable is None


@pytest.mark.parametrize("preset", [OC, GD])
def test_a_reserve_below_zero_is_refused(preset):
    with pytest.raises(ConfigError, match="-1"):
        bound(M(200_000, 8_192), Settings(preset=preset, reserved=-1))


@pytest.mark.parametrize("preset", list(Preset))
def test_c_016_an_unknown_window_gives_no_percentage_and_no_compaction(preset):
    found = judge(M(0, 0), 1_000_000, preset)
    assert (found.usable, found.percent, found.overflow) == (None, None, False)
    assert (found.over_by, found.state, found.count) == (0, State.UNKNOWN, 1_000_000)
    assert "window unknown" in found.arithmetic
    assert "1,000,000" in found.arithmetic


def test_an_input_limit_alone_is_a_window_under_guarded_only():
    limits = M(0, 8_192, 180_000)
    assert bound(limits, Settings(preset=GD)).usable == 171_808
    assert bound(limits, Settings(preset=OC)).usable is None, "context 0: the article does not compare"
    assert bound(limits, Settings(preset=QM)).usable is None


@pytest.mark.parametrize(
    ("count", "usable", "expected"),
    [
        (0, 1_000, 0),
        (4, 1_000, 0),
        (5, 1_000, 1),
        (994, 1_000, 99),
        (995, 1_000, 100),
        (1_000, 1_000, 100),
        (3_120, 1_000, 312),
        (1, 200, 1),
        (1, 201, 0),
        (1, 3, 33),
        (2, 3, 67),
        (5, 0, None),
        (5, None, None),
    ],
)
def test_percent_is_an_integer_half_up(count, usable, expected):
    assert percent(count, usable) == expected


@given(st.integers(0, 10**12), st.integers(1, 10**9))
def test_percent_is_the_nearest_integer(count, usable):
    found = percent(count, usable)
    assert 2 * found * usable - usable <= 200 * count < 2 * found * usable + usable


@pytest.mark.parametrize(
    ("count", "projected", "state", "words"),
    [
        (60_000, 70_000, State.OK, ""),
        (60_000, 81_000, State.NEAR, "fewer than two turns of ~21,000 fit"),
        (80_000, 81_000, State.NEAR, ""),  # the percentage says it
        (60_000, 100_000, State.LAST_TURN, "~100,000 after the next turn"),
        (100_000, 120_000, State.OVER, ""),
        (60_000, None, State.OK, ""),
    ],
)
def test_a_state_that_the_percentage_does_not_explain_says_why(count, projected, state, words):
    found = judge(M(108_192, 8_192), count, projected=projected)
    assert found.usable == 100_000
    assert found.state is state
    assert found.arithmetic.partition(" short")[2].removeprefix("; ") == words


def test_a_count_that_is_not_measured_is_marked_in_the_sum():
    for basis, mark in ((Basis.MEASURED, ""), (Basis.ESTIMATED, "~"), (Basis.PREDICTED, "~")):
        found = verdict(settings=Settings(), limits=M(108_192, 8_192), count=60_000, basis=basis)
        assert f"; {mark}60,000 >= 100,000 false, {mark}40,000 short" in found.arithmetic


@pytest.mark.parametrize(("preset", "equal"), [(OC, True), (QM, False), (GD, True)])
def test_the_comparison_at_exactly_usable(preset, equal):
    at = judge(M(200_000, 8_192), 191_808, preset)
    assert at.overflow is equal
    assert at.state is (State.OVER if equal else State.NEAR)
    assert (at.over_by, at.percent) == (0, 100)
    assert "equal" in at.arithmetic
    above = judge(M(200_000, 8_192), 191_809, preset)
    assert (above.overflow, above.over_by, above.state) == (True, 1, State.OVER)
    assert not judge(M(200_000, 8_192), 191_807, preset).overflow


@pytest.mark.parametrize(
    ("count", "more", "state"),
    [
        (749, {}, State.OK),
        (750, {}, State.NEAR),
        (999, {}, State.NEAR),
        (500, {"projected": 600}, State.OK),
        (500, {"projected": 750}, State.OK),
        (500, {"projected": 751}, State.NEAR),
        (500, {"projected": 999}, State.NEAR),
        (500, {"projected": 1_000}, State.LAST_TURN),
        (900, {"projected": 1_200}, State.LAST_TURN),
        (1_000, {"projected": 1_200}, State.OVER),
        (1_000, {"refused": True}, State.FULL),
        (100, {"refused": True}, State.FULL),
        (500, {"projected": 400}, State.OK),
    ],
)
def test_states_in_their_precedence(count, more, state):
    found = judge(M(2_000, 1_000), count, OC, **more)
    assert found.usable == 1_000
    assert found.state is state


def test_an_unknown_window_beats_a_refusal():
    found = judge(M(0, 0), 10, refused=True)
    assert found.state is State.UNKNOWN
    assert "refused by the provider" in found.arithmetic


def test_c_002_the_smaller_of_both_bounds_decides():
    found = judge(M(200_000, 32_000, 200_000), 175_000)
    assert found.overflow
    assert found.usable == 168_000
    for number in ("200,000 context", "32,000 output", "200,000 input", "20,000 reserved", "180,000"):
        assert number in found.arithmetic
    assert judge(M(400_000, 128_000, 272_000), 0).usable == 252_000


def test_c_003_a_set_reserve_always_counts_and_its_bound_is_named():
    found = judge(M(262_144, 32_768), 212_144, reserved=50_000)
    assert (found.usable, found.overflow, found.reserved) == (212_144, True, 50_000)
    assert found.arithmetic.startswith("262,144 context - 50,000 reserved (set) = 212,144 usable")


def test_c_004_a_reserve_as_large_as_the_output():
    limits = M(200_000, 32_000)
    assert judge(limits, 168_000, reserved=32_000).overflow
    assert not judge(limits, 167_999, reserved=32_000).overflow


def test_c_005_the_output_limit_is_capped():
    assert judge(M(272_000, 128_000), 263_840).overflow
    assert judge(M(272_000, 128_000), 263_840).usable == 240_000


def test_c_006_every_verdict_reads_the_limits_of_the_next_request():
    assert judge(M(200_000, 32_000), 180_000).overflow
    moved = judge(M(1_000_000, 32_000), 180_000)
    assert not moved.overflow
    assert moved.limits.context == 1_000_000


def test_c_012_auto_off_is_over_or_full_without_overflow():
    found = judge(M(200_000, 8_192), 250_000, auto=False, refused=True)
    assert not found.overflow
    assert (found.state, found.over_by, found.percent) == (State.FULL, 58_192, 130)


def test_article_b_worked_examples():
    assert judge(M(400_000, 8_192, 180_000), 160_000, OC, reserved=20_000).overflow
    assert not judge(M(400_000, 8_192, 180_000), 159_999, OC, reserved=20_000).overflow
    assert judge(M(200_000, 8_192), 191_808, OC).overflow


def test_arithmetic_of_a_plain_verdict():
    found = judge(M(200_000, 8_192), 102_013, counted="102,013 total as reported")
    assert found.arithmetic == (
        "102,013 total as reported; 200,000 context - 8,192 output = 191,808 usable; "
        "102,013 >= 191,808 false, 89,795 short"
    )


def test_arithmetic_names_the_rule_of_half_the_window_and_the_unknown_output():
    words = judge(M(16_384, 0), 100).arithmetic
    assert "16,384 context - 32,000 output (limit unknown) = -15,616" in words
    assert "half of the window 16,384: 8,192 usable" in words


presets = st.sampled_from(list(Preset))
sizes = st.integers(0, 2_000_000)
limits_any = st.builds(Limits, sizes, st.none() | sizes, st.integers(0, 200_000))


@given(presets, limits_any, st.integers(0, 3_000_000), st.booleans(), st.none() | st.integers(0, 3_000_000))
def test_a_verdict_never_contradicts_itself(preset, limits, count, auto, projected):
    found = judge(limits, count, preset, auto=auto, projected=projected)
    if found.usable is None:
        assert found.state is State.UNKNOWN
        assert not found.overflow
        return
    over = is_over(preset, count, found.usable)
    assert (found.state is State.OVER) == over
    assert found.overflow == (over and auto)
    assert found.over_by == max(0, count - found.usable)
    assert (found.percent is None) == (found.usable == 0)
    assert f"{count:,}" in found.arithmetic
    assert f"{found.usable:,}" in found.arithmetic


@given(limits_any, st.none() | st.integers(0, 100_000))
def test_guarded_never_allows_more_than_the_window_and_never_less_than_half_by_itself(limits, reserved):
    settings = Settings(reserved=reserved)
    if reserved is not None and limits.known and reserved >= limits.window:
        with pytest.raises(ConfigError):
            bound(limits, settings)
        return
    held = bound(limits, settings)
    if held.usable is None:
        assert not limits.known
    else:
        assert 0 <= held.usable <= limits.window
        assert reserved is not None or held.usable >= limits.window // 2


@given(limits_any)
def test_a_larger_reserve_never_leaves_more_usable(limits):
    for preset in (OC, GD):
        found = [
            bound(limits, Settings(preset=preset, reserved=reserve)).usable
            for reserve in range(0, 50_000, 7_000)
            if preset is OC or not limits.known or reserve < limits.window
        ]
        assert found == sorted(found, key=lambda usable: -(usable or 0))
