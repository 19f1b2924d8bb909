"""The headline and the legend: what is said, and the order in which it gives way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.bar_words import headline, legend, width
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import State
from tests.context.test_bar_cells import bars
from tests.tui.bars import bar


def said(data, columns):
    held = headline(data, columns)
    return " ".join("".join(text for _, text in (*held.left, ("", " "), *held.right)).split())


def test_the_headline_at_the_four_widths_of_the_pictures():
    assert said(bar(), 78) == ("CTX 61% ok 102.0k / 168.0k 66.0k left ~7 turns after turn ~111.1k measured")
    assert said(bar(), 118) == (
        "CTX 61% ok 102.0k / 168.0k usable 66.0k left ~7 turns after turn ~111.1k measured at step 46"
    )
    assert said(bar(), 198) == (
        "CTX 61% ok 102.0k / 168.0k usable 66.0k left ~7 turns after turn ~111.1k cost next ~$0.14"
        " measured at step 46 ours 98.6k drift +3.4k"
    )
    assert said(bar(), 38) == "61% ok 102.0k / 168.0k 66.0k left"


@pytest.mark.parametrize("columns", range(38, 220))
def test_percent_used_and_left_never_go(columns):
    for data in (bar(), bar(percent=78, state=State.NEAR, since=600, auto=False), bar(basis=Basis.PREDICTED)):
        words = said(data, columns)
        assert f"{data.percent}%" in words
        assert "102.0k" in words
        assert "66.0k left" in words
        held = headline(data, columns)
        assert width(held.left) + width(held.right) <= columns


def test_what_goes_first():
    gone = {
        name: next(columns for columns in range(40, 230) if name in said(bar(), columns))
        for name in ("cost next", "ours", "usable", "after turn", "CTX")
    }
    assert sorted(gone, key=gone.__getitem__, reverse=True)[-2:] == ["after turn", "CTX"]
    assert min(gone["cost next"], gone["ours"]) >= gone["usable"] >= gone["after turn"] >= gone["CTX"]


@given(data=bars(), columns=st.integers(1, 230))
def test_any_headline_is_made_of_sane_words(data, columns):
    words = said(data, columns)
    assert "None" not in words
    assert data.state.value in words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"basis": Basis.ESTIMATED}, "~102.0k / 168.0k usable 66.0k left"),
        ({"basis": Basis.ESTIMATED}, "estimated"),
        ({"basis": Basis.PREDICTED}, "predicted"),
        ({"auto": False}, "61% ok, auto off"),
        ({"growth": None}, "66.0k left measured"),
        ({"growth": 66_100}, "left <1 turn"),
        ({"growth": 60_000}, "left ~1 turn "),
        ({"growth": None, "draft_tokens": 3_100}, "after turn ~105.1k"),
        ({"count": 95_300}, "drift -3.3k"),
        ({"cache_break": 19_200, "reread": 83_000}, "cache breaks at 19.2k"),
        ({"since": 600}, "step 46, ~+0.6k since"),
        ({"since": 49, "basis": Basis.PREDICTED}, "~102.0k / 168.0k usable 66.0k left"),
        ({"since": 49, "basis": Basis.PREDICTED}, "measured at step 46 "),
        ({"since": -30_000, "basis": Basis.PREDICTED}, "step 46, ~-30.0k since"),
        ({"count": 171_204, "over_by": 3_204, "state": State.OVER, "percent": 102}, "over by 3.2k"),
        ({"state": State.FULL}, "refused by the provider"),
        ({"growth": 66_000, "state": State.LAST_TURN}, "would compact before the turn ends"),
        ({"draft_tokens": 66_000, "state": State.LAST_TURN}, "would compact before the reply"),
        (
            {"draft_tokens": 66_000, "state": State.LAST_TURN, "auto": False},
            "would overflow before the reply",
        ),
    ],
)
def test_what_is_said_of_it(changes, words):
    assert words in said(bar(**changes), 150) + " "


def test_c_095_three_hundred_percent_is_said_as_it_is():
    words = said(bar(count=524_160, percent=312, over_by=356_160, state=State.OVER), 78)
    assert "312% over" in words
    assert "524.2k" in words
    assert "over by 356.2k" in words
    assert "left" not in words


def test_c_097_an_unknown_window_has_tokens_and_no_percent():
    data = bar(usable=None, window=0, percent=None, over_by=0, state=State.UNKNOWN, basis=Basis.ESTIMATED)
    assert said(data, 78) == "CTX unknown ~102.0k used window unknown estimated"


def told(data, columns):
    return "".join(text for _, text in legend(data, columns))


def test_the_legend_at_120_and_200_columns():
    assert told(bar(), 118) == (
        "S system 3.0  T tools 11.2  M memory 2.3  Z summary 4.6  U user 4.7"
        "  A assistant 25.3  R results 47.5  ? drift 3.4"
    )
    assert told(bar(), 198).endswith("? drift 3.4    + next 9.1    : cleared 43.1    / reply 32.0")


@given(data=bars(), columns=st.integers(0, 230))
def test_a_legend_fits_and_loses_its_words_before_a_class(data, columns):
    row = legend(data, columns)
    assert width(row) <= columns
    if columns >= 90:
        there = {k for k, v in data.by_class.items() if v} | ({"?"} if data.drift > 0 else set())
        assert {style.removeprefix("chip-") for style, _ in row if style.startswith("chip-")} >= there
