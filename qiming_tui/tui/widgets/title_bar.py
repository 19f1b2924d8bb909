"""The title row: star, name and session, then agent, model and folder; right: compactions, prunes, cost."""

from typing import ClassVar, Final

import msgspec
from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.figures import money, plural
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.spans import cells, clip, spread, strip_of

NAME: Final = "qiming"
NARROW: Final = 60
"""Screens with fewer columns have no title row."""
SHORTEST: Final = 12
"""Cells that a session's title keeps while something else can go."""
_PREFIX: Final = "title-bar--"


class TitleData(msgspec.Struct, frozen=True, kw_only=True):
    """What the title row shows; empty texts are left out."""

    title: str = ""
    agent: str = ""
    model: str = ""
    folder: str = ""
    compactions: int = 0
    prunes: int = 0
    cost: float | None = None
    """US dollars so far; None: the price is not known, which is said."""


def title_row(data: TitleData, columns: int, glyphs: Glyphs) -> Spans:
    """The row in `columns` cells. What does not fit goes in the order folder, agent, model; then the
    title is cut, last go cost and counts."""
    facts = {"agent": data.agent, "model": data.model, "folder": data.folder}
    facts = {name: one_line(text) for name, text in facts.items() if text}
    right = _right(data)
    title = one_line(data.title)
    left = _left(title, facts, glyphs)
    for name in ("folder", "agent", "model"):
        if cells(left) + 2 + cells(right) <= columns:
            return spread(left, right, columns)
        facts.pop(name, None)
        left = _left(title, facts, glyphs)
    while right and columns - cells(right) - cells(_left("", {}, glyphs)) - 4 < min(
        SHORTEST, cell_len(title)
    ):
        right = right[3:]
    room = columns - cells(_left("", {}, glyphs)) - 2 - (cells(right) + 2 if right else 0)
    return spread(_left(clip(title, room, glyphs.cut), {}, glyphs), right, columns)


def _left(title: str, facts: dict[str, str], glyphs: Glyphs) -> Spans:
    out: list[Span] = [("star", glyphs.star), ("", " "), ("name", NAME)]
    if title:
        out += [("", "  "), ("title", title)]
    dot = "-" if glyphs.dot == "." else glyphs.dot
    if facts:
        out += [("", "  "), ("quiet", f" {dot} ".join(facts.values()))]
    return tuple(out)


def _right(data: TitleData) -> Spans:
    """In groups of three spans, the one that goes first in front."""
    out: list[Span] = []
    for number, word in ((data.compactions, "compaction"), (data.prunes, "prune")):
        if number:
            out += [
                ("number", f"{number:,}"),
                ("quiet", plural(number, word).removeprefix(f"{number:,}")),
                ("", "  "),
            ]
    cost = ("quiet", "price unknown") if data.cost is None else ("number", money(data.cost))
    return (*out, cost)


class TitleBar(Widget):
    """One row; none on a screen of fewer than 60 columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        _PREFIX + name for name in ("star", "name", "title", "quiet", "number")
    }

    data: reactive[TitleData] = reactive(TitleData())
    glyphs: reactive[Glyphs] = reactive(FULL)

    def show(self, data: TitleData) -> None:
        """Show other data."""
        self.data = data

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row if the screen is wide enough for one."""
        return 1 if viewport.width >= NARROW else 0

    def render_line(self, y: int) -> Strip:
        """The row."""
        row = title_row(self.data, self.size.width, self.glyphs)
        return strip_of(row, self.size.width, self._style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(_PREFIX + name) if name else self.rich_style
