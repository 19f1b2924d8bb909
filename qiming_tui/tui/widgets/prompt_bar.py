"""The prompt's place: accent edge, sign, text, the line under it, and the menu above it.

It decides what Esc and ^C mean when nothing nearer takes them, and keeps the drafts. Whatever arms a second
press is on the screen for as long as it is armed.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import msgspec
from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from qiming_tui.model.errors import InputError
from qiming_tui.tui.complete import FileIndex, Menu
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.editor import edit
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.history import History
from qiming_tui.tui.paste import Draft
from qiming_tui.tui.prompt_note import PromptStatus, Run, line
from qiming_tui.tui.widgets.edge import Edge
from qiming_tui.tui.widgets.looks import look
from qiming_tui.tui.widgets.menu_list import MenuList
from qiming_tui.tui.widgets.prompt import Prompt
from qiming_tui.tui.widgets.saying import Said

ARMED_S: Final = 2.0
SAID_S: Final = 4.0
SAVE_S: Final = 0.5
"""A draft is saved so long after it was changed."""
ASK: Final = "Ask, /command, @file"
QUEUE: Final = "Queue a message, it is sent when this turn ends"
SHELL: Final = "!"
SEARCH: Final = "?"
FIND: Final = "type to find an older message   enter takes it   esc goes back"


class Sign(Widget):
    """The sign before the text."""

    sign: reactive[str] = reactive(FULL.prompt)

    def render(self) -> Content:
        """The sign."""
        return Content(self.sign)


class Note(Widget):
    """The line under the text: a hint while there is one, else what the status says."""

    COMPONENT_CLASSES = {
        "note--label",
        "note--value",
        "note--warning",
        "note--running",
        "note--limit",
    }
    status: reactive[PromptStatus] = reactive(PromptStatus())
    hint: reactive[str] = reactive("")

    def __init__(self, clock_s: Callable[[], float] | None = None) -> None:
        super().__init__()
        self._clock_s = clock_s
        self._begun_s = 0.0
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Seconds are told once a second, while something is being done."""
        self._timer = self.set_interval(1.0, self.refresh, pause=not self.status.doing)

    def watch_status(self, before: PromptStatus, status: PromptStatus) -> None:
        """Count from where another thing was begun."""
        if self._clock_s is None or before.doing == status.doing:
            return
        self._begun_s = self._clock_s()
        if self._timer is not None:
            (self._timer.resume if status.doing else self._timer.pause)()

    def render(self) -> Content:
        """As much as fits."""
        status = self.status
        if self._clock_s is not None and status.doing:
            elapsed = int(self._clock_s() - self._begun_s)
            status = msgspec.structs.replace(status, elapsed_s=elapsed or None)
        runs: list[Run] = [(self.hint, "warning")] if self.hint else []
        runs = runs or line(status, width_cells=self.size.width)
        return Content.assemble(*((text, look(self, f"note--{tone}")) for text, tone in runs))


