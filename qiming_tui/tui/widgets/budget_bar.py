"""The budget bar: headline, segments, under-row and, where there is room, a legend."""

from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from qiming_tui.context.bar import BarData
from qiming_tui.tui.glyphs import FULL, Glyphs


class BudgetBar(Widget):
    """Three rows; a fourth (the legend) from 100 columns and 30 rows on; one where the screen is very low."""

    data: reactive[BarData | None] = reactive(None)
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Picked(Message):
        """A class was clicked."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    class Act(Message):
        """An offer of the last row was taken: compact, focus, clear, defer or auto."""

        def __init__(self, act: str) -> None:
            super().__init__()
            self.act = act

    def show(self, data: BarData) -> None:
        """Show other data."""
        self.data = data
