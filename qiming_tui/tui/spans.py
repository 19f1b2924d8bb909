"""Rows as spans (style name, text): made to fit by cells, and painted as strips.

Texts are plain: nothing here reads markup. Wide characters count two cells.
"""

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from qiming_tui.context.bar_words import Span, Spans


def cells(spans: Sequence[Span]) -> int:
    """Cells of a row."""
    return sum(cell_len(text) for _, text in spans)


def cut(spans: Sequence[Span], columns: int) -> Spans:
    """Spans that are exactly `columns` cells wide, cut or filled with blanks at the end. Half a wide
    character becomes a blank."""
    out: list[Span] = []
    room = columns
    for style, text in spans:
        length = cell_len(text)
        if length > room:
            out.append((style, set_cell_size(text, room)))
            return tuple(out)
        out.append((style, text))
        room -= length
    return (*out, ("", " " * room)) if room else tuple(out)


def spread(left: Sequence[Span], right: Sequence[Span], columns: int) -> Spans:
    """Two parts at both ends of a row; too long a row is cut at its end."""
    free = columns - cells(left) - cells(right)
    return cut((*left, ("", " " * max(0, free)), *right), columns)


def clip(text: str, columns: int, mark: str) -> str:
    """A text of at most `columns` cells, `mark` at its end if something was cut off."""
    if cell_len(text) <= columns:
        return text
    room = columns - cell_len(mark)
    return "" if room < 1 else set_cell_size(text, room).rstrip() + mark


def strip_of(spans: Sequence[Span], columns: int, style_of: Callable[[str], Style]) -> Strip:
    """A row of `columns` cells; `style_of` gives the style of a name, and of "" for what has none."""
    row = cut(spans, columns)
    return Strip([Segment(text, style_of(name)) for name, text in row if text], columns)
