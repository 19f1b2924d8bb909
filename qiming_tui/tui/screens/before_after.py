"""Before and after a compaction: two bars on one axis, the fate of each turn, what the summary still names.

Shows a report and is dismissed with what is wished (`Wish`); it changes nothing itself.
"""

from typing import ClassVar

import msgspec
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar import BarData, Live, bar_data
from qiming_tui.context.bar_words import Spans
from qiming_tui.context.facts import FactKind
from qiming_tui.context.figures import kilo, plural
from qiming_tui.context.health import Health
from qiming_tui.model.sanitize import one_line
from qiming_tui.session.acting import Report
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.screens.before_after_rows import PageRow, Painter, missing_of, read_out
from qiming_tui.tui.spans import spread, strip_of
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.budget_rows import bar_row, layout_of, under_row
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.lines import Lines

LETTERS = "STMZUAR"
STYLES = (
    *(
        "text",
        "strong",
        "muted",
        "faint",
        "good",
        "limit",
        "warn",
        "key",
        "rule",
        "cached",
        "italic",
        "picked",
    ),
    *("seg-cleared", *(f"seg-{letter}" for letter in LETTERS)),
)
_PREFIX = "fate-page--"


class Wish(msgspec.Struct, frozen=True):
    """What a person wants: go (to a message), pin, edit, again, undo, other (another compaction)."""

    do: str
    message_id: str = ""
    target: str = ""
    """What is pinned, undone or shown."""
    text: str = ""
    """A snippet that is pinned instead of the whole target."""
    source: str = ""


class PartBar(BudgetBar, can_focus=False):
    """One of the two bars: a headline of its own, the bar, and below the second one the axis."""

    def __init__(self, *, axis: bool, id: str) -> None:
        super().__init__(id=id)
        self._axis = axis
        self.head: tuple[Spans, Spans] = ((), ())

    def rows(self) -> list[Spans]:
        """Headline, bar, axis."""
        data, columns = self.data, self.size.width
        if data is None or columns <= 0:
            return []
        left, right = self.head
        head = spread(left, right if sum(len(t) for _, t in (*left, *right)) < columns else (), columns)
        held = layout_of(data, columns, self.glyphs, letters=self.letters)
        found = [head, bar_row(data, held, self.glyphs, letters=self.letters)]
        return [*found, under_row(data, held, self.glyphs)] if self._axis else found


