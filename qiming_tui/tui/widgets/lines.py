"""Rows of spans, painted as they are: heads and details of the overlays."""

from typing import ClassVar, Final

from rich.style import Style
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar_words import Spans
from qiming_tui.tui.spans import strip_of

STYLES: Final = (
    *("text", "strong", "muted", "faint", "key", "match", "live", "good", "warn", "limit"),
    *("bar", "bar-near", "bar-over", "track", "edge", "rule"),
)
_PREFIX: Final = "lines--"


class Lines(Widget):
    """Paints as many rows as it is high."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + name for name in (*STYLES, "chosen")}

    rows: reactive[tuple[Spans, ...]] = reactive(())

    class Resized(Message):
        """It has another width: rows are made for one."""

    def on_resize(self) -> None:
        """Whoever made the rows makes them anew."""
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        """One row."""
        rows = self.rows
        return strip_of(rows[y] if y < len(rows) else (), self.size.width, self.style_of)

    def style_of(self, name: str) -> Style:
        """The look of a style's name."""
        return self.get_component_rich_style(_PREFIX + name) if name else self.rich_style
