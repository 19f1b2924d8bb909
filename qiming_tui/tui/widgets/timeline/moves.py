"""Where the cursor of the timeline goes: keys, and what they do."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message

from qiming_tui.context.strip_cells import next_event, next_turn
from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_layout import ZOOMS, Layout, moved
from qiming_tui.context.timeline_modes import Mode
from qiming_tui.context.timeline_words import place_of_label
from qiming_tui.tui.keys import bind

if TYPE_CHECKING:
    from qiming_tui.tui.widgets.timeline.rows import Scene

KEYS: Final[list[BindingType]] = [
    bind("chart.jump", "enter", "jump", "jump", show=True),
    bind("chart.event_right", "right_square_bracket", "event(1)", "next event", show=True),
    bind("chart.mode", "m", "mode", "mode", show=True),
    bind("chart.zoom_in", "plus", "zoom(1)", "zoom", show=True),
    bind("chart.zoom_out", "minus", "zoom(-1)", "zoom out"),
    bind("chart.left", "h,left", "step(-1)", "step back"),
    bind("chart.right", "l,right", "step(1)", "step on"),
    bind("chart.event_left", "left_square_bracket", "event(-1)", "event back"),
    bind("chart.turn_left", "left_curly_bracket", "turn(-1)", "turn back"),
    bind("chart.turn_right", "right_curly_bracket", "turn(1)", "next turn"),
    bind("chart.first", "home", "first", "first step"),
    bind("chart.last", "dollar_sign,end", "last", "newest step"),
    bind("chart.follow", "F", "follow", "follow, or pin"),
    bind("chart.live", "f", "live", "live window, or all"),
    bind("chart.go", "g", "go", "go to a step"),
    # Digits are bindings too: a key that is no binding overtakes one that is.
    *(
        Binding(
            f"{digit}", f"digit({digit})", "a step's number", id=f"chart.{digit}", show=False, system=True
        )
        for digit in range(10)
    ),
    bind("chart.undigit", "backspace", "undigit", "take a digit back"),
    bind("chart.next", "n", "hit(1)", "next found"),
    bind("chart.previous", "N", "hit(-1)", "found before"),
    bind("chart.leave", "escape", "leave", "leave the number"),
]
"""The keys of the timeline in full."""


class Moves:
    """The cursor, the zoom and the mode of a chart. `place` None follows the newest step."""

    columns: tuple[Column, ...]
    place: int | None = None
    zoom: int = 3
    zoomed: bool = False
    """Whether somebody chose the zoom."""
    mode: Mode = Mode.WINDOW
    live: bool = False
    going: str | None = None
    """Digits typed after `g`; None: none is asked for."""
    found: tuple[int, ...] = ()

    if TYPE_CHECKING:

        def scene(self) -> Scene: ...
        def held(self) -> Layout: ...
        def changed(self, before: Scene | None) -> None: ...
        def post_message(self, message: Message) -> bool: ...
        def bell(self) -> None: ...

        class Jump(Message):
            def __init__(self, column: Column) -> None: ...

    @property
    def cursor(self) -> int:
        """Place of the step that the cursor is on; -1: there is none."""
        last = len(self.columns) - 1
        return last if self.place is None else min(self.place, last)

    def move(self, place: int, *, follow: bool = False) -> None:
        """Put the cursor on a step; it stays there, unless it is to follow."""
        if not self.columns:
            return
        before = self.scene()
        self.going = None
        self.place = None if follow else max(self._first(), min(len(self.columns) - 1, place))
        self.changed(before)

    def _first(self) -> int:
        """The first step that is shown."""
        if not self.live:
            return 0
        return next((n for n, column in enumerate(self.columns) if column.mark.live), 0)

    def show_found(self, places: Sequence[int]) -> None:
        """Steps that a search has found; the cursor goes to the nearest from where it is."""
        before = self.scene()
        self.found = tuple(places)
        self.changed(before)
        if self.found:
            self.move(next((n for n in self.found if n >= self.cursor), self.found[0]))

    def action_step(self, by: int) -> None:
        """A column to the left or right."""
        self.move(moved(self.held(), self.cursor, by))

    def action_event(self, by: int) -> None:
        """To the nearest step at which something happened."""
        self.move(next_event([column.mark for column in self.columns], self.cursor, by))

    def action_turn(self, by: int) -> None:
        """To the begin of a turn."""
        self.move(next_turn([column.mark for column in self.columns], self.cursor, by))

    def action_hit(self, by: int) -> None:
        """To the next step that was found, round and round."""
        if not self.found:
            self.bell()
            return
        later = [n for n in self.found if (n > self.cursor if by > 0 else n < self.cursor)]
        self.move((later[0] if by > 0 else later[-1]) if later else self.found[0 if by > 0 else -1])

    def action_first(self) -> None:
        """To the first step."""
        self.move(0)

    def action_last(self) -> None:
        """To the newest step, and along with it."""
        self.move(0, follow=True)

    def action_follow(self) -> None:
        """Follow the newest step, or stay on this one."""
        self.move(self.cursor, follow=self.place is not None)

    def action_live(self) -> None:
        """The live window alone, or the whole history."""
        if not any(column.mark.live for column in self.columns):
            self.bell()
            return
        before = self.scene()
        self.live = not self.live
        if self.place is not None:
            self.place = max(self.place, self._first())
        self.changed(before)

    def action_mode(self) -> None:
        """Window, cost, cache, time."""
        before = self.scene()
        self.mode = self.mode.next
        self.changed(before)

    def action_zoom(self, by: int) -> None:
        """Wider columns, or narrower ones."""
        before = self.scene()
        self.zoomed = True
        self.zoom = ZOOMS[max(0, min(len(ZOOMS) - 1, ZOOMS.index(self.zoom) + by))]
        self.changed(before)

    def _typed(self, going: str | None) -> None:
        before = self.scene()
        self.going = going
        self.changed(before)

    def action_go(self) -> None:
        """Ask for a step's number."""
        if self.columns:
            self._typed("")

    def action_digit(self, digit: int) -> None:
        """A digit of the number; 0 alone is the first step."""
        if self.going is None and not digit:
            self.action_first()
        elif self.columns:
            self._typed(f"{self.going or ''}{digit}"[:6])

    def action_undigit(self) -> None:
        """Take the last digit back."""
        if self.going:
            self._typed(self.going[:-1])

    def action_leave(self) -> None:
        """Forget the number; without one the key is the screen's."""
        if self.going is None:
            raise SkipAction
        self._typed(None)

    def action_jump(self) -> None:
        """Go to the number that was typed, else let the conversation show the step."""
        if self.going:
            self.move(place_of_label(self.columns, int(self.going)))
        elif self.going is not None:
            self._typed(None)
        elif self.columns:
            self.post_message(self.Jump(self.columns[self.cursor]))
