"""Which steps stand in which cells: zoom, folding, the boundary's line, what is shown (`ux.md` 5.6)."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from qiming_tui.context.strip_cells import scrolled
from qiming_tui.context.timeline import Column

ZOOMS: Final = (0, 1, 2, 3, 4, 6, 8)
"""Cells a step; 0: several steps a cell, so that all of them are seen."""
GAPPED: Final = 3
"""From so many cells on the last one is a gap."""


class Slot(msgspec.Struct, frozen=True):
    """Neighbouring cells: steps `first` to `last` (places in the columns), drawn as the one at `peak`."""

    first: int
    last: int
    peak: int
    cells: int
    gap: int = 0
    line: bool = False
    """The boundary's line: it stands for no step."""

    @property
    def folded(self) -> int:
        """How many steps it stands for."""
        return 0 if self.line else self.last - self.first + 1


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """All slots from left to right, and which of their cells are on the screen."""

    slots: tuple[Slot, ...]
    ends: tuple[int, ...]
    """The first cell behind each slot."""
    start: int
    room: int
    fold: int = 1
    """Steps that a slot stands for at most."""

    @property
    def total(self) -> int:
        """Cells of all slots."""
        return self.ends[-1] if self.ends else 0

    def slot_of(self, place: int) -> int:
        """The slot in which a step stands."""
        low, high = 0, len(self.slots) - 1
        while low < high:
            middle = (low + high) // 2
            if self.slots[middle].last < place:
                low = middle + 1
            else:
                high = middle
        return low + 1 if self.slots[low].line and low + 1 < len(self.slots) else low

    def span(self, slot: int) -> tuple[int, int]:
        """First cell and end of a slot, counted from the left of the screen; may lie outside of it."""
        end = self.ends[slot] - self.start
        return end - self.slots[slot].cells, end

    def shown(self) -> range:
        """The slots of which something is on the screen."""
        if not self.slots:
            return range(0)
        first = bisect_right(self.ends, self.start)
        last = bisect_right(self.ends, min(self.total, self.start + self.room) - 1)
        return range(first, min(last, len(self.slots) - 1) + 1)

    def place_at(self, x: int) -> int | None:
        """The step at a cell of the screen."""
        cell = self.start + x
        if not 0 <= x < self.room or not 0 <= cell < self.total:
            return None
        slot = self.slots[bisect_right(self.ends, cell)]
        return None if slot.line else slot.peak


def layout(
    columns: Sequence[Column], *, zoom: int, cursor: int, room: int, start: int = 0, live: bool = False
) -> Layout:
    """The slots in `room` cells; the cursor's is among those shown. `live`: without what is archived."""
    return scrolled_to(laid_out(columns, zoom=zoom, room=room, live=live), cursor=cursor, start=start)


def laid_out(columns: Sequence[Column], *, zoom: int, room: int, live: bool = False) -> Layout:
    """The slots, shown from the first one on."""
    fold = 1
    slots = _slots(columns, zoom=zoom, fold=1, live=live)
    if zoom == 0:
        while sum(slot.cells for slot in slots) > room and fold < len(columns):
            fold = max(fold + 1, len(columns) // max(1, room))
            slots = _slots(columns, zoom=0, fold=fold, live=live)
    ends = tuple(accumulate(slot.cells for slot in slots))
    return Layout(slots=slots, ends=ends, start=0, room=max(1, room), fold=fold)


def fitting_zoom(steps: int, *, room: int) -> int:
    """The widest columns with which all steps are seen; at least 2, where there is some room."""
    fits = [zoom for zoom in ZOOMS if zoom and zoom * steps <= room and zoom < ZOOMS[-1]]
    return max(fits, default=0) if fits and fits[-1] > 1 else 2 if room > 60 else 1


def scrolled_to(held: Layout, *, cursor: int, start: int) -> Layout:
    """The same slots, shown so that the cursor's is among them: as near to `start` as can be."""
    if not held.slots:
        return held
    at = held.slot_of(cursor)
    right = held.ends[at]
    first = scrolled(start, at=right - held.slots[at].cells, total=held.total, room=held.room)
    first = scrolled(first, at=right - 1, total=held.total, room=held.room)
    return msgspec.structs.replace(held, start=first)


def _slots(columns: Sequence[Column], *, zoom: int, fold: int, live: bool) -> tuple[Slot, ...]:
    wide = max(1, zoom)
    gap = 1 if wide >= GAPPED else 0
    out: list[Slot] = []
    place = 0
    while place < len(columns):
        mark = columns[place].mark
        if live and not mark.live:
            place += 1
            continue
        last = place
        while last - place + 1 < fold and last + 1 < len(columns) and not columns[last].mark.boundary:
            last += 1
        group = range(place, last + 1)
        peak = max(group, key=lambda at: (not columns[at].mark.summary, columns[at].mark.count))
        thin = mark.summary and fold == 1
        out.append(Slot(place, last, peak, 1 + gap if thin else wide, gap))
        if columns[last].mark.boundary and last + 1 <= len(columns):
            out.append(Slot(last, last, last, 1, 0, True))
        place = last + 1
    return tuple(out)


def moved(held: Layout, place: int, by: int) -> int:
    """The step `by` slots away; the first or the last at most."""
    steps = [slot for slot in held.slots if not slot.line]
    if not steps:
        return place
    at = next((n for n, slot in enumerate(steps) if slot.last >= place), len(steps) - 1)
    found = steps[max(0, min(len(steps) - 1, at + by))]
    return place if found.first <= place <= found.last else found.peak


def letter_of(columns: Sequence[Column], slot: Slot) -> str:
    """The event letter below a slot: the gravest of its steps'."""
    found = [columns[at].mark.letter for at in range(slot.first, slot.last + 1)]
    letters = [letter for letter in found if letter]
    return min(letters, key="Ccx!Pmui~".index) if letters else ""
