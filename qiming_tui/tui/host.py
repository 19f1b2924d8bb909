"""The application's ground: one source, one session at a time, one main screen."""

import asyncio
import os
from collections.abc import Mapping
from importlib import import_module
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import App

from qiming_tui.model.errors import QimingError
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tui import keys
from qiming_tui.tui.asking import Question
from qiming_tui.tui.bridge import Bridge
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.guard import Guard
from qiming_tui.tui.history import History
from qiming_tui.tui.paste import Draft
from qiming_tui.tui.presenter import Presenter
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.screens.main import MainScreen
from qiming_tui.tui.screens.welcome import Way
from qiming_tui.tui.source import Farewell, Play, Source
from qiming_tui.tui.styles import stylesheets
from qiming_tui.tui.theme import DARK, THEMES
from qiming_tui.tui.widgets.conversation import clip

if TYPE_CHECKING:
    from qiming_tui.demo.pace import Pace
    from qiming_tui.session.watch import Watch
    from qiming_tui.session.worker import Worker

OPENING: Final = "qiming_tui.tui.opening"
"""Imported beside the screen, after the first frame, like all that a session needs."""


class Host(App[Farewell | None]):
    """Opens sessions and shows them; leaves the wishes of the screen to the class above."""

    TITLE = "qiming"
    CSS_PATH: ClassVar[list[str | PurePath]] = list(stylesheets())
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        source: Source,
        *,
        prompt: str | None = None,
        play: Play | None = None,
        pace: "Pace | None" = None,
        glyphs: Glyphs = FULL,
        theme: str = DARK,
        history: History | None = None,
        drafts: Drafts | None = None,
        files: FileIndex | None = None,
        keymap: Mapping[str, str] | None = None,
        native_cursor: bool = False,
        typed: str = "",
    ) -> None:
        """`keymap`: the user's own keys, checked (`keys.keymap`). `native_cursor`: show the terminal's own
        cursor in the prompt. `typed`: what was typed before the screen was there; a carriage return sends."""
        super().__init__()
        keys.teach_terminal()
        self.keymap = dict(keymap or {})
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme
        self.source = source
        self._first = prompt
        self._typed = typed
        self._native_cursor = native_cursor
        self._play = play
        self.pace = pace
        """Of the demo that plays; None: it is no demo."""
        self.main = MainScreen(glyphs=glyphs, history=history, drafts=drafts, files=files)
        self.session: Worker | None = None
        self.presenter: Presenter | None = None
        self.watching: Watch | None = None
        """Of the session that is shown, while another process writes it."""
        self.way: Way | None = None
        """Where the program goes on after it has left the screen, because there is no model."""
        self.failure: QimingError | None = None
        """Why no session could be opened."""
        self._replies: dict[str, asyncio.Future[bool]] = {}
        self._numbers = count(1)
        self._bridge: Bridge | None = None
        self.waiting: list[tuple[Draft, bool]] = []
        self.guard: Guard | None = None
        """Takes the signals once the screen is there; None: somebody else does (tests)."""

    async def on_mount(self) -> None:
        """The first frame holds the whole screen; the session is opened behind it."""
        self.set_keymap(self.keymap)
        await self.push_screen(self.main)
        if self.guard is not None:
            self.guard.arm(lambda code: self.exit(self.farewell(), return_code=code))
        self._take_typed()
        if self._native_cursor:
            self.call_after_refresh(self._show_cursor)
            self.app_resume_signal.subscribe(self, lambda _: self._show_cursor())
        self._open()

    def _take_typed(self) -> None:
        """What was typed early stands in the prompt, or is sent."""
        prompt = self.main.prompt_bar.prompt
        *sent, rest = self._typed.split("\r")
        for text in sent:
            prompt.write(text)
            prompt.action_send()
        if rest:
            prompt.write(rest)

    def _show_cursor(self) -> None:
        """Textual hides it and moves it to where the prompt's is (`ux.md` 4)."""
        if self._driver is not None:
            self._driver.write("\x1b[?25h")
            self._driver.flush()

    @work(group="session", exclusive=True)
    async def _open(self) -> None:
        """Open the first session, and begin."""
        opening = await asyncio.to_thread(import_module, OPENING)
        worker: Worker | None = await opening.first_session(self)
        if worker is None:
            self._take_back()
            return
        self.adopt(worker)
        if self._first:
            await self.send(Draft(self._first), steer=False)
        for draft, steer in self.waiting:
            await self.send(draft, steer=steer)
        self.waiting.clear()
        if self._play is not None:
            await self._play(worker)

    def _take_back(self) -> None:
        """What was to be sent stands in the prompt: the session that is shown takes nothing."""
        if self.session is None:
            return
        for draft, _ in self.waiting:
            self.main.prompt_bar.restore(draft)
        self.waiting.clear()
        if self._first:
            self.main.prompt_bar.write(self._first)

    def _tell_pace(self) -> None:
        """The footer says how the demo plays."""
        pace = self.pace
        if pace is None:
            return
        self.main.footer.said = "paused" if pace.paused else f"demo {pace.speed:g}x"
        self.refresh_bindings()
        if pace.paused:
            self.main.prompt_bar.say("the demo stands still: space goes on, . takes one step")

    def adopt(self, worker: "Worker") -> None:
        """Show another session."""
        if self._bridge is not None:
            self._bridge.close()
        self._watch_no_more()
        self.session = worker
        self.presenter = Presenter(self.main, worker)
        self.presenter.load()
        self.main.prompt_bar.open_session(worker.ctx.session_id)
        self._bridge = Bridge(worker, self.post_message)
        self._bridge.refresh()
        if not worker.lost:
            self._keep(worker)
        if self.pace is not None:
            self.main.prompt_bar.prompt.yields = frozenset({"space", "full_stop"})
            self.pace.changed = self._tell_pace
            self._tell_pace()

    # -- a session that another process writes -----------------------------------------------------------

    def look_on(self, watch: "Watch") -> None:
        """Show a session that another process writes, live and read-only."""
        self.adopt(watch.worker)
        self.watching = watch
        self._follow(watch)

    @work(group="follow", exclusive=True)
    async def _follow(self, watch: "Watch") -> None:
        """Follow it; when its process has ended, offer to go on here."""
        try:
            await watch.until_free()
            if await self.ask(
                "Go on here?", "the other program has ended", why="", yes="go on", no="only look"
            ):
                await self.take_over(watch)
        except QimingError as error:
            self.tell(error)

    async def take_over(self, watch: "Watch") -> None:
        """Write the session from now on, whoever does so now. Raises QimingError."""
        self.adopt(await self.source.switch(watch.follower.session_id, take=True))

    @work(group="keep", exclusive=True)
    async def _keep(self, worker: "Worker") -> None:
        """When another process takes the session, look on."""
        await worker.gone.wait()
        if self.session is not worker:
            return
        try:
            self.look_on(await self.source.watch(worker.ctx.session_id))
        except QimingError as error:
            self.tell(error)

    def _watch_no_more(self) -> None:
        if self.watching is not None:
            self.watching.close()
            self.watching = None
            self.workers.cancel_group(self, "follow")
        for request_id, reply in self._replies.items():
            self.main.question.withdraw(request_id)
            reply.cancel()
        self._replies.clear()

    # -- questions of the program itself -----------------------------------------------------------------

    async def ask(self, heading: str, words: str, *, why: str, yes: str, no: str, detail: str = "") -> bool:
        """A question above the prompt, answered by yes or no."""
        request_id = f"own_{next(self._numbers)}"
        reply = self._replies[request_id] = asyncio.get_running_loop().create_future()
        self.main.question.ask(
            Question(
                request_id=request_id,
                tool="",
                command=one_line(words),
                heading=heading,
                why=why,
                detail=detail,
                yes=yes,
                no=no,
            )
        )
        if self.session is None:
            self.main.show_status(PromptStatus(doing="waiting for your answer", waiting=True))
        answer: bool = await reply
        if self.session is None:
            self.main.show_status(PromptStatus())
        return answer

    def replied(self, request_id: str, reply: str) -> bool:
        """Take an answer to one of our own questions; whether it was one."""
        waiting = self._replies.pop(request_id, None)
        if waiting is None:
            return False
        waiting.set_result(reply != "no")
        return True

    # -- the ends ----------------------------------------------------------------------------------------

    def fail(self, error: QimingError) -> None:
        """Leave: there is nothing to show. Whoever started the screen says why."""
        self.failure = error
        self.exit()

    def leave_for(self, way: Way) -> None:
        """Leave, for what the user chose instead of a session."""
        self.way = way
        self.exit()

    def tell(self, error: QimingError) -> None:
        """Say what went wrong and what to do."""
        words = clean(f"{error}\n{error.hint}".strip())[0]
        self.notify(words, severity="error", timeout=10, markup=False)

    def farewell(self) -> Farewell | None:
        """What is printed after the screen has gone."""
        if self.session is None or self.presenter is None or self.session.ctx.live.blank:
            return None
        return Farewell(
            session_id=self.session.ctx.session_id,
            prompt=self.presenter.last_prompt,
            answer=self.presenter.last_answer,
        )

    async def send(self, draft: Draft, *, steer: bool) -> None:
        """Hand a prompt to the session; one that is refused comes back into the prompt."""
        worker = self.session
        if worker is None:
            return
        try:
            await (worker.steer(draft.full) if steer else worker.submit(draft.full))
        except QimingError as error:
            self.main.prompt_bar.restore(draft)
            self.tell(error)

    def call_back(self, words: str) -> None:
        """Ring, and let the terminal notify, while the person looks elsewhere (`ux.md` 3.2). `words` are our
        own."""
        if self._driver is not None and not self.app_focus:
            self._driver.write(f"\x07\x1b]9;qiming: {words}\x07")
            self._driver.flush()

    async def copy(self, text: str) -> None:
        """Send a text to the clipboard and say what happened."""
        driver = self._driver
        if driver is not None:
            self.main.prompt_bar.say(await clip.copy(text, env=os.environ, write=driver.write))

    async def close(self) -> None:
        """End the session and its processes."""
        if self._bridge is not None:
            self._bridge.close()
        await self.source.close()
