"""A Markdown table as rows: columns as wide as they need, shrunk and wrapped where the room is short."""

from collections.abc import Sequence
from typing import Final

from markdown_it.token import Token
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from qiming_tui.tui.widgets.conversation.inline import runs_of
from qiming_tui.tui.widgets.conversation.lines import Line, spaces
from qiming_tui.tui.widgets.conversation.looks import BOLD, Looks
from qiming_tui.tui.widgets.conversation.wrap import Run, Wrapped, wrap

GAP: Final = 2
LEAST: Final = 4


def table_rows(tokens: Sequence[Token], *, width: int, looks: Looks, base: Style) -> list[Line]:
    """Head in bold, a hairline, the rows."""
    rows, aligns = _cells(tokens, looks, base)
    if not rows:
        return []
    natural = [max(_size(row[at]) for row in rows) for at in range(len(aligns))]
    sizes = shrink(natural, room=width - GAP * (len(aligns) - 1))
    out: list[Line] = []
    for index, row in enumerate(rows):
        out += _row([wrap(cell, width=size) for cell, size in zip(row, sizes, strict=True)], sizes, aligns)
        if index == 0:
            rule = (" " * GAP).join(looks.glyphs.rule * size for size in sizes)
            out.append(Line((Segment(rule, looks.ink("rule")),), copied=False))
    return out


def shrink(natural: Sequence[int], *, room: int) -> list[int]:
    """Widths that fit into `room` cells, taken from the widest; none below the least."""
    sizes = [max(1, size) for size in natural]
    while sum(sizes) > room:
        widest = max(sizes)
        if widest <= LEAST:
            break
        sizes[sizes.index(widest)] = max(LEAST, widest - max(1, (sum(sizes) - room) // len(sizes)))
    return sizes


def _cells(tokens: Sequence[Token], looks: Looks, base: Style) -> tuple[list[list[list[Run]]], list[str]]:
    rows: list[list[list[Run]]] = []
    aligns: list[str] = []
    head = False
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            head = token.type == "th_open"
            if head:
                aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(runs_of(token.children or (), looks, base + BOLD if head else base))
    return [[*row, *([] for _ in range(len(aligns) - len(row)))] for row in rows], aligns


def _size(cell: Sequence[Run]) -> int:
    return cell_len("".join(text for text, _ in cell))


def _row(cells: list[list[Wrapped]], sizes: Sequence[int], aligns: Sequence[str]) -> list[Line]:
    out: list[Line] = []
    for index in range(max(len(cell) for cell in cells)):
        segments: list[Segment] = []
        for at, (cell, size, align) in enumerate(zip(cells, sizes, aligns, strict=True)):
            part = cell[index] if index < len(cell) else Wrapped([], "", "")
            free = size - cell_len(part.text)
            left = free if align == "right" else free // 2 if align == "center" else 0
            segments += [spaces(GAP if at else 0), spaces(left), *part.segments, spaces(free - left)]
        kept = tuple(segment for segment in segments if segment.text)
        out.append(Line(kept, "".join(segment.text for segment in kept)))
    return out
