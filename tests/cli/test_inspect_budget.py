"""`inspect budget` agrees with the examples of `data.md` 4, with facts 1 to 12 and with any figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.runner import call

KEYS = ["preset", "count", "reserved", "max_output", "usable", "overflow", "percent", "over_by", "state"]
KEYS += ["auto", "arithmetic"]


def budget(limits: str, *more: str, preset: str = "guarded") -> dict[str, object]:
    """Ask for M(context, output[, input]) in this order, as `conformance.md` writes it."""
    context, output, *rest = limits.split(",")
    args = ["--context", context, "--output", output, "--preset", preset, "--json", *more]
    return call("inspect", "budget", *args, *(["--input", rest[0]] if rest else [])).json


@pytest.mark.parametrize(
    ("limits", "more", "usable"),
    [
        ("200000,8192", (), (191_808, 191_808, 191_808)),
        ("400000,8192,180000", ("--reserved", "20000"), (160_000, 391_808, 160_000)),
        ("400000,8192,180000", (), (171_808, 391_808, 171_808)),
        ("16384,0", (), (0, 0, 8_192)),
        ("4096,4096", (), (0, 0, 2_048)),
    ],
)
def test_the_table_of_presets(limits: str, more: tuple[str, ...], usable: tuple[int, int, int]) -> None:
    for preset, expected in zip(("opencode", "qiming", "guarded"), usable, strict=True):
        answer = budget(limits, "--total", "1000", *more, preset=preset)
        assert answer["usable"] == expected
        assert list(answer) == KEYS


@pytest.mark.parametrize(
    ("fact", "limits", "tokens", "over"),
    [
        (1, "100000,32000", "75000,5000,0,0", True),
        (2, "200000,32000", "100000,10000,0,0", False),
        (3, "100000,32000", "60000,10000,10000,0", True),
        (4, "400000,128000,272000", "271000,1000,2000,0", True),
        (5, "400000,128000,272000", "200000,20000,10000,0", False),
        (6, "200000,10000,120000", "50000,9999,0,0", False),
        (7, "200000,32000,200000", "180000,15000,3000,0", True),
        (8, "200000,32000", "180000,15000,3000,0", True),
        (9, "200000,32000,200000", "166000,10000,5000,0", True),
        (9, "200000,32000", "166000,10000,5000,0", True),
        (10, "0,32000", "100000,10000,0,0", False),
    ],
)
def test_facts_01_to_10(fact: int, limits: str, tokens: str, over: bool) -> None:
    assert budget(limits, "--tokens", tokens, preset="opencode")["overflow"] is over


@pytest.mark.parametrize(("total", "over"), [(6550, False), (7000, True), (7220, True)])
def test_fact_12_the_threshold_itself_overflows(total: int, over: bool) -> None:
    answer = budget("8000,1000", "--total", str(total), preset="opencode")
    assert (answer["overflow"], answer["over_by"]) == (over, max(0, total - 7000))


def test_fact_11_over_is_the_presets_comparison_whatever_auto_is() -> None:
    answer = budget("100000,32000", "--tokens", "75000,5000,0,0", "--no-auto", preset="opencode")
    assert (answer["overflow"], answer["state"], answer["auto"]) == (False, "over", False)
    assert answer["over_by"] == 12_000


def test_the_article_of_qiming_leaves_out_cache_writes_and_compares_with_greater() -> None:
    tokens = ("--tokens", "6000,1000,0,1")
    assert budget("8000,1000", *tokens, preset="qiming")["count"] == 7000
    assert budget("8000,1000", *tokens, preset="qiming")["overflow"] is False
    assert budget("8000,1000", *tokens, preset="opencode")["count"] == 7001
    assert budget("8000,1000", "--total", "7001", preset="qiming")["overflow"] is True
    assert budget("8000,1000", "--total", "7001", preset="qiming")["reserved"] is None


def test_an_unknown_window_has_no_usable_and_no_percent() -> None:
    answer = budget("0,0", "--total", "5")
    assert (answer["usable"], answer["percent"], answer["state"]) == (None, None, "unknown")
    assert (answer["overflow"], answer["over_by"], answer["max_output"]) == (False, 0, 32_000)


def test_no_percent_where_nothing_may_be_used() -> None:
    answer = budget("4096,4096", "--total", "5", preset="opencode")
    assert (answer["usable"], answer["percent"], answer["overflow"]) == (0, None, True)
    assert (answer["over_by"], answer["state"]) == (5, "over")


def test_the_arithmetic_is_in_words() -> None:
    answer = budget("200000,8192", "--total", "102013")
    assert answer["percent"] == 53
    assert answer["arithmetic"] == (
        "200,000 context - 8,192 output = 191,808 usable; 102,013 >= 191,808 false, 89,795 short"
    )


def test_the_output_cap_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIMING_OUTPUT_TOKEN_MAX", "5000")
    assert budget("100000,32000", "--total", "1")["usable"] == 95_000


def test_a_reserve_as_large_as_the_window_is_refused_by_guarded_only() -> None:
    args = ("--context", "4000", "--output", "100", "--total", "1", "--reserved", "4000", "--json")
    refused = call("inspect", "budget", *args)
    assert (refused.code, refused.out) == (2, "")
    assert "reserved is 4,000" in refused.err
    assert call("inspect", "budget", *args, "--preset", "opencode").json["usable"] == 3_900


@pytest.mark.parametrize(
    "args",
    [
        ("--context", "9", "--output", "1"),
        ("--context", "9", "--output", "1", "--total", "1", "--tokens", "1,1,1,1"),
        ("--context", "9", "--output", "1", "--tokens", "1,1,1"),
        ("--context", "9", "--output", "1", "--tokens", "1,1,1,-1"),
        ("--context", "9", "--output", "1", "--tokens", "1,1,1,x"),
        ("--context", "-9", "--output", "1", "--total", "1"),
        ("--context", "x", "--output", "1", "--total", "1"),
        ("--output", "1", "--total", "1"),
        ("--context", "9", "--output", "1", "--total", "1", "--preset", "best"),
    ],
)
def test_bad_input_is_exit_2_on_stderr(args: tuple[str, ...]) -> None:
    result = call("inspect", "budget", *args, "--json")
    assert (result.code, result.out) == (2, "")
    assert result.err


def test_people_get_lines() -> None:
    result = call("inspect", "budget", "--context", "200000", "--output", "8192", "--total", "191808")
    assert result.code == 0
    assert "100% over" in result.out
    assert "191,808 >= 191,808 true, equal" in result.out


def expected(preset: str, context: int, output: int, bound: int, reserve: int | None, count: int):
    """The table of `data.md` 4, written down a second time, from the table alone."""
    most = min(output, 32_000) or 32_000
    reserved = min(20_000, most) if reserve is None else reserve
    if preset == "qiming":
        usable = max(0, context - most)
        return usable, None, count > usable
    if preset == "opencode":
        usable = max(0, bound - reserved if bound else context - most)
        return usable, reserved, count >= usable
    usable = context - max(most, reserve or 0)
    if bound:
        usable = min(usable, bound - reserved)
    if reserve is None:
        usable = max(usable, (bound or context) // 2)
    return max(0, usable), reserved, count >= max(0, usable)


NUMBERS = st.one_of(st.integers(1, 2_000_000), st.sampled_from([1, 2, 4096, 32_000, 32_001, 200_000]))


@given(
    preset=st.sampled_from(["opencode", "qiming", "guarded"]),
    context=NUMBERS,
    output=st.one_of(st.just(0), NUMBERS),
    bound=st.one_of(st.just(0), NUMBERS),
    reserve=st.one_of(st.none(), st.integers(0, 100_000)),
    count=st.integers(0, 2_000_000),
)
def test_any_figures(
    preset: str, context: int, output: int, bound: int, reserve: int | None, count: int
) -> None:
    args = [str(context), "--output", str(output), "--input", str(bound), "--total", str(count)]
    args += [] if reserve is None else ["--reserved", str(reserve)]
    result = call("inspect", "budget", "--preset", preset, "--json", "--context", *args)
    if preset == "guarded" and reserve is not None and reserve >= (bound or context):
        assert result.code == 2
        return
    usable, reserved, over = expected(preset, context, output, bound, reserve, count)
    answer = result.json
    assert (answer["usable"], answer["reserved"], answer["overflow"]) == (usable, reserved, over)
    assert answer["over_by"] == max(0, count - usable)
    assert answer["percent"] == (int(count * 100 / usable + 0.5) if usable else None)
    assert (answer["state"] == "over") is over
