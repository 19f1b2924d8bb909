"""The columns painted, each once: what changes is painted anew and nothing else."""

from rich.segment import Segment

from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_cells import cells_of, stacked, threshold_row
from qiming_tui.context.timeline_layout import Layout, Slot
from qiming_tui.context.timeline_modes import Axis, Mode, bar_of
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.widgets.timeline.ink import ARCHIVED, EVEN, PLAIN, Inks
from qiming_tui.tui.widgets.timeline.paint import Brush, Piece, empty, paint

Painted = tuple[tuple[Segment, ...], ...]
"""Rows from the bottom up."""

LINE = ("foreground", "", PLAIN)
LETTERS_FROM = 5
"""The first step of a window that may carry the letters of the bands."""


class Painter:
    """Paints slots for one height, axis and set of glyphs; forgets everything when one of them changes."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._done: dict[tuple[object, ...], Painted] = {}
        self._columns: tuple[Column, ...] = ()
        self.painted = 0
        """Columns painted so far."""
        self.axis = Axis(mode=Mode.WINDOW, top=1, threshold=None)
        self.rows = 0
        self._glyphs: Glyphs | None = None
        self._letters = False
        self._inks: Inks | None = None
        self.generation = 0
        """Goes up whenever something of what was painted is not to be used any more."""

    def prepare(
        self,
        columns: tuple[Column, ...],
        axis: Axis,
        inks: Inks,
        *,
        rows: int,
        glyphs: Glyphs,
        letters: bool,
    ) -> None:
        """What the next slots are painted for. Columns that are the same values as before stay painted."""
        key = (axis, rows, glyphs, letters, inks)
        if key != self._key:
            self._done.clear()
            self._key = key
            self.generation += 1
        elif columns is not self._columns:
            held = {n for n, (old, new) in enumerate(zip(self._columns, columns, strict=False)) if old is new}
            self._done = {name: done for name, done in self._done.items() if name[0] in held}
            self.generation += 1
        self._columns, self.axis, self.rows = columns, axis, rows
        self._glyphs, self._letters, self._inks = glyphs, letters, inks

    def slot(self, slot: Slot, *, cursor: bool, labelled: bool) -> Painted:
        """The rows of one slot from the bottom up."""
        name = (slot.peak, slot, cursor, labelled)
        found = self._done.get(name)
        if found is None:
            found = self._done[name] = self._paint(slot, cursor=cursor, labelled=labelled)
            self.painted += 1
        return found

    def _paint(self, slot: Slot, *, cursor: bool, labelled: bool) -> Painted:
        assert self._glyphs is not None
        if slot.line:
            return tuple((self._segment((self._glyphs.boundary, LINE)),) for _ in range(self.rows))
        column = self._columns[slot.peak]
        bar = bar_of(column, self.axis.mode)
        parts = self.parts
        units = stacked(bar, self.axis, rows=self.rows, parts=parts)
        cells = cells_of(units, self.axis.mode.letters, rows=self.rows, parts=parts)
        brush = Brush(
            glyphs=self._glyphs,
            letters=self._letters,
            tone=PLAIN if cursor else _tone(column),
            limit=threshold_row(bar.threshold, self.axis, rows=self.rows),
            labelled=labelled,
        )
        rows = paint(cells, wide=slot.cells - slot.gap, gap=slot.gap, brush=brush)
        return tuple(tuple(self._segment(piece) for piece in row) for row in rows)

    def _segment(self, piece: Piece) -> Segment:
        assert self._inks is not None
        return Segment(piece[0], self._inks.style(piece[1]))

    @property
    def parts(self) -> int:
        """Units of a cell."""
        return 8 if self._glyphs is not None and self._glyphs.tops and not self._letters else 1

    def page(self, cells: int, row: int) -> Segment:
        """What stands where there is no column; `row` from the bottom."""
        assert self._glyphs is not None
        limit = threshold_row(self.axis.threshold, self.axis, rows=self.rows)
        brush = Brush(glyphs=self._glyphs, letters=self._letters)
        return self._segment(empty(cells, brush, on_limit=row == limit))

    def labelled(self, held: Layout) -> frozenset[int]:
        """The slots that carry the letters: of each window the first from the sixth step on where results
        have a row to themselves and the model's words most of one."""
        found: set[int] = set()
        seen, done = 0, False
        for n, slot in enumerate(held.slots):
            if slot.line:
                seen, done = 0, False
                continue
            seen += 1
            if not done and seen > LETTERS_FROM and self._roomy(slot):
                found.add(n)
                done = True
        return frozenset(found)

    def _roomy(self, slot: Slot) -> bool:
        if self.axis.mode is not Mode.WINDOW:
            return True
        bar = bar_of(self._columns[slot.peak], Mode.WINDOW)
        units = stacked(bar, self.axis, rows=self.rows, parts=self.parts)
        return units[4] >= 2 * self.parts and 2 * units[3] > self.parts


def _tone(column: Column) -> str:
    if not column.mark.live:
        return ARCHIVED
    return EVEN if column.mark.turn % 2 == 0 and column.mark.turn else PLAIN


def kept(old: tuple[Column, ...], new: tuple[Column, ...]) -> tuple[Column, ...]:
    """The new columns, but the old value wherever it is the same."""
    same = [was if was == now else now for was, now in zip(old, new, strict=False)]
    return (*same, *new[len(same) :])
