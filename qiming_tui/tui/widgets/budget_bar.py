"""The budget bar: headline, segments, under-row and, where there is room, a legend."""

from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar import ORDER, BarData
from qiming_tui.context.bar_cells import parts
from qiming_tui.context.bar_words import WORDS, Spans, legend
from qiming_tui.model.window import State
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.spans import cells, strip_of
from qiming_tui.tui.widgets.budget_rows import (
    bar_row,
    layout_of,
    name_of,
    offer_row,
    one_row,
    top_row,
    under_row,
)

LOW: Final = 16
"""Screens with fewer rows have one row of this bar."""
LEGEND: Final = (100, 30)
"""Columns and rows from which on there is a legend."""

_PREFIX: Final = "budget-bar--"
_PLAIN: Final = (
    *("text", "strong", "muted", "faint", "limit", "warn", "letter", "more", "track", "next", "reserve"),
    *("reserve-word", "reserve-next", "tick", "tick-over", "hollow", "tick-arrow", "cached", "chip"),
    *("key", "act", "ctx"),
)
_STATES: Final = {
    State.UNKNOWN: "unknown",
    State.FULL: "full",
    State.OVER: "over",
    State.LAST_TURN: "near",
    State.NEAR: "near",
    State.OK: "ok",
}


class BudgetBar(Widget, can_focus=True):
    """Three rows; a fourth (the legend) from 100 columns and 30 rows on; one where the screen is very low."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(_PREFIX + name for name in _PLAIN),
        *(f"{_PREFIX}seg-{name_of(letter)}" for letter in ORDER),
        *(f"{_PREFIX}edge-{name_of(letter)}" for letter in ORDER),
        *(f"{_PREFIX}pill-{state}" for state in _STATES.values()),
        *(f"{_PREFIX}percent-{state}" for state in _STATES.values()),
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "offer('compact')", "compact now", id="budget.compact"),
        Binding("f", "offer('focus')", "with focus", id="budget.focus"),
        Binding("x", "offer('clear')", "clear results", id="budget.clear"),
        Binding("d", "offer('defer')", "defer once", id="budget.defer"),
        Binding("a", "offer('auto')", "auto off, on", id="budget.auto"),
    ]

    data: reactive[BarData | None] = reactive(None)
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Picked(Message):
        """A class was clicked."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    class Act(Message):
        """An offer of the last row was taken: compact, focus, clear, defer or auto."""

        def __init__(self, act: str) -> None:
            super().__init__()
            self.act = act

    _made: tuple[tuple[object, ...], list[Spans]] | None = None

    def show(self, data: BarData) -> None:
        """Show other data."""
        before = self._acts()
        self.data = data
        if self._acts() != before:
            self.refresh_bindings()

    def _acts(self) -> frozenset[str]:
        """What is offered now."""
        data = self.data
        return frozenset(offer.act for offer in data.offers) if data and self.offering else frozenset()

    @property
    def letters(self) -> bool:
        """Whether classes are drawn as letters: in ASCII, and where all colours are greys."""
        return self.glyphs.letters or self.app.no_color

    @property
    def offering(self) -> bool:
        """Whether the last row offers what can be done."""
        data = self.data
        urgent = data is not None and data.state in (State.LAST_TURN, State.OVER, State.FULL)
        return urgent and data is not None and bool(data.offers)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row, three or four, by the size of the screen."""
        if viewport.height < LOW:
            return 1
        return 4 if viewport.width >= LEGEND[0] and viewport.height >= LEGEND[1] else 3

    def rows(self) -> list[Spans]:
        """The rows as they are shown now."""
        data, size = self.data, self.size
        if data is None or size.width <= 0:
            return []
        key = (data, size, self.glyphs, self.letters, self.has_focus)
        if self._made is None or self._made[0] != key:
            self._made = (key, self._make(data, size))
        return self._made[1]

    def _make(self, data: BarData, size: Size) -> list[Spans]:
        columns, letters = size.width, self.letters
        if size.height == 1:
            return [one_row(data, columns, self.glyphs, letters=letters)]
        held = layout_of(data, columns, self.glyphs, letters=letters)
        under = under_row(data, held, self.glyphs)
        found = [top_row(data, columns), bar_row(data, held, self.glyphs, letters=letters), under]
        last = offer_row(data, columns, focused=self.has_focus) if self.offering else None
        if size.height == 3:
            return [*found[:2], last] if last else found
        if held.tick is None:
            found[1] = (("track", " " * columns),)
        return [*found, last or legend(data, columns)]

    def render_line(self, y: int) -> Strip:
        """One row of the bar."""
        rows = self.rows()
        return strip_of(rows[y] if y < len(rows) else (), self.size.width, self._style)

    def _style(self, name: str) -> Style:
        if not name:
            return self.rich_style
        data = self.data
        if name in ("pill", "pill-number") and self.letters:
            name = "strong" if name == "pill-number" else "text"
        elif name in ("pill", "pill-number") and data is not None:
            kind = "percent" if name == "pill-number" else "pill"
            name = f"{kind}-{_STATES[data.state]}"
        kind, _, rest = name.partition("-")
        if kind in ("key", "act"):
            name = kind
        elif kind == "chip":
            name = "letter" if self.letters else f"seg-{name_of(rest)}" if rest in ORDER else "chip"
        return self.get_component_rich_style(_PREFIX + name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An offer's key works while it is offered."""
        if action == "offer":
            return parameters[0] in self._acts()
        return True

    def action_offer(self, act: str) -> None:
        """Take an offer."""
        self.post_message(self.Act(act))

    def on_click(self, event: events.Click) -> None:
        """A click on an offer takes it, one on a class picks the class."""
        name, letter = self._at(event)
        kind, _, act = name.partition("-")
        if kind in ("key", "act"):
            self.post_message(self.Act(act))
        elif letter:
            self.post_message(self.Picked(letter))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The exact numbers of what the pointer is on."""
        _, letter = self._at(event)
        data = self.data
        words = ""
        if data is not None and letter:
            words = f"{letter} {WORDS[letter]}: {dict(parts(data))[letter]:,} tokens"
        elif data is not None and data.usable is not None:
            words = f"{data.count:,} of {data.usable:,} usable, {data.window:,} in all ({data.basis.value})"
        self.tooltip = Content(words) if words else None

    def _at(self, event: events.MouseEvent) -> tuple[str, str]:
        """(style name of the span, class letter) at a place; empty where there is none."""
        data, place = self.data, event.get_content_offset(self)
        rows = self.rows()
        if data is None or place is None or place.y >= len(rows):
            return "", ""
        if place.y == 1 and data.usable is not None:
            held = layout_of(data, self.size.width, self.glyphs, letters=self.letters).at(place.x)
            return "", held.letter if held is not None else ""
        end, letter = 0, ""
        for name, text in rows[place.y]:
            if name.startswith("chip-"):
                letter = name.removeprefix("chip-")
            elif not name:
                letter = ""
            end += cells([(name, text)])
            if place.x < end:
                return name, letter if letter in ORDER else ""
        return "", ""
