"""The timeline as a strip: digits, events, a cursor with a read-out in words (`ux.md` 5.2, 5.6)."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.strip import StepMark
from qiming_tui.context.strip_cells import next_event, next_turn, stepped
from qiming_tui.context.strip_words import spoken
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.spans import strip_of
from qiming_tui.tui.widgets.strip_rows import (
    Layout,
    digit_row,
    event_row,
    layout,
    readout_row,
    rule_row,
    said_row,
)

LOW: Final = 16
"""Screens with fewer rows have no strip."""
TALL: Final = 30
"""Screens with at least so many rows keep one for the read-out; below, it takes the rule's place while the
strip has the focus."""

_PREFIX: Final = "timeline-strip--"
_NAMES: Final = (
    *("rule", "key", "key-focus", "strong", "text", "muted", "faint", "warn", "line", "cursor"),
    *("live", "live-cursor", "archived", "archived-cursor", "limit", "limit-cursor"),
    *("event", "event-cursor", "error", "error-cursor"),
)


class TimelineStrip(Widget, can_focus=True):
    """Three rows, four on a tall screen, none on a very low one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + name for name in _NAMES}

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("strip.jump", "enter", "jump", "jump", show=True),
        bind("strip.left", "h,left", "step(-1)", "step back"),
        bind("strip.right", "l,right", "step(1)", "step on"),
        bind("strip.event_left", "left_square_bracket", "event(-1)", "event back"),
        bind("strip.event_right", "right_square_bracket", "event(1)", "next event", show=True),
        bind("strip.turn_left", "left_curly_bracket", "turn(-1)", "turn back"),
        bind("strip.turn_right", "right_curly_bracket", "turn(1)", "next turn", show=True),
        bind("strip.first", "home", "first", "first step"),
        bind("strip.last", "dollar_sign,end,F", "last", "newest step, follow"),
        bind("strip.go", "g", "go", "go to a step"),
        bind("strip.zoom", "plus,z", "app.command('chart')", "in full"),
        # Digits are bindings too: a key that is no binding overtakes one that is.
        *(
            Binding(
                f"{digit}", f"digit({digit})", "a step's number", id=f"strip.{digit}", show=False, system=True
            )
            for digit in range(10)
        ),
        bind("strip.undigit", "backspace", "undigit", "take a digit back"),
        bind("strip.leave", "escape", "leave", "leave the number"),
    ]

    marks: reactive[tuple[StepMark, ...]] = reactive(())
    cursor: reactive[int | None] = reactive(None)
    """Number of a step; None: the newest one, whichever that is."""
    going: reactive[str | None] = reactive(None)
    """Digits typed after `g`; None: none is asked for."""
    glyphs: reactive[Glyphs] = reactive(FULL)

    class Jump(Message):
        """The conversation is to show this step."""

        def __init__(self, step: int, message_id: str | None) -> None:
            super().__init__()
            self.step = step
            self.message_id = message_id

    _start = 0
    _made: tuple[tuple[object, ...], list[Spans]] | None = None

    def show(self, marks: Sequence[StepMark], cursor: int | None = None) -> None:
        """Show other steps. `cursor` None leaves the cursor: on the newest step, or where it was put."""
        self.marks = tuple(marks)
        if cursor is not None:
            self.cursor = cursor

    @property
    def focusable(self) -> bool:
        """Only what can be seen takes the focus."""
        return super().focusable and self.size.height > 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Rows by the height of the screen."""
        return 0 if viewport.height < LOW else 4 if viewport.height >= TALL else 3

    def held(self) -> Layout:
        """Which steps are shown where; keeps the place when the cursor stays inside."""
        found = layout(self.marks, self.cursor, start=self._start, width=self.size.width)
        self._start = found.start
        return found

    def rows(self) -> list[Spans]:
        """The rows as they are shown now."""
        if self.size.width <= 0:
            return []
        letters = self.glyphs.letters or self.app.no_color
        key = (self.marks, self.cursor, self.going, self.glyphs, letters, self.size, self.has_focus)
        if self._made is None or self._made[0] != key:
            self._made = (key, self._make(self.held(), letters=letters))
        return self._made[1]

    def _make(self, held: Layout, *, letters: bool) -> list[Spans]:
        glyphs, focused, tall = self.glyphs, self.has_focus, self.size.height > 3
        top = said_row(held, glyphs, self.going) if focused and not tall else None
        found = [top or rule_row(held, glyphs, focused=focused), digit_row(held, glyphs, focused=focused)]
        found.append(event_row(held, glyphs, letters=letters))
        if tall:
            found.append(readout_row(held, glyphs, self.going, focused=focused))
        return found

    def render_line(self, y: int) -> Strip:
        """One row."""
        rows = self.rows()
        return strip_of(rows[y] if y < len(rows) else (), self.size.width, self._style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(_PREFIX + name) if name else self.rich_style

    def on_blur(self) -> None:
        """What was not finished is forgotten."""
        self.going = None

    def _to(self, step: int) -> None:
        self.going = None
        self.cursor = None if step >= self.marks[-1].step else step

    def _move(self, place: int) -> None:
        if self.marks:
            self._to(self.marks[place].step)

    def action_step(self, by: int) -> None:
        """A step to the left or right."""
        self._move(stepped(self.marks, self.held().cursor, by))

    def action_event(self, by: int) -> None:
        """To the nearest step at which something happened."""
        self._move(next_event(self.marks, self.held().cursor, by))

    def action_turn(self, by: int) -> None:
        """To the begin of a turn."""
        self._move(next_turn(self.marks, self.held().cursor, by))

    def action_first(self) -> None:
        """To the first step."""
        self._move(0)

    def action_last(self) -> None:
        """To the newest step, and along with it."""
        self.going = self.cursor = None

    def action_go(self) -> None:
        """Ask for a step's number."""
        if self.marks:
            self.going = ""

    def action_digit(self, digit: int) -> None:
        """A digit of the number; 0 alone is the first step."""
        if self.going is None and not digit:
            self.action_first()
        elif self.marks:
            self.going = f"{self.going or ''}{digit}"[:6]

    def action_undigit(self) -> None:
        """Take the last digit back."""
        if self.going:
            self.going = self.going[:-1]

    def action_leave(self) -> None:
        """Forget the number; without one the key is the application's."""
        if self.going is None:
            raise SkipAction
        self.going = None

    def action_jump(self) -> None:
        """Go to the number that was typed, else let the conversation show the step."""
        if self.going:
            self._to(min(int(self.going), self.marks[-1].step))
        elif self.going is not None:
            self.going = None
        elif self.marks:
            mark = self.marks[self.held().cursor]
            self.post_message(self.Jump(mark.step, mark.message_id))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, one on the cursor jumps."""
        held = self.held()
        place = self._at(event, held)
        if place is None:
            return
        if place == held.cursor:
            self.action_jump()
        else:
            self._move(place)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The exact numbers of the step that the pointer is on."""
        place = self._at(event, self.held())
        self.tooltip = Content(spoken(self.marks[place])) if place is not None else None

    def _at(self, event: events.MouseEvent, held: Layout) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y not in (1, 2):
            return None
        return held.place_at(offset.x)
