"""The application: opens a session, carries out what the screen wishes, leaves the terminal as it was."""

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.css.query import NoMatches

from qiming_tui.model.errors import QimingError
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tui import keys
from qiming_tui.tui.actions import Actions
from qiming_tui.tui.bridge import Bridge
from qiming_tui.tui.commands import BY_ID
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.guard import Guard
from qiming_tui.tui.history import History
from qiming_tui.tui.messages import Deltas, SessionEvent, ViewChanged
from qiming_tui.tui.palette import CommandProvider
from qiming_tui.tui.paste import Draft
from qiming_tui.tui.presenter import Presenter
from qiming_tui.tui.screens.main import MainScreen
from qiming_tui.tui.source import Farewell, Play, Source
from qiming_tui.tui.styles import stylesheets
from qiming_tui.tui.theme import DARK, THEMES
from qiming_tui.tui.widgets.conversation import clip
from qiming_tui.tui.widgets.conversation.view import Conversation
from qiming_tui.tui.widgets.permission import PermissionPanel
from qiming_tui.tui.widgets.prompt import Prompt
from qiming_tui.tui.widgets.prompt_bar import PromptBar
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip
from qiming_tui.tui.widgets.which_key import WhichKey

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker

TITLE: Final = "qiming"


class QimingApp(App[Farewell | None]):
    """The full screen."""

    TITLE = TITLE
    CSS_PATH: ClassVar[list[str | PurePath]] = list(stylesheets())
    BINDINGS: ClassVar[list[BindingType]] = keys.APP
    COMMANDS = {CommandProvider}

    def __init__(
        self,
        source: Source,
        *,
        prompt: str | None = None,
        play: Play | None = None,
        glyphs: Glyphs = FULL,
        theme: str = DARK,
        history: History | None = None,
        drafts: Drafts | None = None,
    ) -> None:
        super().__init__()
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme
        self.source = source
        self._first = prompt
        self._play = play
        self.main = MainScreen(glyphs=glyphs, history=history, drafts=drafts)
        self.session: Worker | None = None
        self.presenter: Presenter | None = None
        self._bridge: Bridge | None = None
        self._waiting: list[tuple[Draft, bool]] = []
        self._actions = Actions(self)
        self.guard: Guard | None = None
        """Takes the signals once the screen is there; None: somebody else does (tests)."""

    async def on_mount(self) -> None:
        """The first frame holds the whole screen; the session is opened behind it."""
        await self.push_screen(self.main)
        if self.guard is not None:
            self.guard.arm(lambda code: self.exit(self.farewell(), return_code=code))
        self._open()

    @work(group="session", exclusive=True)
    async def _open(self) -> None:
        """Open the first session; without one, say what can be done."""
        try:
            worker = await self.source.open()
        except QimingError as error:
            self.tell(error)
            return
        self.adopt(worker)
        if self._first:
            await worker.submit(self._first)
        for draft, steer in self._waiting:
            await self._send(draft, steer=steer)
        self._waiting.clear()
        if self._play is not None:
            await self._play(worker)

    def adopt(self, worker: "Worker") -> None:
        """Show another session."""
        if self._bridge is not None:
            self._bridge.close()
        self.session = worker
        self.presenter = Presenter(self.main, worker)
        self.presenter.load()
        self.main.prompt_bar.open_session(worker.ctx.session_id)
        self._bridge = Bridge(worker, self.post_message)
        self._bridge.refresh()

    def tell(self, error: QimingError) -> None:
        """Say what went wrong and what to do."""
        words = clean(f"{error}\n{error.hint}".strip())[0]
        self.notify(words, severity="error", timeout=10, markup=False)

    def farewell(self) -> Farewell | None:
        """What is printed after the screen has gone."""
        if self.session is None or self.presenter is None:
            return None
        return Farewell(
            session_id=self.session.ctx.session_id,
            prompt=self.presenter.last_prompt,
            answer=self.presenter.last_answer,
        )

    # -- from the session --------------------------------------------------------------------------------

    @on(SessionEvent)
    def _event(self, message: SessionEvent) -> None:
        if self.presenter is not None:
            self.presenter.event(message.event)

    @on(Deltas)
    def _deltas(self, message: Deltas) -> None:
        if self.presenter is not None:
            self.presenter.deltas(message.texts)

    @on(ViewChanged)
    def _view(self, message: ViewChanged) -> None:
        if self.presenter is not None:
            self.presenter.view(message.view, message.rows)

    # -- from the prompt and the question ----------------------------------------------------------------

    @on(Prompt.Changed)
    def _draft(self, message: Prompt.Changed) -> None:
        self.main.show_draft(message.draft.tokens())
        self.main.question.note_typing()

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        if self.session is None:
            self._waiting.append((message.draft, message.steer))
            self.main.prompt_bar.say("waits until the session is open")
            return
        await self._send(message.draft, steer=message.steer)

    async def _send(self, draft: Draft, *, steer: bool) -> None:
        worker = self.session
        if worker is None:
            return
        try:
            await (worker.steer(draft.full) if steer else worker.submit(draft.full))
        except QimingError as error:
            self.main.prompt_bar.restore(draft)
            self.tell(error)

    @on(Prompt.Called)
    async def _called(self, message: Prompt.Called) -> None:
        await self._actions.run(message.command.id, message.argument)

    @on(Prompt.Shell)
    def _shell(self, message: Prompt.Shell) -> None:
        self._actions.shell(message.command)

    @on(PromptBar.StopRequested)
    def _stop(self) -> None:
        if self.session is not None:
            self.session.abort()

    @on(Prompt.QuitRequested)
    def _quit(self) -> None:
        self.exit(self.farewell())

    @on(PermissionPanel.Answered)
    def _answered(self, message: PermissionPanel.Answered) -> None:
        if self.session is None:
            return
        try:
            self.session.answer(message.request_id, message.reply, message.reason)
        except QimingError as error:
            self.tell(error)
        self.main.set_focus(self.main.prompt_bar.prompt)

    @on(PermissionPanel.Passed)
    def _passed(self, message: PermissionPanel.Passed) -> None:
        self.main.prompt_bar.write(message.text)

    # -- from the conversation and the timeline ----------------------------------------------------------

    @on(Conversation.BodyWanted)
    async def _body(self, message: Conversation.BodyWanted) -> None:
        if self.presenter is not None:
            await self.presenter.bring_back(message.block_id)

    @on(Conversation.CopyWanted)
    async def _copy(self, message: Conversation.CopyWanted) -> None:
        await self.copy(message.text)

    @on(Conversation.LinkWanted)
    def _link(self, message: Conversation.LinkWanted) -> None:
        self.notify(one_line(message.href, limit=300), title="link (not opened)", timeout=10, markup=False)

    @on(TimelineStrip.Jump)
    def _jump(self, message: TimelineStrip.Jump) -> None:
        if message.message_id is not None:
            self.main.conversation.go_to(message.message_id)

    async def copy(self, text: str) -> None:
        """Send a text to the clipboard and say what happened."""
        driver = self._driver
        if driver is not None:
            self.main.prompt_bar.say(await clip.copy(text, env=os.environ, write=driver.write))

    # -- actions -----------------------------------------------------------------------------------------

    async def action_command(self, command_id: str) -> None:
        """Every route of a command ends here."""
        await self._actions.run(command_id, "")

    def action_escape(self) -> None:
        """Esc that no widget took."""
        self.main.prompt_bar.escape()

    def action_interrupt(self) -> None:
        """^C that no widget took."""
        self.main.prompt_bar.interrupt()

    def action_answer(self, reply: str) -> None:
        """A chord that answers the open question from the prompt."""
        self.main.question.answer(reply)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The chords of a question are off while none is open."""
        if action == "answer":
            try:
                return self.main.question.question is not None
            except NoMatches:
                return False
        return True

    @work
    async def action_leader(self) -> None:
        """The leader key: a strip says what may follow."""
        command = await self.push_screen_wait(WhichKey(keys.leader_table()))
        if command is not None:
            await self._actions.run(BY_ID[command.id].id, "")

    async def close(self) -> None:
        """End the session and its processes."""
        if self._bridge is not None:
            self._bridge.close()
        await self.source.close()
