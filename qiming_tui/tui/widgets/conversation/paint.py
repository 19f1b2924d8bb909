"""Rows made into strips: margin, token column, cursor, what is found and what is selected."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from qiming_tui.model.window import ItemState
from qiming_tui.tui.blocks import Cost, Kind
from qiming_tui.tui.widgets.conversation.face import COST_CELLS
from qiming_tui.tui.widgets.conversation.figures import tokens_words
from qiming_tui.tui.widgets.conversation.lines import Line
from qiming_tui.tui.widgets.conversation.looks import BOLD, Looks

MARGIN = 1
"""Empty cells at the left edge of the widget; the scroll bar is the right one."""
DIM = 0.45
"""How far what is archived is blended into the page."""


def cost_segments(
    cost: Cost | None, *, kind: Kind, archived: bool, rough: Cost | None, looks: Looks
) -> list[Segment]:
    """The token column: seven cells, a space, the chip. `rough`: a guess for what is still being written."""
    faint, muted = looks.ink("faint"), looks.ink("muted")
    if cost is None and rough is not None:
        cost, mark = rough, "~"
    else:
        mark = ""
    if archived or (cost is not None and cost.state is ItemState.CLEARED):
        tokens = 0 if archived or cost is None else cost.tokens
        return [Segment(tokens_words(tokens).rjust(7), faint), Segment(" "), _chip(":", looks)]
    if cost is None:
        return [Segment(" " * COST_CELLS)]
    style = looks.ink("text") if kind is Kind.USER else muted
    words = f"{mark}{tokens_words(cost.tokens)}".rjust(7)
    if cost.pinned and words.startswith("  "):
        words = f"i{words[1:]}"
    return [Segment(words, style), Segment(" "), _chip(cost.klass, looks)]


def _chip(letter: str, looks: Looks) -> Segment:
    return Segment(letter, looks.chip(letter) + BOLD if letter != ":" else looks.chip(letter))


def row_strip(line: Line, *, width: int, cost: Sequence[Segment], page: Style) -> Strip:
    """A row of `width` cells: margin, content, and the token column where there is one."""
    body = Strip([Segment(" " * MARGIN), *line.segments])
    if cost:
        body = body.adjust_cell_length(max(0, width - COST_CELLS))
        body = Strip([*body, *cost])
    return body.adjust_cell_length(width).apply_style(page)


def restyle(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """A style over the characters from `start` to `end`."""
    out: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        low, high = max(0, start - at), min(len(text), end - at)
        if low >= high:
            out.append(Segment(text, own))
        else:
            if low:
                out.append(Segment(text[:low], own))
            out.append(Segment(text[low:high], own + style if own else style))
            if high < len(text):
                out.append(Segment(text[high:], own))
        at += len(text)
    return Strip(out, strip.cell_length)


def dimmed(strip: Strip, page: Color) -> Strip:
    """The strip with every colour blended into the page: archived, kept, not sent."""
    out = [Segment(text, _dim(style, page) if style else style) for text, style, _ in strip]
    return Strip(out, strip.cell_length)


def _dim(style: Style, page: Color) -> Style:
    found = style
    if style.color is not None:
        found += Style(color=Color.from_rich_color(style.color).blend(page, DIM).rich_color)
    if style.bgcolor is not None:
        found += Style(bgcolor=Color.from_rich_color(style.bgcolor).blend(page, DIM).rich_color)
    return found
