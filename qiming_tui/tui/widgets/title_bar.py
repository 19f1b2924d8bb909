"""The title row: star, name and session, then agent, model and folder; right: compactions, prunes, cost."""

from typing import ClassVar

import msgspec
from textual.reactive import reactive
from textual.widget import Widget

from qiming_tui.tui.glyphs import FULL, Glyphs


class TitleData(msgspec.Struct, frozen=True, kw_only=True):
    """What the title row shows; empty texts are left out."""

    title: str = ""
    agent: str = ""
    model: str = ""
    folder: str = ""
    compactions: int = 0
    prunes: int = 0
    cost: float | None = None
    """US dollars so far; None: the price is not known."""


class TitleBar(Widget):
    """One row; what does not fit goes in the order folder, agent, model, then the title is cut."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "title-bar--star",
        "title-bar--name",
        "title-bar--title",
        "title-bar--quiet",
        "title-bar--number",
    }

    data: reactive[TitleData] = reactive(TitleData())
    glyphs: reactive[Glyphs] = reactive(FULL)

    def show(self, data: TitleData) -> None:
        """Show other data."""
        self.data = data
