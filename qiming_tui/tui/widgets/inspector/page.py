"""What a tab shows: lines above, a table, and which things its rows stand for."""

import msgspec

from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.spans import clip


class Head(msgspec.Struct, frozen=True):
    """A column."""

    name: str
    cells: int = 0
    """Width; 0: what the others leave."""
    right: bool = False


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One tab at one step."""

    lines: tuple[str, ...]
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: tuple[str, ...] = ()
    """What the rows stand for, one each; empty: nothing can be opened."""
    strong: frozenset[int] = frozenset()
    """Rows that stand out."""


def shares(heads: tuple[Head, ...], columns: int) -> tuple[int, ...]:
    """Widths of the columns, each with a blank on either side; narrow screens leave the last ones out, but
    never the one that takes what is left."""
    kept = list(range(len(heads)))
    while True:
        fixed = sum(heads[n].cells + 2 for n in kept if heads[n].cells)
        open_ones = [n for n in kept if not heads[n].cells]
        room = columns - fixed - 2 * len(open_ones)
        droppable = [n for n in kept[1:] if heads[n].cells]
        if room >= 12 * len(open_ones) or not droppable:
            break
        kept.remove(droppable[-1])
    each = max(1, room // len(open_ones)) if open_ones else 0
    return tuple((heads[n].cells or each) if n in kept else 0 for n in range(len(heads)))


def wrapped(words: str, columns: int) -> list[str]:
    """Words in lines of at most so many cells; a longer word is cut by the table."""
    lines = [""]
    for word in one_line(words, limit=2_000).split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > columns:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def cell(words: str, columns: int, mark: str) -> str:
    """A cell's words, harmless and cut."""
    return clip(one_line(words, limit=400), columns, mark)
