"""The timeline over the whole screen, and the same data as a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import DataTable, Input, Static

from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_words import search
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.widgets.filter_line import FilterLine
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.timeline.chart import TimelineChart
from qiming_tui.tui.widgets.timeline.table import StepTable


class FindLine(FilterLine):
    """Enter searches."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("chart.search", "enter", "submit", "find", show=True)]


class TimelineScreen(ModalScreen[tuple[str, Column] | None]):
    """Dismissed with what is to be done with a step (`jump`, `why`, `fate`, `clear`, `restore`, `pin`), or
    with None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    chart = query_one(TimelineChart)
    table = query_one("#timeline-table", StepTable)
    line = query_one(FindLine)

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("chart.why", "w", "leave('why')", "why", show=True),
        bind("chart.fate", "b", "leave('fate')", "before/after"),
        bind("chart.clear", "x", "leave('clear')", "clear its results"),
        bind("chart.restore", "u", "leave('restore')", "restore its results"),
        bind("chart.pin", "i", "leave('pin')", "pin its message"),
        bind("chart.table", "t", "table", "table", show=True),
        bind("chart.find", "slash", "find", "find", show=True),
        bind("chart.close", "escape,q", "close", "close", show=True),
    ]

    def __init__(
        self,
        columns: Sequence[Column] = (),
        *,
        glyphs: Glyphs = FULL,
        texts: Callable[[], Mapping[str, str]] = dict,
        place: int | None = None,
        words: str = "",
        as_table: bool = False,
    ) -> None:
        """`texts`: what was said around each step, by message id (`texts_of`); asked for by a search.
        `place`: where the cursor begins; None: on the newest step. `words`: searched for at once."""
        super().__init__()
        self.glyphs = glyphs
        self.columns = tuple(columns)
        self._texts = texts
        self._place = place
        self._words = words
        self._as_table = as_table

    def compose(self) -> ComposeResult:
        """Chart or table, the line to search in, keys."""
        yield TimelineChart()
        yield StepTable(id="timeline-table")
        with Horizontal(id="timeline-find"):
            yield Static("/ ", markup=False)
            yield FindLine(compact=True, select_on_focus=False)
        yield Footer()

    def on_mount(self) -> None:
        """The chart has the focus, unless the table was asked for."""
        self.chart.glyphs = self.glyphs
        self.chart.place = self._place
        self._put()
        self.set_focus(self.chart)
        if self._as_table:
            self.action_table()
        if self._words:
            self.line.value = self._words
            self._search()

    def show(self, columns: Sequence[Column]) -> None:
        """The steps are others: there is a new one, or one has ended."""
        self.columns = tuple(columns)
        if self.is_mounted:
            self._put()

    def _put(self) -> None:
        self.chart.show(self.columns)
        if self.has_class("-table"):
            self.table.show(self.chart.columns)

    def step(self) -> Column | None:
        """The step that is pointed at, in the chart or in the table."""
        if not self.columns:
            return None
        place = self.table.cursor_row if self.has_class("-table") else self.chart.cursor
        return self.columns[min(place, len(self.columns) - 1)]

    # -- the table ----------------------------------------------------------------------------------------

    def action_table(self) -> None:
        """The same steps as rows, the cursor on the same one; and back."""
        if self.has_class("-table"):
            self.remove_class("-table")
            self.chart.move(self.table.cursor_row)
            self.set_focus(self.chart)
            return
        self.add_class("-table")
        self.table.show(self.chart.columns, self.chart.cursor)
        self.set_focus(self.table)

    @on(DataTable.RowSelected)
    def _picked(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.action_leave("jump")

    @on(TimelineChart.Jump)
    def _jump(self, event: TimelineChart.Jump) -> None:
        event.stop()
        self.dismiss(("jump", event.column))

    def action_leave(self, what: str) -> None:
        """Close, and have something done with the step."""
        column = self.step()
        if column is not None:
            self.dismiss((what, column))

    # -- search -------------------------------------------------------------------------------------------

    def action_find(self) -> None:
        """A line to type in."""
        self.query_one("#timeline-find").display = True
        self.set_focus(self.line)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._search()
        self._back()

    def _search(self) -> None:
        words = self.line.value
        found = search(self.columns, self._texts(), words) if words.strip() else ()
        self.chart.show_found(found)
        if self.has_class("-table") and found:
            self.table.move_cursor(row=self.chart.cursor)
        if words.strip() and not found:
            self.notify(f"no step holds {words.strip()!r}", timeout=4, markup=False)

    def _back(self) -> None:
        self.query_one("#timeline-find").display = False
        self.set_focus(self.table if self.has_class("-table") else self.chart)

    def action_close(self) -> None:
        """First the line, then the table's cursor goes back with it, then the screen."""
        if self.query_one("#timeline-find").display:
            self._back()
        else:
            self.dismiss(None)
