"""The open question, inline above the prompt, guarded against keys that were meant for something else.

Its keys sleep for 400 ms after it appears and while the draft is being typed in; letters go on into the draft
meanwhile and only the chords ^Y and ^N answer. When the typing stops it takes the focus (`ux.md` 3.3).
"""

import time
from collections.abc import Callable
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from qiming_tui.tui import keys
from qiming_tui.tui.asking import Question
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.widgets.edge import Edge
from qiming_tui.tui.widgets.looks import look
from qiming_tui.tui.widgets.permission_lines import PermissionHead, PermissionKeys, detail_lines

DEAF_S: Final = 0.4
"""After a question has appeared."""
TYPING_S: Final = 1.0
"""After the draft was edited."""


class PermissionDetail(VerticalScroll, can_focus=False):
    """The diff or the whole command, scrolled with up and down."""

    COMPONENT_CLASSES = {"permission--add", "permission--remove"}


class PermissionPanel(Widget, can_focus=True):
    """Asks one question after the other; the next one waits until the first is answered."""

    BINDINGS = keys.PERMISSION

    class Answered(Message):
        """The person has answered: once, session, always or no."""

        def __init__(self, request_id: str, reply: str, reason: str = "") -> None:
            super().__init__()
            self.request_id = request_id
            self.reply = reply
            self.reason = reason

    class Passed(Message):
        """Something was typed that is no answer: it belongs to the draft."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    head = query_one(PermissionHead)
    key_row = query_one(PermissionKeys)
    detail = query_one(PermissionDetail)
    reason = query_one(Input)
    edge = query_one(Edge)

    glyphs: reactive[Glyphs] = reactive(FULL)
    awake: reactive[bool] = reactive(False)
    """Whether letters answer."""
    sure: reactive[bool] = reactive(False)
    """Whether "always" waits for Enter."""

    def __init__(self, *, clock_s: Callable[[], float] = time.monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock_s = clock_s
        self._asked: list[Question] = []
        self._shown_at = 0.0
        self._typed_at = float("-inf")
        self._timer: Timer | None = None
        self._before: Widget | None = None

    def compose(self) -> ComposeResult:
        """Edge, two lines, detail, reason, keys."""
        yield Edge()
        yield PermissionHead()
        with PermissionDetail():
            yield Static(markup=False)
        yield Input(placeholder="no, because ...   enter refuses, esc goes back")
        yield PermissionKeys()

    # -- what the application says -----------------------------------------------------------------------

    @property
    def question(self) -> Question | None:
        """The question that is shown."""
        return self._asked[0] if self._asked else None

    def ask(self, question: Question) -> None:
        """Show it, or let it wait behind the one that is shown; asked again, it is renewed."""
        ids = [held.request_id for held in self._asked]
        if question.request_id in ids:
            self._asked[ids.index(question.request_id)] = question
            self._paint()
            return
        self._asked.append(question)
        if len(self._asked) == 1:
            self._open()
        else:
            self._paint()

    def withdraw(self, request_id: str) -> None:
        """It was answered elsewhere, or its turn was stopped."""
        first = self.question
        self._asked = [held for held in self._asked if held.request_id != request_id]
        if first is not self.question:
            self._open()
        else:
            self._paint()

    def note_typing(self) -> None:
        """The draft was edited: letters belong to it for a second."""
        self._typed_at = self._clock_s()
        if self._asked and not self.has_focus_within:
            self.awake = False
            self._sleep()

    def answer(self, reply: str, reason: str = "") -> bool:
        """Answer the question that is shown, also while the draft is typed in: for chords and clicks.

        False, and nothing done, when there is none or it has only just appeared.
        """
        question = self.question
        if question is None or self._clock_s() < self._shown_at + DEAF_S:
            return False
        self.post_message(self.Answered(question.request_id, reply, reason))
        self.withdraw(question.request_id)
        return True

    # -- the guard ---------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Take the focus and the letters, if nobody has typed lately; else look again later."""
        self._timer = None
        if not self._asked:
            return
        if self._deaf_s() > 0:
            self._sleep()
            return
        self.awake = True
        if self.screen.is_current and not self.has_focus_within:
            self._before = self.screen.focused
            self.screen.set_focus(self)

    def _deaf_s(self) -> float:
        """So long the keys sleep on."""
        now = self._clock_s()
        return max(self._shown_at + DEAF_S - now, self._typed_at + TYPING_S - now)

    def _sleep(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(max(0.01, self._deaf_s()), self.wake)

    def _open(self) -> None:
        """Show the first question, or go when there is none."""
        self.awake = self.sure = False
        self._shown_at = self._clock_s()
        self._close_reason()
        self.detail.display = False
        self.display = bool(self._asked)
        if self._asked:
            self._paint()
            self._sleep()
            return
        if self.has_focus_within or self.screen.focused is None:
            back = self._before
            self.screen.set_focus(back if back is not None and back.is_attached else None)
        self._before = None

    # -- keys --------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Letters that are no answer go on into the draft; Enter does nothing by accident."""
        if self.reason.has_focus:
            return
        active = self.screen.active_bindings.get(event.key)
        ours = active is not None and active.node is self
        if self.awake and ours:
            return
        if event.is_printable and event.character is not None:
            event.stop()
            self._typed_at = self._clock_s()
            self.awake = False
            self.post_message(self.Passed(event.character))
            self._sleep()
        elif ours and event.key != "escape":
            event.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Asleep, the question has no keys but Esc in the reason's field."""
        if action in ("reply", "confirm", "reason", "full", "scroll"):
            return self.awake
        return True

    def action_reply(self, reply: str) -> None:
        """Answer; "always" waits for Enter, Esc first goes one step back."""
        question = self.question
        if question is None:
            return
        if reply == "no" and (self.sure or self.reason.display):
            self.sure = False
            self._close_reason()
        elif reply == "always" and question.always:
            self.sure = True
        elif reply in ("once", "no") or (reply == "session" and question.always):
            self.answer(reply)

    def action_confirm(self) -> None:
        """Enter: the second half of "always", and nothing else."""
        if self.sure:
            self.answer("always")

    def action_reason(self) -> None:
        """No, with words for the model."""
        if self.question is None or self.question.heading:
            return
        self.sure = False
        self.reason.display = True
        self.screen.set_focus(self.reason)

    def action_full(self) -> None:
        """Show or hide the whole diff or command."""
        self.detail.display = not self.detail.display

    def action_scroll(self, rows: int) -> None:
        """Scroll the detail."""
        self.detail.scroll_relative(y=rows, animate=False)

    @on(Input.Submitted)
    def _refused(self, event: Input.Submitted) -> None:
        event.stop()
        self.answer("no", event.value.strip())

    @on(PermissionKeys.Clicked)
    def _clicked(self, event: PermissionKeys.Clicked) -> None:
        event.stop()
        match event.reply:
            case "reason":
                self.awake = True
                self.action_reason()
            case "always":
                self.awake = self.sure = True
                self.screen.set_focus(self)
            case "sure":
                self.answer("always")
            case "back":
                self.sure = False
            case reply:
                self.answer(reply)

    # -- paint -------------------------------------------------------------------------------------------

    def watch_awake(self) -> None:
        """Other keys are shown."""
        self._paint()
        self.refresh_bindings()

    def watch_sure(self) -> None:
        """Ask for Enter."""
        self._paint()

    def watch_glyphs(self) -> None:
        """Other signs."""
        self.edge.glyphs = self.head.glyphs = self.glyphs

    def _paint(self) -> None:
        question = self.question
        if question is None or not self.is_mounted:
            return
        self.head.show(question, waiting=len(self._asked) - 1)
        self.key_row.show(question, awake=self.awake, sure=self.sure)
        add = look(self.detail, "permission--add")
        remove = look(self.detail, "permission--remove")
        text = question.detail or question.command
        self.detail.query_one(Static).update(detail_lines(text, add=add, remove=remove))

    def _close_reason(self) -> None:
        inside = self.reason.has_focus
        self.reason.value = ""
        self.reason.display = False
        if inside:
            self.screen.set_focus(self)
