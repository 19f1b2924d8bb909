"""The menu of completions, floating above the prompt: nothing moves when it opens."""

from typing import Final

from rich.cells import set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from qiming_tui.tui.complete import Menu
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.widgets.looks import look

NOTHING: Final = "nothing fits"


class MenuList(Widget):
    """Paints a menu; the prompt keeps the focus and moves in it."""

    COMPONENT_CLASSES = {"menu-list--label", "menu-list--note", "menu-list--chosen", "menu-list--sign"}
    menu: reactive[Menu | None] = reactive(None)
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Picked(Message):
        """A row was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def render(self) -> Content:
        """One row an item: sign of the chosen one, label, note at the right."""
        menu = self.menu
        if menu is None:
            return Content("")
        if not menu.items:
            return Content.assemble(("  " + NOTHING, look(self, "menu-list--note")))
        return Content("\n").join(self._row(menu, index) for index in range(len(menu.items)))

    def watch_menu(self, menu: Menu | None) -> None:
        """Stand right above the prompt."""
        rows = max(1, len(menu.items)) if menu is not None else 0
        self.display = menu is not None
        self.styles.height = rows
        self.styles.offset = (0, -rows)

    def on_click(self, event: events.Click) -> None:
        """Take the row."""
        event.stop()
        if self.menu is not None and event.y < len(self.menu.items):
            self.post_message(self.Picked(event.y))

    def _row(self, menu: Menu, index: int) -> Content:
        item, chosen = menu.items[index], index == menu.index
        width = max(4, self.size.width - 4)
        note = item.note if len(item.label) + len(item.note) + 4 <= width else ""
        label = set_cell_size(item.label, width - len(note))
        row = Content.assemble(
            (f"{self.glyphs.prompt if chosen else ' '} ", self._style("sign")),
            (label, self._style("label")),
            (note, self._style("note")),
            "  ",
        )
        return row.stylize(self._style("chosen")) if chosen else row

    def _style(self, name: str) -> Style:
        return look(self, f"menu-list--{name}")