class FatePage(Widget, can_focus=True):
    """The rows below the bars; the cursor stands on a turn, a kind of fact or a line of the summary."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + name for name in (*STYLES, "chosen", "raised")}

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("fate.open", "enter", "screen.open", "open original", show=True),
        bind("fate.restore", "r", "screen.restore", "restore this", show=True),
        bind("fate.edit", "e", "screen.wish('edit')", "edit summary", show=True),
        bind("fate.again", "R", "screen.wish('again')", "again with focus", show=True),
        bind("fate.undo", "z", "screen.wish('undo')", "undo compaction", show=True),
        bind("fate.close", "escape,q,b", "screen.close", "back", show=True, label="esc"),
    ]

    cursor: reactive[int] = reactive(0)
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Moved(Message):
        """The cursor is on another row, or another item of it."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report
        self.picked: dict[FactKind, int] = {}
        self._top = 0
        self._made: tuple[tuple[object, ...], list[PageRow]] | None = None

    def rows(self) -> list[PageRow]:
        """All rows, for the width of now."""
        made_for = (self.size.width, self.glyphs, tuple(self.picked.items()))
        if self._made is None or self._made[0] != made_for:
            painter = Painter(self.report, max(20, self.size.width), self.glyphs)
            self._made = (made_for, painter.rows(self.picked))
        return self._made[1]

    @property
    def keys(self) -> list[str]:
        """Keys of the rows that can be chosen."""
        return [row.key for row in self.rows() if row.key]

    @property
    def key(self) -> str:
        """Of the chosen row."""
        keys = self.keys
        return keys[min(self.cursor, len(keys) - 1)] if keys else ""

    def move(self, by: int) -> None:
        """Up or down."""
        self.cursor = max(0, min(self.cursor + by, len(self.keys) - 1))
        self._changed()

    def pick(self, by: int) -> None:
        """Another of the missing items of a kind."""
        kind, _, rest = self.key.partition(":")
        missing = self.report.coverage.missing(FactKind(rest)) if kind == "kind" else ()
        if missing:
            self.picked[FactKind(rest)] = (self.picked.get(FactKind(rest), 0) + by) % len(missing)
            self._changed()

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def render_lines(self, crop: object) -> list[Strip]:
        """Every visible row; the chosen one is kept in sight."""
        rows, height, width = self.rows(), self.size.height, self.size.width
        chosen = next((i for i, row in enumerate(rows) if row.key and row.key == self.key), 0)
        first = next((i for i, row in enumerate(rows) if row.key), 0)
        top = 0 if chosen == first else self._top
        top = min(top, chosen)
        top = max(top, chosen - height + 1, 0)
        self._top = max(0, min(top, len(rows) - height))
        shown = rows[self._top : self._top + height]
        blank = self.rich_style
        out = [self._strip(row, width, row.key != "" and row.key == self.key) for row in shown]
        return out + [Strip.blank(width, blank)] * (height - len(out))

    def _strip(self, row: PageRow, width: int, chosen: bool) -> Strip:
        name = "chosen" if chosen else "raised" if row.raised else ""
        if not name:
            return strip_of(row.spans, width, self._style)
        tone = Style(bgcolor=self.get_component_rich_style(_PREFIX + name).bgcolor)
        if chosen and self.app.no_color:
            tone = Style(reverse=True)

        def style_of(part: str) -> Style:
            return self._style(part) if part.startswith("seg-") else self._style(part) + tone

        strip = strip_of(row.spans, width, style_of)
        if not chosen:
            return strip
        return Strip.join([strip_of((("key", self.glyphs.edge),), 1, style_of), strip.crop(1)])

    def _style(self, name: str) -> Style:
        if self.app.no_color and name.startswith("seg-"):
            name = "strong"
        return self.get_component_rich_style(_PREFIX + name) if name else self.rich_style

    def on_click(self, event: events.Click) -> None:
        """Choose a row."""
        rows = self.rows()
        place = event.y + self._top
        if place < len(rows) and rows[place].key:
            self.cursor = self.keys.index(rows[place].key)
            self._changed()


