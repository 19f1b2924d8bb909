"""Markdown as rows: top-level pieces with their sources, so that a whole piece is copied as it was written.

Imported in a thread after the first paint (markdown-it and Pygments take a third of a second): see
`engine.py`.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.segment import Segment
from rich.style import Style

from qiming_tui.tui.widgets.conversation.code import code_rows
from qiming_tui.tui.widgets.conversation.inline import runs_of
from qiming_tui.tui.widgets.conversation.lines import BLANK, Line, Rendered, flow, parted, spaces
from qiming_tui.tui.widgets.conversation.looks import BOLD, Looks
from qiming_tui.tui.widgets.conversation.table import table_rows

_PARSER: Final = MarkdownIt("commonmark").enable("table").enable("strikethrough")
DEEPEST: Final = 12
"""Levels of nesting that are still indented."""


class Piece(NamedTuple):
    """A top-level block of a Markdown text."""

    kind: str
    """The type of its first token."""
    lines: list[Line]
    start: int
    """Where its source begins, in characters."""
    end: int
    items: tuple[int, ...] = ()
    """Where the items of a list begin."""


def compose(text: str, *, width: int, looks: Looks) -> list[Piece]:
    """The pieces of a text, rendered at a width in cells."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    starts[-1] = len(text)
    painter = _Painter(looks)
    out: list[Piece] = []
    for group in groups(_PARSER.parse(text)):
        span = group[0].map
        if span is None:
            continue
        first, last = (min(line, len(starts) - 1) for line in span)
        items = tuple(
            starts[token.map[0]]
            for token in group
            if token.type == "list_item_open" and token.level == 1 and token.map
        )
        lines = painter.group(group, width, 0)
        out.append(Piece(group[0].type, lines, starts[first], starts[last], items))
    return out


def render(text: str, *, width: int, looks: Looks, gutter: Segment) -> Rendered:
    """A whole text, its figure at the end of its first piece."""
    lines: list[Line] = []
    sources: list[str] = []
    cost_row = 0
    before = ""
    for index, piece in enumerate(compose(text, width=width, looks=looks)):
        if index and parted(before, piece.kind):
            lines.append(BLANK)
        before = piece.kind
        lines += placed(piece.lines, gutter, index)
        if not index:
            cost_row = max(0, len(lines) - 1)
        sources.append(text[piece.start : piece.end].rstrip("\n"))
    if len(sources) > 1:
        lines.append(BLANK)
    return Rendered(lines or [BLANK], cost_row, tuple(sources))


def placed(lines: Sequence[Line], gutter: Segment, piece: int) -> Iterator[Line]:
    """The lines of a piece behind the gutter."""
    return (line._replace(piece=piece) for line in indented(lines, (gutter,), (gutter,)))


def indented(
    lines: Sequence[Line], first: tuple[Segment, ...], rest: tuple[Segment, ...], *, keep: bool = False
) -> Iterator[Line]:
    """Lines behind a prefix; `keep`: the first prefix belongs to the text (a bullet, a number)."""
    for index, line in enumerate(lines):
        prefix = rest if index else first
        size = sum(len(part.text) for part in prefix)
        if keep and not index:
            text = "".join(part.text for part in prefix) + "".join(p.text for p in line.segments)[: line.at]
            yield line._replace(segments=(*prefix, *line.segments), text=text + line.text, at=0)
        else:
            yield line._replace(segments=(*prefix, *line.segments), at=line.at + size)


def groups(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Tokens parted into those of one block each."""
    depth = 0
    now: list[Token] = []
    for token in tokens:
        now.append(token)
        depth += token.nesting
        if depth == 0:
            yield now
            now = []


class _Painter:
    """Blocks to lines, recursively."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._base = looks.ink("text")

    def group(self, tokens: list[Token], width: int, depth: int) -> list[Line]:
        """The lines of one block, without gutter."""
        match tokens[0].type:
            case "heading_open":
                return self._heading(tokens, width)
            case "paragraph_open":
                return self._inline(tokens[1], width, self._base)
            case "fence" | "code_block":
                info = tokens[0].info.strip().split()
                text = tokens[0].content.removesuffix("\n")
                return code_rows(text, language=info[0] if info else "", width=width, looks=self._looks)
            case "hr":
                return [Line((Segment(self._looks.glyphs.rule * min(20, width), self._looks.ink("rule")),))]
            case "bullet_list_open" | "ordered_list_open":
                return self._list(tokens, width, depth)
            case "blockquote_open":
                return self._quote(tokens[1:-1], width, depth)
            case "table_open":
                return table_rows(tokens, width=width, looks=self._looks, base=self._base)
            case _:
                style = self._looks.ink("muted")
                return flow([(tokens[0].content.rstrip("\n"), style)], width=width)

    def _heading(self, tokens: list[Token], width: int) -> list[Line]:
        level = int(tokens[0].tag[1:] or 1)
        marks = f"{'#' * level} " if self._looks.plain else ""
        style = self._base + BOLD if level <= 3 else self._looks.ink("muted") + BOLD
        if level == 1:
            style += Style(underline=True)
        lines = self._inline(tokens[1], width - len(marks), style)
        mark = (Segment(marks, self._looks.ink("muted")),)
        return list(indented(lines, mark, (spaces(len(marks)),))) if marks else lines

    def _inline(self, token: Token, width: int, style: Style) -> list[Line]:
        return flow(runs_of(token.children or (), self._looks, style), width=width)

    def _inner(self, tokens: Sequence[Token], width: int, depth: int) -> list[Line]:
        """The lines of blocks inside another one; a blank row between them, unless they are set tight."""
        out: list[Line] = []
        for group in groups(tokens):
            if out and not _tight(group):
                out.append(BLANK)
            out += self.group(group, width, depth)
        return out

    def _list(self, tokens: list[Token], width: int, depth: int) -> list[Line]:
        ordered = tokens[0].type == "ordered_list_open"
        number = int(tokens[0].attrs.get("start", 1)) if ordered else 0
        glyph = "-" if self._looks.glyphs.name == "ascii" else "•"
        out: list[Line] = []
        for item in groups(tokens[1:-1]):
            bullet = f"{number}. " if ordered else f"{glyph} "
            number += 1
            indent = len(bullet) if depth < DEEPEST else 0
            inner = self._inner(item[1:-1], max(4, width - indent), depth + 1) or [BLANK]
            if out and not _all_tight(item):
                out.append(BLANK)
            mark = (Segment(bullet, self._looks.ink("muted")),)
            out += indented(inner, mark, (spaces(indent),), keep=True)
        return out

    def _quote(self, tokens: Sequence[Token], width: int, depth: int) -> list[Line]:
        edge = (Segment(self._looks.glyphs.edge, self._looks.ink("quote")), spaces(1))
        base, self._base = self._base, self._looks.ink("muted")
        inner = self._inner(tokens, max(4, width - 2), depth + 1) or [BLANK]
        self._base = base
        return list(indented(inner, edge, edge))


def _tight(group: list[Token]) -> bool:
    """Whether a block follows the one before without a blank row: a nested list, a tight item's text."""
    return group[0].hidden or group[0].type in {"bullet_list_open", "ordered_list_open"}


def _all_tight(item: list[Token]) -> bool:
    """Whether a list item holds no loose paragraph of its own."""
    level = item[0].level + 1
    return all(token.hidden for token in item if token.type == "paragraph_open" and token.level == level)
