"""The left edge of a region that speaks to the person."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from qiming_tui.tui.glyphs import FULL, Glyphs


class Edge(Widget):
    """One column of the edge sign."""

    glyphs: reactive[Glyphs] = reactive(FULL)

    def render(self) -> Content:
        """The sign on every row."""
        return Content("\n".join([self.glyphs.edge] * max(1, self.size.height)))