class PromptBar(Widget):
    """Everything about the prompt, to be mounted once."""

    class StopRequested(Message):
        """Stop the turn that is under way."""

    prompt = query_one(Prompt)
    note = query_one(Note)
    menu_list = query_one(MenuList)
    edge = query_one(Edge)
    sign = query_one(Sign)

    status: reactive[PromptStatus] = reactive(PromptStatus())
    glyphs: reactive[Glyphs] = reactive(FULL)

    def __init__(
        self,
        *,
        history: History | None = None,
        drafts: Drafts | None = None,
        files: FileIndex | None = None,
        editor: Callable[[str], str] | None = None,
        armed_s: float = ARMED_S,
        clock_s: Callable[[], float] | None = None,
        id: str | None = None,
    ) -> None:
        """`clock_s` counts the seconds of what is being done; None: they are not shown."""
        super().__init__(id=id)
        self._clock_s = clock_s
        self._history = history or History()
        self._drafts = drafts or Drafts()
        self._files = files
        self._editor = editor or partial(edit, env=os.environ)
        self._armed_s = armed_s
        self._armed: Literal["", "stop", "quit"] = ""
        self._session = ""
        self._latest = Draft()
        self._hint_timer: Timer | None = None
        self._save_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Edge, sign, text; the line below; the menu floats above."""
        yield MenuList()
        yield Edge()
        with Horizontal(id="prompt-rows"):
            yield Sign()
            yield Prompt(history=self._history, files=self._files)
        yield Note(self._clock_s)

    # -- what the application says -----------------------------------------------------------------------

    def show(self, status: PromptStatus) -> None:
        """Show another status."""
        self.status = status

    def open_session(self, session_id: str) -> None:
        """Keep the draft under this session from now on; the stored one comes back into an empty prompt."""
        if session_id == self._session:
            return
        if self._session:
            self.save()
            self.prompt.load(self._drafts.load(session_id))
        elif not self.prompt.text:
            self.prompt.load(self._drafts.load(session_id))
        self._session = session_id

    def restore(self, draft: Draft) -> None:
        """Bring back what could not be sent, before what has been written since."""
        kept = self.prompt.draft
        self.prompt.load(draft)
        if kept.text:
            self.prompt.write("\n" + kept.full)

    def write(self, text: str) -> None:
        """Type this: keys that another widget passed on."""
        self.screen.set_focus(self.prompt)
        self.prompt.write(text)

    def escape(self) -> bool:
        """Esc that nothing nearer took: disarm the quit, arm the stop, stop. Whether it meant anything."""
        if not self.status.busy:
            armed = bool(self._armed)
            self._disarm()
            return armed
        if self._armed == "stop":
            self._disarm()
            self.post_message(self.StopRequested())
        else:
            self._arm("stop", "Esc again to stop")
        return True

    def interrupt(self) -> None:
        """^C with nothing selected: stop, else clear the draft, else arm the end of the program."""
        if self.status.busy:
            self._disarm()
            self.post_message(self.StopRequested())
        elif self.prompt.text:
            self._history.keep(self.prompt.draft.trimmed())
            self.prompt.searching = False
            self.prompt.load(Draft())
            self.say("cleared; up brings it back")
        elif self._armed == "quit":
            self._disarm()
            self.post_message(Prompt.QuitRequested())
        else:
            self._arm("quit", "^C again to quit")

    def say(self, words: str, *, seconds_s: float = SAID_S) -> None:
        """Show a short sentence for a while."""
        self._armed = ""
        self.note.hint = words
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(seconds_s, self._disarm)

    def save(self) -> None:
        """Write the draft of the open session now."""
        if self._save_timer is not None:
            self._save_timer.stop()
            self._save_timer = None
        if self._session:
            try:
                self._drafts.save(self._session, self.prompt.draft)
            except OSError as error:
                self.say(f"the draft could not be saved: {error.strerror}")

    # -- what happens below ------------------------------------------------------------------------------

    @on(Prompt.Changed)
    def _changed(self, event: Prompt.Changed) -> None:
        if self._armed:
            self._disarm()
        self._show_sign()
        self._latest = event.draft
        if self._save_timer is None:
            self._save_timer = self.set_timer(SAVE_S, self.save)

    @on(Prompt.Submitted)
    def _submitted(self) -> None:
        self.save()

    @on(Said)
    def _said(self, event: Said) -> None:
        event.stop()
        self.say(event.words)

    @on(MenuList.Picked)
    def _picked(self, event: MenuList.Picked) -> None:
        event.stop()
        self.screen.set_focus(self.prompt)
        self.prompt.choose(event.index)

    @on(Prompt.EditorWanted)
    def _open_editor(self, event: Prompt.EditorWanted) -> None:
        event.stop()
        self.run_worker(self._edit(), group="editor", exclusive=True)

    async def _edit(self) -> None:
        """The session goes on in its thread of the loop while the editor has the terminal."""
        before = self.prompt.draft
        after, failed = before.full, ""
        try:
            with self.app.batch_update(), self.app.suspend():
                try:
                    after = await asyncio.to_thread(self._editor, before.full)
                except InputError as error:
                    failed = f"{error}; {error.hint}" if error.hint else str(error)
        except SuspendNotSupported:
            failed = "this terminal cannot be handed to an editor"
        if failed:
            self.say(failed)
        elif after != before.full:
            self.prompt.load(Draft(after))

    def on_mount(self) -> None:
        """Follow the prompt's menu."""
        self.watch(self.prompt, "menu", self._show_menu)
        self.watch(self.prompt, "searching", self._show_sign)

    def on_unmount(self) -> None:
        """Keep the draft; `save` was the application's chance to tell that it cannot be kept."""
        if self._files is not None:
            self._files.close()
        if self._session and self._save_timer is not None:
            with contextlib.suppress(OSError):
                self._drafts.save(self._session, self._latest)

    def watch_status(self, status: PromptStatus) -> None:
        """Show it; a stop is not armed when nothing runs any more."""
        if not status.busy and self._armed == "stop":
            self._disarm()
        self.note.status = status
        self._show_sign()

    def watch_glyphs(self, glyphs: Glyphs) -> None:
        """Other signs."""
        self.edge.glyphs = glyphs
        self.menu_list.glyphs = glyphs
        self._show_sign()

    def _show_menu(self, menu: Menu | None) -> None:
        self.menu_list.menu = menu

    def _show_sign(self) -> None:
        prompt = self.prompt
        shell = prompt.text.startswith(SHELL) and not prompt.searching
        self.sign.sign = SEARCH if prompt.searching else SHELL if shell else self.glyphs.prompt
        words = FIND if prompt.searching else QUEUE if self.status.busy else ASK
        prompt.placeholder = Content(words)

    def _arm(self, what: Literal["stop", "quit"], words: str) -> None:
        self.say(f"{words} ({self._armed_s:g} s)", seconds_s=self._armed_s)
        self._armed = what

    def _disarm(self) -> None:
        self._armed = ""
        self.note.hint = ""
        if self._hint_timer is not None:
            self._hint_timer.stop()
            self._hint_timer = None
