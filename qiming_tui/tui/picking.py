"""Rows of the pickers as spans (style name, text): columns that give way, matches that stand out."""

import re
from collections.abc import Iterable, Sequence

import msgspec
from rich.cells import cell_len

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.spans import cells, clip, cut


class Row(msgspec.Struct, frozen=True):
    """A row of a list. Only rows with a key can be chosen."""

    key: str = ""
    head: str = ""
    """Text of a heading; a row without key and heading is blank."""


class Cell(msgspec.Struct, frozen=True):
    """One column's content in a row, at most `width` cells wide."""

    spans: Spans
    width: int
    rank: int
    """The column with the highest one gives way first."""
    right: bool = False


def held_by(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds all the words, which are in lower case."""
    low = text.lower()
    return all(word in low for word in words)


def marked(text: str, words: Sequence[str], style: str) -> Spans:
    """A text in `style`, what matches any of the words in `match`."""
    if not words:
        return ((style, text),)
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    out: list[Span] = []
    for place, piece in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE)):
        if piece:
            out.append(("match" if place % 2 else style, piece))
    return tuple(out)


def clipped(spans: Sequence[Span], columns: int, glyphs: Glyphs) -> Spans:
    """Spans of at most `columns` cells, with a mark at the end where something was cut off."""
    if cells(spans) <= columns:
        return tuple(spans)
    kept = cut(spans, columns - cell_len(glyphs.cut)) if columns > cell_len(glyphs.cut) else ()
    return (*kept, ("muted", clip(glyphs.cut, columns, "")))


def columns(
    first: Sequence[Span],
    others: Sequence[Cell],
    *,
    width: int,
    least: int,
    glyphs: Glyphs,
    tag: Sequence[Span] = (),
) -> Spans:
    """A row: `first` takes what the others leave, at least `least` cells; of the others some give way by
    rank. Two cells between columns. `tag` stands behind `first` and is never cut."""
    shown = list(others)
    while shown and least + sum(2 + cell.width for cell in shown) > width:
        shown.remove(max(shown, key=lambda cell: cell.rank))
    room = width - sum(2 + cell.width for cell in shown)
    head = (*clipped(first, max(1, room - cells(tag)), glyphs), *tag)
    out: list[Span] = [*head, ("", " " * (room - cells(head)))]
    for cell in shown:
        held = clipped(cell.spans, cell.width, glyphs)
        blank: Span = ("", " " * (cell.width - cells(held)))
        out += [("", "  "), *((blank, *held) if cell.right else (*held, blank))]
    return tuple(out)


def small_bar(percent: int | None, width: int, glyphs: Glyphs, style: str) -> Spans:
    """A heavy line of `width` cells, to half a cell where the glyphs have one."""
    if percent is None:
        return (("", " " * width),)
    halves = min(2 * width, (2 * width * percent + 50) // 100)
    halves = max(halves, 1 if percent else 0)
    full, half = divmod(halves, 2)
    if half and glyphs.name != "full":
        full, half = full + 1, 0
    line = glyphs.half * full + ("╸" if half else "")
    return ((style, line), ("track", glyphs.half_track * (width - len(line))))


def age(since_ms: int) -> str:
    """How long ago, in one unit: `now`, `5 min`, `2 h`, `3 d`, `4 w`, `2 y`."""
    seconds = max(0, since_ms // 1000)
    for size, unit in ((31_536_000, "y"), (1_209_600, "w"), (86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // (604_800 if unit == 'w' else size)} {unit}"
    return "now"
