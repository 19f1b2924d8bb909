"""Which cell shows what: the sums are exact at every size and filling (`ux.md` 5.5, cases C-095, C-099)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.bar import ORDER
from qiming_tui.context.bar_cells import allocate, layout, scaled
from tests.tui.bars import bar

TOKENS = st.lists(st.integers(0, 200_000) | st.integers(0, 40), min_size=1, max_size=8)
CELLS = st.integers(1, 240)


@st.composite
def bars(draw):
    """A bar that is filled to anything from 0 to 300 % of usable."""
    window = draw(st.integers(1, 2_000_000))
    usable = draw(st.integers(0, window))
    count = usable * draw(st.integers(0, 3_000)) // 1_000
    shares = draw(st.lists(st.integers(0, 1_000), min_size=7, max_size=7))
    ours = count * draw(st.integers(800, 1_200)) // 1_000
    whole = sum(shares) or 1
    by_class = {letter: ours * share // whole for letter, share in zip(ORDER[:7], shares, strict=True)}
    changes = {
        "growth": draw(st.none() | st.integers(0, 400_000)),
        "draft_tokens": draw(st.integers(0, 50_000)),
        "cached": draw(st.integers(0, 300_000)),
    }
    total = sum(by_class.values())
    return bar(by_class=by_class, total=total, count=count, usable=usable, window=window, **changes)


@given(tokens=TOKENS, cells=CELLS)
def test_shares_are_exact_and_fair(tokens, cells):
    found = allocate(tokens, cells)
    whole = sum(tokens)
    assert sum(found) == (cells if whole else 0)
    worth = [tokens[i] > 0 and 2 * tokens[i] * cells >= whole for i in range(len(tokens))]
    for i, held in enumerate(found):
        assert held >= 0
        if worth[i] and sum(worth) <= cells:
            assert held >= 1
        if not worth[i] and any(worth):
            assert held == 0


@given(tokens=st.lists(st.integers(1, 200_000), min_size=1, max_size=8), cells=CELLS)
def test_by_largest_remainder_where_no_class_needs_help(tokens, cells):
    whole = sum(tokens)
    shares = [held * cells for held in tokens]
    if min(shares) < whole:
        return
    found = allocate(tokens, cells)
    assert all(
        share // whole <= held <= -(-share // whole) for share, held in zip(shares, found, strict=True)
    )
    up = [share % whole for share, held in zip(shares, found, strict=True) if held > share // whole]
    down = [share % whole for share, held in zip(shares, found, strict=True) if held == share // whole]
    assert not up or not down or min(up) >= max(down)


@given(data=bars(), cells=CELLS, eighths=st.booleans())
def test_the_cells_of_a_bar_add_up(data, cells, eighths):
    held = layout(data, cells, eighths=eighths)
    drawn = sum(data.by_class.values()) + max(0, data.drift)
    assert held.fill == min(cells, scaled(drawn, cells=cells, window=data.window))
    assert sum(segment.cells for segment in held.segments) == held.fill
    ends = [0, *(segment.end for segment in held.segments)]
    assert [segment.start for segment in held.segments] == ends[:-1]
    assert [s.letter for s in held.segments] == [x for x in ORDER if x in {s.letter for s in held.segments}]
    tick = held.tick
    assert tick is not None
    assert 0 <= tick < cells
    assert 0 <= held.cached <= held.fill <= held.next_from <= held.next_to <= cells or held.fill == cells
    assert 0 <= held.part < 8


@given(data=bars(), cells=CELLS)
def test_the_end_of_the_fill_is_true_to_an_eighth(data, cells):
    held = layout(data, cells, eighths=True)
    if not held.part:
        return
    drawn = sum(data.by_class.values()) + max(0, data.drift)
    assert 8 * held.part_at + held.part == scaled(drawn, cells=8 * cells, window=data.window)
    assert held.part_at in (held.fill - 1, held.fill)
    assert held.part_at != held.tick
    assert all(held.part_at != segment.start for segment in held.segments)


@given(window=st.integers(1, 2_000_000), parts=st.lists(st.integers(0, 2_000_000), min_size=2), cells=CELLS)
def test_the_tick_moves_with_usable_and_never_back(window, parts, cells):
    sizes = sorted(min(window, part) for part in parts)
    ticks = [layout(bar(usable=u, window=window), cells, eighths=True).tick for u in sizes]
    assert ticks == sorted(ticks)


@given(data=bars(), cells=CELLS)
def test_a_class_without_a_cell_is_named_as_hidden(data, cells):
    held = layout(data, cells, eighths=False)
    shown = {segment.letter for segment in held.segments}
    there = {letter for letter, tokens in data.by_class.items() if tokens} | (
        {"?"} if data.drift > 0 else set()
    )
    assert shown.isdisjoint(held.hidden)
    assert shown | set(held.hidden) == there


def test_the_target_at_80_columns_cell_by_cell():
    held = layout(bar(), 78, eighths=False)
    assert "".join(s.letter * s.cells for s in held.segments) == "STTTTMZZUUAAAAAAAAAARRRRRRRRRRRRRRRRRRR?"
    assert (held.tick, held.next_from, held.next_to, held.cached) == (66, 40, 43, 28)


def test_eighths_leave_the_last_letter_a_cell_of_its_own():
    held = layout(bar(), 78, eighths=True)
    assert (held.fill, held.part, held.part_at) == (40, 6, 39)
    assert [s.cells for s in held.segments][-2:] == [18, 2]


@pytest.mark.parametrize("percent", [100, 120, 312])
def test_c_095_beyond_the_window_the_bar_is_full_and_no_wider(percent):
    count = 168_000 * percent // 100
    held = layout(bar(by_class={"R": count}, total=count, count=count), 78, eighths=True)
    assert held.fill == min(78, round(count / 200_000 * 78))
    assert held.next_to <= 78
    assert held.tick == 66


def test_c_097_an_unknown_window_has_no_cells_and_no_tick():
    held = layout(bar(usable=None, window=0), 78, eighths=True)
    assert (held.fill, held.tick, held.segments) == (0, None, ())
    assert held.hidden == tuple("STMZUAR?")


def test_c_099_forty_columns_hide_what_is_smaller_than_half_a_cell():
    held = layout(bar(), 38, eighths=False)
    assert held.hidden == ("M",)
    assert held.fill == 19
