"""A list to choose from: only the rows that are seen are made, so its length does not matter."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from qiming_tui.context.bar_words import Spans
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.picking import Row
from qiming_tui.tui.spans import strip_of
from qiming_tui.tui.widgets.lines import Lines

Paint = Callable[[Row, int, bool], Spans]
"""(row, cells, whether it is the chosen one) -> its spans."""
MARGIN: Final = 2
"""Cells left of a row; the first one holds the edge of the chosen row."""
EMPTY: Final = "nothing fits these words"


class PickList(Lines):
    """The owner keeps the focus and moves the choice."""

    items: reactive[tuple[Row, ...]] = reactive(())
    index: reactive[int] = reactive(-1)
    """The chosen row; -1: there is none."""
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Moved(Message):
        """Another row is chosen; empty key: none."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Picked(Message):
        """The chosen row was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, paint: Paint) -> None:
        super().__init__()
        self._paint = paint
        self._top = 0

    @property
    def key(self) -> str:
        """The key of the chosen row; empty: none is chosen."""
        return self.items[self.index].key if 0 <= self.index < len(self.items) else ""

    def show(self, items: Sequence[Row], key: str = "") -> None:
        """Show other rows and choose the one with this key, else the one chosen before, else the first."""
        wanted = key or self.key
        before = self.key
        self.items = tuple(items)
        places = [place for place, row in enumerate(self.items) if row.key]
        same = [place for place in places if self.items[place].key == wanted]
        self._choose((same or places or [-1])[0], before)

    def move(self, by: int) -> None:
        """The choice moves over rows that can be chosen, at most to the ends."""
        places = [place for place, row in enumerate(self.items) if row.key]
        if places:
            at = places.index(self.index) if self.index in places else 0
            self._choose(places[max(0, min(len(places) - 1, at + by))], self.key)

    def page(self, by: int) -> None:
        """A screenful up or down."""
        self.move(by * max(1, self.size.height - 1))

    def _choose(self, index: int, before: str) -> None:
        self.index = index
        self._scroll()
        self.refresh()
        if self.key != before:
            self.post_message(self.Moved(self.key))

    def _scroll(self) -> None:
        height = max(1, self.size.height)
        at = max(0, self.index)
        # The heading above the first row that can be chosen is seen with it.
        low = 0 if not any(row.key for row in self.items[:at]) else at
        self._top = max(0, min(max(min(self._top, low), at - height + 1), len(self.items) - height))

    def on_resize(self) -> None:
        """The choice stays in sight."""
        self._scroll()

    def render_line(self, y: int) -> Strip:
        """One row, the chosen one with an edge and a tone."""
        width, place = self.size.width, self._top + y
        if not self.items and y == 0:
            return strip_of((("", " " * MARGIN), ("muted", EMPTY)), width, self.style_of)
        if place >= len(self.items):
            return strip_of((), width, self.style_of)
        chosen = place == self.index
        spans = self._paint(self.items[place], max(1, width - MARGIN - 1), chosen)
        if not chosen:
            return strip_of((("", " " * MARGIN), *spans), width, self.style_of)
        # The mixed colour, as it is on this background.
        tone = Style(bgcolor=self.get_component_rich_style("lines--chosen").bgcolor)
        edge = strip_of((("edge", self.glyphs.edge),), 1, self.style_of)
        rest = (("", " " * (MARGIN - 1)), *spans)
        return Strip.join([edge, strip_of(rest, width - 1, lambda name: self.style_of(name) + tone)])

    def on_click(self, event: events.Click) -> None:
        """A click chooses, one on the chosen row takes it."""
        event.stop()
        place = self._top + event.y
        if place >= len(self.items) or not self.items[place].key:
            return
        if place == self.index:
            self.post_message(self.Picked(self.key))
        else:
            self._choose(place, self.key)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the choice."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the choice."""
        event.stop()
        self.move(-1)