class BeforeAfterScreen(ModalScreen[Wish | None]):
    """The page."""

    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (60, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("fate.up", "up,k", "move(-1)", "up"),
        bind("fate.down", "down,j", "move(1)", "down"),
        bind("fate.page_up", "pageup", "move(-10)", "page up"),
        bind("fate.page_down", "pagedown,space", "move(10)", "page down"),
        bind("fate.left", "left,h", "pick(-1)", "previous missing item"),
        bind("fate.right", "right,l", "pick(1)", "next missing item"),
        bind("fate.previous", "left_square_bracket", "other(-1)", "compaction before"),
        bind("fate.next", "right_square_bracket", "other(1)", "next compaction"),
    ]

    page = query_one(FatePage)
    title_row = query_one("#fate-title", Lines)
    read_row = query_one("#fate-read", Lines)

    def __init__(self, report: Report, health: Health, *, glyphs: Glyphs = FULL, title: str = "") -> None:
        super().__init__()
        self.report = report
        self.health = health
        self.glyphs = glyphs
        self._title = one_line(title)

    def compose(self) -> ComposeResult:
        """Title, bars, rows, read-out, keys."""
        with Vertical(id="fate"):
            yield Lines(id="fate-title")
            yield PartBar(axis=False, id="fate-before")
            yield PartBar(axis=True, id="fate-after")
            yield FatePage(self.report)
            yield Lines(id="fate-read")
            yield Footer()

    def on_mount(self) -> None:
        """The rows have the focus."""
        self.page.glyphs = self.glyphs
        self.page.focus()
        what = self.report.what
        for name, view in (("before", what.before), ("after", what.after)):
            bar = self.query_one(f"#fate-{name}", PartBar)
            bar.glyphs = self.glyphs
            data = bar_data(view, Live(cached=what.fixed if name == "after" else 0))
            bar.head = self._head(name, data)
            bar.show(data)
        self.call_after_refresh(self._paint)

    def _head(self, name: str, data: BarData) -> tuple[Spans, Spans]:
        what, promise = self.report.what, self.report.promise
        pill = ("" if data.percent is None else f"{data.percent}% ") + data.state.value
        left: Spans = (
            ("muted", f"{name:<8}"),
            ("pill", f" {pill} "),
            ("strong", f"  ~{kilo(data.count)}"),
            ("muted", "" if data.usable is None else f" / {kilo(data.usable)} usable"),
        )
        if name == "before":
            return left, (("muted", f"{plural(len(what.messages), 'message')} and the prefix, estimated"),)
        words = f"freed ~{kilo(what.freed)}, estimated" if promise is None else promise.words
        return left, (("muted", words),)

    @on(Lines.Resized)
    def _resized(self, event: Lines.Resized) -> None:
        event.stop()
        self._paint()

    @on(FatePage.Moved)
    def _moved(self, event: FatePage.Moved) -> None:
        event.stop()
        self._paint()

    def _paint(self) -> None:
        if not self.is_mounted:
            return
        mark = self.report.what.mark
        state = "" if mark.active else ", undone"
        by = "automatic" if mark.auto else "by you"
        left: Spans = (
            ("key", f"{self.glyphs.star} "),
            ("strong", "qiming"),
            ("text", f"  {self._title}  "),
            ("key", f"before / after {mark.name}"),
        )
        right: Spans = (("muted", f"{by}{state}"),)
        width = self.title_row.size.width
        room = sum(len(text) for _, text in (*left, *right)) < width
        self.title_row.rows = (spread(left if room else left[3:], right, width),)
        said = read_out(self.report, self.page.key, self.page.picked)
        style = "live" if self.health.good else "limit"
        self.read_row.rows = ((("text", said),), ((style, one_line(self.health.words)),))

    def action_move(self, by: int) -> None:
        """Up and down."""
        self.page.move(by)

    def action_pick(self, by: int) -> None:
        """Left and right."""
        self.page.pick(by)

    def action_open(self) -> None:
        """The original of what is chosen, in the conversation."""
        kind, _, rest = self.page.key.partition(":")
        message = ""
        if kind == "turn":
            message = self.report.what.turns[int(rest)].message_ids[0]
        elif kind == "kind":
            covered = missing_of(self.report, FactKind(rest), self.page.picked)
            message = covered.fact.message_id if covered is not None else ""
        elif kind == "line":
            message = next(iter(self.report.coverage.lines[int(rest)].sources), "")
        if message:
            self.dismiss(Wish("go", message_id=message))

    def action_restore(self) -> None:
        """Put the chosen message, or what is missing, back as a pin."""
        kind, _, rest = self.page.key.partition(":")
        if kind == "turn":
            turn = self.report.what.turns[int(rest)]
            self.dismiss(Wish("pin", target=" ".join(turn.message_ids[:1])))
        elif kind == "kind":
            covered = missing_of(self.report, FactKind(rest), self.page.picked)
            if covered is not None:
                fact = covered.fact
                source = f"{fact.kind.value}, turn {fact.turn}"
                self.dismiss(Wish("pin", target=fact.part_id, text=fact.words, source=source))

    def action_wish(self, do: str) -> None:
        """Edit the summary, run it again, undo it."""
        self.dismiss(Wish(do, target=self.report.what.mark.name))

    def action_other(self, by: int) -> None:
        """The compaction before or after this one."""
        name = self.report.what.mark.name
        number = int(name[1:]) + by if name[1:].isdecimal() else 0
        if number > 0:
            self.dismiss(Wish("other", target=f"C{number}"))

    def action_close(self) -> None:
        """Back to the conversation."""
        self.dismiss(None)
