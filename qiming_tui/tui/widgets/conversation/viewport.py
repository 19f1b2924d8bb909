"""The scrolling of the conversation: heights that are corrected, an end that is followed, nothing that jumps.

One line-API view, because a widget for each message takes 50 s and 770 MB for a thousand of them. Sizes are
set without a layout, so that a flush of streamed text costs one frame.
"""

from collections.abc import Callable
from typing import Final

from textual import events
from textual._types import AnimationLevel, CallbackType
from textual.geometry import Offset, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.tui.widgets.conversation.lines import Rendered
from qiming_tui.tui.widgets.conversation.shelf import Shelf, Shown

NEAR: Final = 2
"""Rows above the end from which a scroll downwards resumes following (cases C-116)."""


class Viewport(ScrollView, can_focus=True):
    """Shows the rows of a shelf. Whoever derives from it renders blocks and paints rows."""

    following: reactive[bool] = reactive(True)
    """Whether the view stays at the end when something is added."""
    unseen: reactive[bool] = reactive(False)
    """Whether something was added below what is on show."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.shelf = Shelf(self.render_block)
        self._moving = False

    def render_block(self, item: Shown) -> Rendered:
        """The rows of a block at the present width."""
        raise NotImplementedError

    def row_strip(self, place: int, offset: int) -> Strip:
        """A painted row."""
        raise NotImplementedError

    def new_look(self) -> None:
        """Width, theme or glyphs changed: what was made of the blocks is void."""
        raise NotImplementedError

    def overlay(self, strip: Strip, *, row: int, y: int) -> Strip:
        """What lies over a painted row for the moment: selection, search, marks."""
        raise NotImplementedError

    # Sizes and following ---------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Rows on show."""
        return self.scrollable_content_region.height

    @property
    def at_end(self) -> bool:
        """Whether the last row is on show."""
        return self.scroll_y >= self.max_scroll_y

    def set_size(self) -> None:
        """Tell the scroll bar how many rows there are, without a layout."""
        size = Size(self.shelf.width, self.shelf.total)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height

    def settle(self, *, above: int = 0) -> None:
        """After a change of the shelf: measure what is on show and keep it in its place, or follow the end.

        `above`: by how many rows the content above the viewport grew already.
        """
        if not self.rows:
            self.set_size()
            return
        if self.following:
            self.shelf.measure_end(self.rows * 2)
            self.set_size()
            self._jump(self.max_scroll_y)
            self.unseen = False
        else:
            self._shift(above)
            change = self.shelf.measure(round(self.scroll_y), rows=self.rows * 2, above=self.rows)
            self.set_size()
            self._shift(change)
            self.unseen = self.unseen and not self.at_end
        self.refresh()

    def _jump(self, y: int) -> None:
        """Scroll without being told so ourselves."""
        self._moving = True
        try:
            self.scroll_to(y=y, animate=False, force=True)
        finally:
            self._moving = False

    def _shift(self, change: int) -> None:
        """The rows above the viewport became more or fewer: the same rows stay on show."""
        if not change:
            return
        self.set_reactive(Widget.scroll_y, max(0, self.scroll_y + change))
        self.set_reactive(Widget.scroll_target_y, max(0, self.scroll_target_y + change))
        self.vertical_scrollbar.position = self.scroll_y
        self._shift_selection(change)

    def _shift_selection(self, change: int) -> None:
        """A selection names rows by number: they moved."""
        found = self.text_selection if self.is_attached else None
        if found is None:
            return
        by = Offset(0, change)
        start = None if found.start is None else found.start + by
        end = None if found.end is None else found.end + by
        self.screen.selections = {**self.screen.selections, self: Selection(start, end)}

    def show_place(self, place: int, *, offset: int = 0, margin: int = 0) -> None:
        """Scroll so that a row of a block is at the top, `margin` rows below it."""
        self.following = False
        self.shelf.ensure(place)
        y = max(0, self.shelf.top(place) + offset - margin)
        change = self.shelf.measure(y, rows=self.rows * 2, above=self.rows)
        self.set_size()
        self._jump(y + change)
        self.following = self.at_end
        self.unseen = self.unseen and not self.at_end
        self.refresh()

    def go_end(self) -> None:
        """Show the end and follow it."""
        self.following = True
        self.settle()

    # What Textual asks of us -----------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The reader scrolled: measure what came into view, decide whether the end is followed."""
        if not self._moving and self.is_attached and len(self.shelf):
            self._moving = True
            try:
                down = new_value > old_value
                change = self.shelf.measure(round(new_value), rows=self.rows * 2, above=self.rows)
                self.set_size()
                self._shift(change)
                self.following = self.at_end or (down and self.scroll_y >= self.max_scroll_y - NEAR)
                self.unseen = self.unseen and not self.following
            finally:
                self._moving = False
        super().watch_scroll_y(old_value, new_value)

    def scroll_to(
        self,
        x: float | None = None,
        y: float | None = None,
        *,
        animate: bool = True,
        speed: float | None = None,
        duration: float | None = None,
        easing: Callable[[float], float] | str | None = None,
        force: bool = False,
        on_complete: CallbackType | None = None,
        level: AnimationLevel = "basic",
        immediate: bool = False,
        release_anchor: bool = True,
    ) -> None:
        """Scroll at once: an animated page costs 25 frames and most of a second."""
        super().scroll_to(x, y, animate=False, force=force, on_complete=on_complete, immediate=immediate)

    def on_resize(self, event: events.Resize) -> None:
        """Another size: the row at the top stays there, or the end does."""
        width = max(1, self.scrollable_content_region.width)
        if width == self.shelf.width:
            if self.look_changed():
                self.new_look()
            self.settle()
            return
        if self.following or not len(self.shelf):
            self.shelf.width = width
            self.new_look()
            self.settle()
            return
        place, offset = self.shelf.find(round(self.scroll_y))
        height = max(1, self.shelf.items[place].height)
        self.shelf.width = width
        self.new_look()
        self.shelf.ensure(place)
        self.show_place(place, offset=offset * self.shelf.items[place].height // height)

    def look_changed(self) -> bool:
        """Whether the screen became small or large enough to be drawn in another way."""
        return False

    def render_line(self, y: int) -> Strip:
        """A row of what is on show."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if not len(self.shelf) or row >= self.shelf.total:
            return self.overlay(Strip.blank(width, self.rich_style), row=row, y=y)
        place, offset = self.shelf.find(row)
        if self.shelf.ensure(place):
            self.call_later(self.settle)
        strip = self.overlay(self.row_strip(place, offset), row=row, y=y)
        return strip.apply_offsets(0, row)
