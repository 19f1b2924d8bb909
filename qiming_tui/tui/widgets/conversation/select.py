"""What a selection is when it is copied: source text (cases C-126).

A piece of Markdown that is selected as a whole gives its source; part of one gives the words on show, without
gutter, numbers and figures, its soft wraps undone.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from textual.selection import Selection

from qiming_tui.tui.widgets.conversation.lines import Line
from qiming_tui.tui.widgets.conversation.shelf import Shelf


class Taken(NamedTuple):
    """A selected row, or the part of it."""

    place: int
    piece: int
    text: str
    join: str
    whole: bool


def selected_text(shelf: Shelf, selection: Selection, *, margin: int) -> str:
    """The source of what lies between two places of the content. `margin`: cells before every row."""
    if not len(shelf):
        return ""
    out: list[str] = []
    for (place, piece), rows in groupby(
        _taken(shelf, selection, margin), key=lambda row: (row.place, row.piece)
    ):
        found = list(rows)
        out.append(_piece(shelf, place, piece, found))
        out.append(found[-1].join or "\n")
    return "".join(out[:-1]).strip("\n")


def _piece(shelf: Shelf, place: int, piece: int, rows: Sequence[Taken]) -> str:
    item = shelf.items[place]
    pieces = item.stream.pieces if item.stream is not None else item.rendered.pieces if item.rendered else ()
    if 0 <= piece < len(pieces) and all(row.whole for row in rows):
        size = sum(line.piece == piece and line.copied for line in item.lines)
        if size == len(rows):
            return pieces[piece]
    return "".join(row.text + row.join for row in rows[:-1]) + rows[-1].text


def _taken(shelf: Shelf, selection: Selection, margin: int) -> Iterator[Taken]:
    start, end = selection
    first, first_row = shelf.find(start.y) if start is not None else (0, 0)
    last, last_row = shelf.find(end.y) if end is not None else (len(shelf) - 1, -1)
    for place in range(first, last + 1):
        shelf.ensure(place)
        lines = shelf.items[place].lines
        for row, line in enumerate(lines):
            if place == first and row < first_row:
                continue
            if place == last and last_row >= 0 and row > last_row:
                return
            if not line.copied:
                continue
            low = start.x if start is not None and (place, row) == (first, first_row) else 0
            high = end.x if end is not None and (place, row) == (last, last_row) else -1
            yield _part(place, line, low - margin, None if high == -1 else high - margin)


def _part(place: int, line: Line, low: int, high: int | None) -> Taken:
    size = len(line.text)
    begin = max(0, low - line.at)
    stop = size if high is None else max(0, min(size, high - line.at))
    join = line.join if stop >= size else "\n"
    return Taken(place, line.piece, line.text[begin:stop], join, begin <= 0 and stop >= size)
