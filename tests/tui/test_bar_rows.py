"""The rows of the bar as text: exactly as wide as asked for, and the pictures' rows cell by cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.bar import offers
from qiming_tui.model.window import State
from qiming_tui.tui.glyphs import ASCII, FULL, SAFE
from qiming_tui.tui.spans import cells, clip, cut
from qiming_tui.tui.widgets.budget_rows import (
    bar_row,
    layout_of,
    offer_row,
    one_row,
    top_row,
    under_row,
)
from tests.context.test_bar_cells import bars
from tests.tui.bars import bar


def text(spans):
    return "".join(part for _, part in spans)


def both(data, columns, glyphs=FULL, *, letters=False):
    held = layout_of(data, columns, glyphs, letters=letters)
    return text(bar_row(data, held, glyphs, letters=letters)), text(under_row(data, held, glyphs))


def test_the_picture_at_80_columns_in_ascii():
    assert both(bar(), 78, ASCII, letters=True) == (
        "STTTTMZZUUAAAAAAAAAARRRRRRRRRRRRRRRRRRR?+++                       |// reply //",
        "=== cached 71.0k ===========       200.0k ctx - 32.0k out = 168.0k^     200.0k",
    )


def test_the_picture_at_80_columns():
    assert both(bar(), 78) == (
        "ST   MZ U A         R                 ?▊∙∙∙                       ┃╱╱ reply ╱╱",
        "╰── cached 71.0k ──────────╯       200.0k ctx - 32.0k out = 168.0k▴     200.0k",
    )


def test_the_picture_at_120_columns():
    row, under = both(bar(), 118)
    assert row.endswith("┃╱╱ reply 32.0k ╱╱╱")
    assert "200.0k ctx - 32.0k out = 168.0k compacts here▴" in under
    assert under.index("▴") == row.index("┃")
    assert under.endswith("    200.0k")


def test_the_safe_set_fills_whole_cells():
    row, _ = both(bar(), 78, SAFE)
    assert row == "ST   MZ U A         R                  ?∙∙∙                       ▐// reply //"


@given(data=bars(), columns=st.integers(1, 230), glyphs=st.sampled_from([FULL, SAFE, ASCII]))
def test_every_row_is_as_wide_as_asked_for(data, columns, glyphs):
    rows = [
        *both(data, columns, glyphs, letters=glyphs.letters),
        text(top_row(data, columns)),
        text(one_row(data, columns, glyphs, letters=glyphs.letters)),
        text(offer_row(data, columns, focused=True)),
    ]
    assert [len(row) for row in rows] == [columns] * len(rows)
    if glyphs is ASCII:
        assert all(row.isascii() for row in rows)


@given(data=bars(), columns=st.integers(40, 230))
def test_the_arithmetic_never_goes(data, columns):
    _, under = both(data, columns)
    assert f"{data.arithmetic} {data.usable_words}" in under
    assert FULL.tick_arrow in under


@given(data=bars(), columns=st.integers(8, 230))
def test_letters_show_the_width_of_every_class(data, columns):
    held = layout_of(data, columns, ASCII, letters=True)
    row = list(text(bar_row(data, held, ASCII, letters=True)))
    del row[held.tick]
    for segment in held.segments:
        over = segment.start <= held.tick < segment.end
        assert "".join(row[: held.fill]).count(segment.letter) == segment.cells - over


def test_what_gives_way_under_the_bar():
    wide, far = both(bar(), 118)[1], both(bar(cached=97_400), 78)[1]
    assert "compacts here" in wide
    assert "compacts here" not in far
    assert far == "╰── cached 97.4k ───────────────── 200.0k ctx - 32.0k out = 168.0k▴     200.0k"
    assert both(bar(cached=130_000), 48)[1].rstrip() == "╰─────── 200.0k ctx - 32.0k out = 168.0k▴"


def test_a_short_bracket_has_its_label_beside_it():
    assert both(bar(cached=19_200), 78)[1].startswith("╰─────╯ cached 19.2k  ")
    assert both(bar(cached=2_000), 78)[1].startswith("╯ cached 2.0k  ")
    assert both(bar(cached=100), 78)[1].startswith("cached 0.1k  ")
    assert "cached" not in both(bar(cached=0), 78)[1]


def test_the_fill_runs_over_the_tick_and_says_what_it_covers():
    over = bar(by_class={"R": 180_000}, total=180_000, count=180_000, over_by=12_000, state=State.OVER)
    held = layout_of(over, 78, FULL, letters=False)
    spans = bar_row(over, held, FULL, letters=False)
    assert ("seg-R", "┃") not in spans
    assert text(spans).index("┃") == 66
    assert next(style for style, part in spans if "┃" in part) == "seg-R"
    assert both(over, 78, ASCII, letters=True)[0] == "R" * 66 + "|" + "RRR////////"


def test_dots_that_cross_the_tick_go_on_over_the_reserve():
    data = bar(growth=90_000, state=State.LAST_TURN)
    row = both(data, 118, ASCII, letters=True)[0]
    assert "+|++++" in row
    assert both(bar(growth=None, draft_tokens=0), 78)[0].count("∙") == 0


def test_auto_off_makes_the_tick_hollow_and_says_so():
    row, under = both(bar(auto=False), 118)
    assert "╏" in row
    assert "168.0k auto off▴" in under
    assert both(bar(auto=False), 118, ASCII, letters=True)[0].count(":") == 1


def test_a_tick_far_left_has_its_arithmetic_at_its_right():
    small = bar(
        usable=8_192, window=200_000, arithmetic="200.0k ctx - 191.8k reserved =", usable_words="8.2k"
    )
    under = both(small, 78)[1]
    assert under.index("▴") == 3
    assert "▴ 200.0k ctx - 191.8k reserved = 8.2k" in under


@pytest.mark.parametrize("columns", [38, 58, 78, 118])
def test_c_097_an_unknown_window_is_figures_not_a_bar(columns):
    data = bar(usable=None, window=0, percent=None, state=State.UNKNOWN)
    row, under = both(data, columns)
    assert "R" in row
    assert "47.5" in row
    assert "%" not in row + under
    assert "refuse" in under


def test_offers_show_the_keys_that_work_now():
    data = bar(state=State.LAST_TURN, offers=offers(clearable=36_200))
    assert text(offer_row(data, 78, focused=True)).rstrip() == (
        "c compact now  f with focus  x clear 36.2k results  d defer once  a auto off"
    )
    assert text(offer_row(data, 78, focused=False)).rstrip() == (
        "^X c compact now  /compact with focus  ^X p clear 36.2k results"
    )
    assert text(offer_row(data, 40, focused=True)).rstrip() == "c compact now  f with focus"


def test_one_row_keeps_the_words_and_a_short_bar():
    row = text(one_row(bar(), 78, ASCII, letters=True))
    assert row.startswith(" 61% ok  102.0k / 168.0k  66.0k left  S")
    assert "|" in row
    assert text(one_row(bar(), 38, ASCII, letters=True)).strip() == "61% ok  102.0k / 168.0k  66.0k left"


def test_texts_are_cut_by_cells_not_by_characters():
    assert clip("修复测试", 8, "…") == "修复测试"
    assert clip("修复测试", 7, "…") == "修复测…"
    assert clip("修复测试", 6, "…") == "修复…"
    assert clip("修复测试", 1, "…") == ""
    assert clip("abc", 2, "..") == ""
    row = cut([("", "修复测试")], 5)
    assert cells(row) == 5
    assert text(row) == "修复 "
