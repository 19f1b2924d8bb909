"""Every zoom holds every step once, the cursor is seen, folding draws the largest step."""

from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.timeline_layout import ZOOMS, layout, letter_of, moved
from tests.context.timelines import columns, many

FOUND = columns()


@given(
    st.sampled_from(ZOOMS),
    st.integers(0, 46),
    st.integers(1, 220),
    st.integers(0, 300),
    st.booleans(),
)
def test_every_step_stands_somewhere_once_and_the_cursor_is_seen(zoom, cursor, room, start, live):
    held = layout(FOUND, zoom=zoom, cursor=cursor, room=room, start=start, live=live)
    steps = [place for slot in held.slots if not slot.line for place in range(slot.first, slot.last + 1)]
    assert steps == list(range(29 if live else 0, 47))
    assert held.total == sum(slot.cells for slot in held.slots)
    if live and cursor < 29:
        return
    slot = held.slots[held.slot_of(cursor)]
    assert slot.first <= cursor <= slot.last
    assert not slot.line
    left, right = held.span(held.slot_of(cursor))
    assert right <= held.room
    assert left >= 0 or slot.cells > held.room
    if zoom == 0 and room >= 3:
        assert held.total <= room
    shown = held.shown()
    assert held.slot_of(cursor) in shown
    seen = {held.place_at(x) for x in range(held.room)} - {None}
    assert seen == {held.slots[n].peak for n in shown if not held.slots[n].line}


def test_the_boundary_has_a_cell_of_its_own_and_the_summary_is_thin():
    held = layout(FOUND, zoom=4, cursor=46, room=400)
    lines = [n for n, slot in enumerate(held.slots) if slot.line]
    assert lines == [29]
    assert (held.slots[28].cells, held.slots[28].gap) == (2, 1)
    assert (held.slots[29].cells, held.slots[27].cells, held.slots[30].cells) == (1, 4, 4)
    assert held.place_at(held.span(29)[0]) is None


def test_zoom_0_folds_a_long_session_and_draws_the_largest():
    found = many(5_000)
    held = layout(found, zoom=0, cursor=4_999, room=190)
    assert held.total <= 190
    assert held.fold == max(slot.folded for slot in held.slots) >= 5_000 // 190
    for slot in held.slots:
        sizes = [found[place].mark.count for place in range(slot.first, slot.last + 1)]
        assert found[slot.peak].mark.count == max(sizes)
    folded = layout(FOUND, zoom=0, cursor=0, room=20)
    assert any(slot.line for slot in folded.slots), "no slot stands on both sides of a boundary"
    assert "C" in {letter_of(FOUND, slot) for slot in folded.slots}


def test_the_cursor_goes_slot_by_slot():
    held = layout(FOUND, zoom=3, cursor=0, room=60)
    assert [moved(held, 27, by) for by in (-1, 1, 2)] == [26, 28, 29]
    assert moved(held, 0, -1) == 0
    assert moved(held, 46, 9) == 46
    folded = layout(FOUND, zoom=0, cursor=0, room=12)
    there = moved(folded, 0, 1)
    assert folded.slot_of(there) == folded.slot_of(0) + 1
    assert moved(layout([], zoom=3, cursor=0, room=9), 0, 1) == 0
    assert layout([], zoom=0, cursor=0, room=9).place_at(0) is None
