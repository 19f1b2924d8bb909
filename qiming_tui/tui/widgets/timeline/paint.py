"""One column in cells: bands, ghost, the limit's dashes where nothing else is."""

from collections.abc import Sequence

import msgspec

from qiming_tui.context.timeline import GHOST
from qiming_tui.context.timeline_cells import EIGHTHS, EMPTY, Cell
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.widgets.timeline.ink import PLAIN, Ink

Piece = tuple[str, Ink]


class Brush(msgspec.Struct, frozen=True, kw_only=True):
    """How a column is painted."""

    glyphs: Glyphs
    letters: bool
    """Bands are drawn as letters: no colour is needed to read them."""
    tone: str = PLAIN
    limit: int | None = None
    """The row of the threshold, from the bottom."""
    labelled: bool = False
    """The letters of the bands stand in this column."""


def paint(cells: Sequence[Cell], *, wide: int, gap: int, brush: Brush) -> tuple[tuple[Piece, ...], ...]:
    """The rows of a column from the bottom up: `wide` cells, then `gap` cells of page."""
    labels = _labels(cells) if brush.labelled and not brush.letters else {}
    rows = []
    for row, cell in enumerate(cells):
        on_limit = row == brush.limit
        pieces = _pieces(cell, wide, brush, on_limit=on_limit, label=labels.get(row, ""))
        if gap:
            pieces = (*pieces, empty(gap, brush, on_limit=on_limit))
        rows.append(pieces)
    return tuple(rows)


def empty(cells: int, brush: Brush, *, on_limit: bool) -> Piece:
    """Page, with dashes in the limit's row."""
    return (
        (brush.glyphs.threshold * cells, ("limit", "", PLAIN)) if on_limit else (" " * cells, ("", "", PLAIN))
    )


def _pieces(cell: Cell, wide: int, brush: Brush, *, on_limit: bool, label: str) -> tuple[Piece, ...]:
    low, high, fill = cell
    glyphs, tone = brush.glyphs, brush.tone
    if cell == EMPTY or (not low and not high):
        return (empty(wide, brush, on_limit=on_limit),)
    if low == GHOST:
        return ((glyphs.cleared * wide, ("faint", GHOST, tone)),)
    if brush.letters:
        return ((low * wide, ("", "", tone)),)
    if fill < EIGHTHS and glyphs.tops:
        return ((glyphs.tops[fill - 1] * wide, (low, high, tone)),)
    if label:
        rest = ((" " * (wide - 1), (low, low, tone)),) if wide > 1 else ()
        return ((label, (f"on-{label}", low, tone)), *rest)
    return ((" " * wide, (low, low, tone)),)


def _labels(cells: Sequence[Cell]) -> dict[int, str]:
    """Row -> letter: in the middle of the rows that a band has to itself."""
    rows: dict[str, list[int]] = {}
    for row, (low, high, _) in enumerate(cells):
        if low and not high and low != GHOST:
            rows.setdefault(low, []).append(row)
    return {held[len(held) // 2]: letter for letter, held in rows.items()}
