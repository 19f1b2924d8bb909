"""The table of a tab: rows as they are wide now, made anew when the width changes."""

from typing import ClassVar, Final, Literal

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.coordinate import Coordinate
from textual.reactive import reactive
from textual.widgets import DataTable

from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.widgets.inspector.page import Page, cell, shares
from qiming_tui.tui.widgets.scrolling import use_for_all

MOST: Final = 200
"""Rows that are put at once."""


class PageTable(DataTable[Text], inherit_bindings=False):
    """Shows a page. Left and right belong to the steps."""

    glyphs: reactive[Glyphs] = reactive(FULL)

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("items.up", "up,k", "cursor_up", "up"),
        bind("items.down", "down,j", "cursor_down", "down"),
        bind("items.page_up", "pageup", "page_up", "page up"),
        bind("items.page_down", "pagedown", "page_down", "page down"),
        bind("items.top", "home,g", "scroll_top", "first"),
        bind("items.bottom", "end,G", "scroll_bottom", "last"),
        bind("items.pick", "enter", "select_cursor", "raw JSON", show=True),
    ]

    def __init__(self) -> None:
        super().__init__(cursor_type="row", zebra_stripes=False, cell_padding=1)
        self.page: Page | None = None
        self._drawn: tuple[Page, int, str] | None = None
        self._used: tuple[tuple[int, int], ...] = ()
        """Place and width of the columns that are there."""

    def watch_glyphs(self, glyphs: Glyphs) -> None:
        """The scroll bar's ends are drawn with them too."""
        use_for_all(glyphs)

    def show(self, page: Page) -> None:
        """Put a page; the cursor stays in its row."""
        self.page = page
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Another width: other columns."""
        self._draw()

    @property
    def room(self) -> int:
        """Cells for columns; the scroll bar has its own."""
        return max(20, self.size.width - self.scrollbar_size_vertical)

    @property
    def chosen(self) -> str:
        """What the cursor's row stands for; empty: nothing."""
        page, row = self.page, self.cursor_row
        return page.keys[row] if page is not None and 0 <= row < len(page.keys) else ""

    def _draw(self) -> None:
        page, cut = self.page, self.glyphs.cut
        if page is None or not self.size.width or self._drawn == (page, self.room, cut):
            return
        self._drawn = (page, self.room, cut)
        place = self.cursor_row
        widths = shares(page.heads, self.room)
        self._used = ()  # what is cleared moves the cursor, which must not put rows
        self.clear(columns=True)
        self.show_header = any(head.name for head in page.heads)
        used = tuple((n, width) for n, width in enumerate(widths) if width)
        for n, width in used:
            head = page.heads[n]
            self.add_column(Text(cell(head.name, width, cut), justify=_side(head.right)), width=width)
        self._used = used
        self._more(max(MOST, place + 1))
        if page.rows:
            self.move_cursor(row=min(place, len(page.rows) - 1), animate=False)

    def _more(self, wanted: int) -> None:
        """Rows cost: those that are far below are put when the cursor or the view comes near."""
        page, cut = self.page, self.glyphs.cut
        if page is None or not self._used:
            return
        while (number := self.row_count) < min(wanted, len(page.rows)):  # a row may ask for more rows itself
            style = "bold" if number in page.strong else ""
            words = page.rows[number]
            self.add_row(
                *(
                    Text(cell(words[n], width, cut), style, justify=_side(page.heads[n].right), no_wrap=True)
                    for n, width in self._used
                )
            )

    def _near(self, row: int) -> None:
        if row + MOST // 2 > self.row_count:
            self._more(row + MOST)

    def watch_cursor_coordinate(self, old_coordinate: Coordinate, new_coordinate: Coordinate) -> None:
        """The cursor comes near the last row."""
        super().watch_cursor_coordinate(old_coordinate, new_coordinate)
        self._near(new_coordinate.row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The view does."""
        super().watch_scroll_y(old_value, new_value)
        self._near(int(new_value) + self.size.height)

    def action_scroll_bottom(self) -> None:
        """To the last row of all."""
        if self.page is not None:
            self._more(len(self.page.rows))
            self.move_cursor(row=len(self.page.rows) - 1, animate=False)


def _side(right: bool) -> Literal["left", "right"]:
    return "right" if right else "left"
