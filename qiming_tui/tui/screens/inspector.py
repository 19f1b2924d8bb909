"""The inspector: one step of a session on five tabs. Reads only; what is to be done is its answer."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

import msgspec
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import DataTable, Input, Static, TabbedContent, TabPane, TextArea

from qiming_tui.context.figures import kilo
from qiming_tui.context.past_request import Step
from qiming_tui.model.errors import QimingError
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.spans import clip
from qiming_tui.tui.widgets.filter_line import FilterLine
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.inspector.page import Page
from qiming_tui.tui.widgets.inspector.pages import AGES, CLASSES, SIZES, SORTS, Sieve
from qiming_tui.tui.widgets.inspector.source import Source
from qiming_tui.tui.widgets.inspector.table import PageTable

TABS: Final = ("request", "diff", "why", "whatif", "cache")
TITLES: Final = {"request": "Request", "diff": "Diff", "why": "Why", "whatif": "What-if", "cache": "Cache"}
SHORT: Final = 20
"""On screens with fewer rows the lines above the table are cut instead of wrapped."""


class InspectorScreen(ModalScreen[tuple[str, str] | None]):
    """Dismissed with what is to be done with an item (`clear`, `restore`, `pin`) and its part or message, or
    with None. Only the tab that is seen is made."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("inspector.older", "left,h", "step(-1)", "step before", show=True),
        bind("inspector.newer", "right,l", "step(1)", "step after", show=True),
        bind("inspector.first", "left_curly_bracket", "step(-1000000)", "first step"),
        bind("inspector.last", "right_curly_bracket", "step(1000000)", "newest step"),
        bind("inspector.next", "tab", "turn(1)", "next tab", show=True, label="tab"),
        bind("inspector.previous", "shift+tab", "turn(-1)", "tab before"),
        *(
            bind(f"inspector.{name}", str(n), f"tab('{name}')", TITLES[name])
            for n, name in enumerate(TABS, 1)
        ),
        bind("inspector.sort", "s", "sieve('sort')", "sort"),
        bind("inspector.class", "c", "sieve('klass')", "filter by class"),
        bind("inspector.size", "m", "sieve('least')", "filter by size"),
        bind("inspector.age", "o", "sieve('age')", "filter by age"),
        bind("inspector.raw", "r", "raw", "raw request"),
        bind("inspector.copy", "y", "copy", "copy"),
        bind("inspector.clear", "x", "leave('clear')", "clear this result"),
        bind("inspector.restore", "u", "leave('restore')", "restore it"),
        bind("inspector.pin", "i", "leave('pin')", "pin it"),
        bind("inspector.policy", "e", "policy", "another policy"),
        bind("inspector.close", "escape,q", "close", "close", show=True),
    ]

    head = query_one("#inspector-head", Static)
    lines = query_one("#inspector-lines", Static)
    table = query_one(PageTable)
    tabs = query_one(TabbedContent)
    raw = query_one("#inspector-raw", TextArea)
    line = query_one(FilterLine)

    def __init__(
        self,
        source: Source,
        *,
        glyphs: Glyphs = FULL,
        place: int | None = None,
        tab: str = "request",
        copy: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`place`: of the step among the source's; None: the newest. `copy`: puts a text on the clipboard."""
        super().__init__()
        self.source = source
        self._glyphs = glyphs
        self._width = 0
        self.place = len(source.steps) - 1 if place is None else place
        self.tab = tab
        self.sieve = Sieve()
        self.page: Page | None = None
        self._copy = copy
        self._whole = False

    def compose(self) -> ComposeResult:
        """Step, tabs, lines, table or raw text, a line to type a policy in, keys."""
        yield Static(id="inspector-head", markup=False)
        with TabbedContent(initial=self.tab):
            for name in TABS:
                yield TabPane(TITLES[name], id=name)
        yield Static(id="inspector-lines", markup=False)
        yield PageTable()
        yield TextArea(id="inspector-raw", read_only=True, show_line_numbers=False)
        with Horizontal(id="inspector-policy"):
            yield Static("what if ", markup=False)
            yield FilterLine(compact=True, select_on_focus=False)
        yield Footer()

    def on_mount(self) -> None:
        """The table has the focus; the tabs are turned by keys of the screen."""
        self.table.glyphs = self._glyphs
        self.query_one("ContentTabs").can_focus = False
        self.set_focus(self.table)

    def on_resize(self, event: events.Resize) -> None:
        """Another width: other lines. The first one is the start."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.show()

    @property
    def step(self) -> Step:
        """The step that is looked at."""
        return self.source.steps[self.place]

    # -- what is shown ------------------------------------------------------------------------------------

    def show(self) -> None:
        """Make what is seen anew."""
        self.head.update(Content(clip(_heading(self.step, len(self.source.steps)), self.size.width, "")))
        for name in TABS:
            label = f"[{TITLES[name]}]" if name == self.tab else f" {TITLES[name]} "
            self.tabs.get_tab(name).label = Content(label)
        if self.has_class("-raw"):
            self._fill_raw()
        else:
            self._fill()

    @work(group="inspector", exclusive=True)
    async def _fill(self) -> None:
        """Make the tab that is seen; a refusal is its page."""
        glyphs = self.table.glyphs
        self.source.arrow = glyphs.arrow
        try:
            page = await self.source.page(self.tab, self.place, self.sieve, self.size.width)
        except QimingError as error:
            page = Page(lines=(str(error), error.hint or ""), heads=(), rows=())
        self.page = page
        rows = [one_line(row, limit=1_000) for row in page.lines if row]
        if self.size.height < SHORT:
            rows = [clip(row, self.size.width - 2, glyphs.cut) for row in rows]
        self.lines.update(Content("\n".join(rows)))
        self.table.show(page)

    @work(group="inspector", exclusive=True)
    async def _fill_raw(self) -> None:
        try:
            text = await self.source.raw(self.place, "" if self._whole else self.table.chosen)
        except QimingError as error:
            text = str(error)
        self.raw.text = clean(text)[0]

    # -- keys ---------------------------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        """Another step, the same tab."""
        place = min(len(self.source.steps) - 1, max(0, self.place + by))
        if place != self.place:
            self.place = place
            self.show()

    def action_turn(self, by: int) -> None:
        """The tab beside."""
        self.action_tab(TABS[(TABS.index(self.tab) + by) % len(TABS)])

    def action_tab(self, name: str) -> None:
        """One tab."""
        self.tabs.active = name

    @on(TabbedContent.TabActivated)
    def _turned(self, event: TabbedContent.TabActivated) -> None:
        event.stop()
        if event.pane.id is not None and event.pane.id != self.tab:
            self.tab = event.pane.id
            if self.has_class("-raw"):
                self._close_raw()
            self.show()

    def action_sieve(self, what: str) -> None:
        """The next way to sort, class, size or age."""
        choices: tuple[object, ...] = {"sort": SORTS, "klass": CLASSES, "least": SIZES, "age": AGES}[what]
        held = choices.index(getattr(self.sieve, what))
        self.sieve = msgspec.structs.replace(self.sieve, **{what: choices[(held + 1) % len(choices)]})
        if self.tab == "request":
            self.show()

    def action_raw(self) -> None:
        """The request as JSON."""
        self._open_raw(whole=True)

    @on(DataTable.RowSelected)
    def _picked(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if self.table.chosen:
            self._open_raw(whole=False)

    def _open_raw(self, *, whole: bool) -> None:
        self._whole = whole
        self.add_class("-raw")
        self.set_focus(self.raw)
        self._fill_raw()

    def _close_raw(self) -> None:
        self.remove_class("-raw")
        self.set_focus(self.table)

    async def action_copy(self) -> None:
        """The raw text that is open, else the page."""
        if self._copy is None or self.page is None:
            return
        rows = ["\t".join(row) for row in self.page.rows]
        held = self.raw.text if self.has_class("-raw") else "\n".join((*self.page.lines, *rows))
        await self._copy(held)

    def action_leave(self, what: str) -> None:
        """Close, and have something done with the item that is pointed at."""
        row = next((row for row in self.step.manifest if row.key == self.table.chosen), None)
        target = None if row is None or self.tab != "request" else row.part_id or row.message_id
        if target is None:
            self.notify("nothing that can be edited is chosen", severity="warning", timeout=4, markup=False)
        else:
            self.dismiss((what, target))

    def action_policy(self) -> None:
        """A line to type a policy in."""
        self.action_tab("whatif")
        self.add_class("-typing")
        self.set_focus(self.line)

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            self.source.add(self.line.value)
        except QimingError as error:
            self.notify(f"{error}: {error.hint}", severity="warning", timeout=6, markup=False)
            return
        self.line.value = ""
        self._end_typing()
        self.show()

    def _end_typing(self) -> None:
        self.remove_class("-typing")
        self.set_focus(self.table)

    def action_close(self) -> None:
        """First the line or the raw text, then the screen."""
        if self.has_class("-typing"):
            self._end_typing()
        elif self.has_class("-raw"):
            self._close_raw()
            self.show()
        else:
            self.dismiss(None)


def _heading(step: Step, steps: int) -> str:
    """Which step it is, and how full its window was."""
    verdict = step.row.after or step.row.verdict
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    of = "" if verdict.usable is None else f" of {kilo(verdict.usable)}"
    kind = " summary" if step.row.kind is RequestKind.SUMMARY else ""
    words = f"inspector  step {step.row.step:,}{kind} ({steps:,})  {mark}{kilo(verdict.count)}{of}"
    percent = "" if verdict.percent is None or kind else f" {verdict.percent}% {verdict.state.value}"
    return f"{words}{percent}" + ("  ~ reconstructed" if step.rebuilt else "")
