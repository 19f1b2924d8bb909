"""What every picker has: a title, a line to filter by, a list, a few rows about the choice, keys.

The page behind is mixed into the background; there is no border. A picker shows values and is dismissed with
one; what must be done while it is open is posted as a message.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from qiming_tui.context.bar_words import Spans
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.picking import Row
from qiming_tui.tui.spans import cells, spread
from qiming_tui.tui.widgets.filter_line import FilterLine
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.lines import Lines
from qiming_tui.tui.widgets.pick_list import PickList

T = TypeVar("T")

MARGIN: Final = 3
"""Cells between the edge of the dialog and its words."""


def picking(*own: BindingType, take: str) -> list[BindingType]:
    """The keys of a picker: `take` says what Enter does, `own` are its others."""
    return [
        bind("pick.take", "enter", "take", take, show=True, priority=True),
        *own,
        bind("pick.close", "escape", "close", "close", show=True, priority=True),
        bind("pick.up", "up", "move(-1)", "up", priority=True),
        bind("pick.down", "down", "move(1)", "down", priority=True),
        bind("pick.page_up", "pageup", "page(-1)", "page up", priority=True),
        bind("pick.page_down", "pagedown", "page(1)", "page down", priority=True),
    ]


class Picker(ModalScreen[T | None], Generic[T]):
    """Type to filter, move, take. Subclasses say what the rows are."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    heading: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    """What the filter looks at; stands at its right end."""

    head = query_one("#pick-head", Lines)
    filter = query_one("#pick-filter", FilterLine)
    note = query_one("#pick-note", Static)
    list = query_one(PickList)
    detail = query_one("#pick-detail", Lines)

    def __init__(self, *, glyphs: Glyphs = FULL, words: str = "") -> None:
        super().__init__()
        self.glyphs = glyphs
        self._first = words
        self._said: Spans | None = None
        self._said_of = ""

    # -- what subclasses say -------------------------------------------------------------------------------

    def rows(self, words: Sequence[str]) -> tuple[Row, ...]:
        """The rows that hold all the words (lower case)."""
        raise NotImplementedError

    def paint(self, row: Row, width: int, chosen: bool) -> Spans:
        """A row with a key, or a heading, in `width` cells."""
        raise NotImplementedError

    def about(self, key: str, width: int) -> tuple[Spans, ...]:
        """Three rows about the chosen one."""
        raise NotImplementedError

    def summary(self) -> str:
        """How many there are; stands beside the title."""
        raise NotImplementedError

    def take(self, key: str) -> None:
        """Enter on a row."""
        raise NotImplementedError

    # -- the dialog ----------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Top to bottom."""
        with Vertical(id="pick"):
            yield Lines(id="pick-head")
            with Horizontal(id="pick-line"):
                yield Static(f"{self.glyphs.prompt} ", id="pick-sign", markup=False)
                yield FilterLine(self._first, id="pick-filter", compact=True, select_on_focus=False)
                yield Static(Content(self.hint), id="pick-note")
            yield PickList(self._paint)
            yield Lines(id="pick-rule")
            yield Lines(id="pick-detail")
            yield Footer()

    def on_mount(self) -> None:
        """The line to type in has the focus, the first row is chosen."""
        self.list.glyphs = self.glyphs
        self.set_focus(self.filter)
        self.show()

    @on(Lines.Resized)
    def _resized(self, event: Lines.Resized) -> None:
        """Rows are made for a width."""
        event.stop()
        self._paint_rest()

    @property
    def words(self) -> tuple[str, ...]:
        """What was typed, in lower case."""
        return tuple(self.filter.value.lower().split())

    def show(self, key: str = "") -> None:
        """Show the rows for what was typed, and choose the one with this key if it is there."""
        self.list.show(self.rows(self.words), key)
        self._paint_rest()

    def say(self, said: Spans | None) -> None:
        """Say something in place of what is known about the chosen row, until another one is chosen; None:
        no longer."""
        self._said, self._said_of = said, self.list.key
        self._paint_rest()

    def _paint(self, row: Row, width: int, chosen: bool) -> Spans:
        return self.paint(row, width, chosen) if row.key or row.head else ()

    def _paint_rest(self) -> None:
        if not self.is_mounted:
            return
        width = max(1, self.head.size.width)
        self.head.rows = (spread((("strong", self.heading),), (("muted", self.summary()),), width),)
        rule = self.query_one("#pick-rule", Lines)
        rule.rows = ((("rule", self.glyphs.rule * rule.size.width),),)
        room = max(1, self.detail.size.width)
        known = self.about(self.list.key, room) if self.list.key else ()
        said = (self._said, *known[1:]) if self._said is not None else known
        self.detail.rows = tuple(row for row in said if cells(row) or row == ())
        self.list.refresh()

    @on(Input.Changed, "#pick-filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.typed()

    def typed(self) -> None:
        """What is in the line has changed."""
        self.show()

    @on(PickList.Moved)
    def _moved(self, event: PickList.Moved) -> None:
        event.stop()
        if event.key != self._said_of:
            self._said = None
        self._paint_rest()

    @on(PickList.Picked)
    def _picked(self, event: PickList.Picked) -> None:
        event.stop()
        self.take(event.key)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog closes it."""
        if event.widget is self:
            self.action_close()

    def action_take(self) -> None:
        """Enter."""
        if self.list.key:
            self.take(self.list.key)

    def action_close(self) -> None:
        """Esc."""
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Up and down."""
        self.list.move(by)

    def action_page(self, by: int) -> None:
        """A screenful."""
        self.list.page(by)
