"""What every command does: one method a command, found by its id."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qiming_tui.model.errors import InputError, QimingError
from qiming_tui.tui import keys
from qiming_tui.tui.palette import palette
from qiming_tui.tui.screens.help import HelpScreen
from qiming_tui.tui.switching import pick_session
from qiming_tui.tui.theme import DARK, LIGHT
from qiming_tui.tui.widgets.conversation.view import Conversation
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.app import QimingApp

Do = Callable[[str], Awaitable[None]]


class Actions:
    """Carries out commands on the open session and the screen."""

    def __init__(self, app: "QimingApp") -> None:
        self._app = app
        self._table: dict[str, Do] = {
            "compact": self._compact,
            "context": self._context,
            "prune": self._prune,
            "undo": self._undo,
            "redo": self._redo,
            "new": self._new,
            "sessions": self._sessions,
            "send": self._resume,
            "find": self._find,
            "expand": self._expand,
            "copy": self._copy,
            "export": self._export,
            "theme": self._theme,
            "palette": self._palette,
            "help": self._help,
            "timeline": self._timeline,
            "quit": self._quit,
        }

    async def run(self, command_id: str, argument: str) -> None:
        """Do it; a refusal is told, with what to do."""
        do = self._table.get(command_id)
        try:
            if do is None:
                raise InputError(
                    f"{command_id} has no screen yet", "the plain front end (--plain) may have it"
                )
            await do(argument)
        except QimingError as error:
            self._app.tell(error)

    def shell(self, command: str) -> None:
        """`!command`: not in this version."""
        hint = "ask the agent to run it, or leave with ^C ^C"
        self._app.tell(InputError(f"the prompt runs no shell commands yet: {command[:60]}", hint))

    def _worker(self) -> "Worker":
        if self._app.session is None:
            raise InputError("the session is still being opened", "try again in a moment")
        return self._app.session

    async def _compact(self, focus: str) -> None:
        await self._worker().compact(focus or None)

    async def _context(self, _: str) -> None:
        worker = self._worker()
        view = await worker.ctx.engine.view(worker.ctx.profile)
        self._app.notify(view.verdict.arithmetic, title="context", timeout=12, markup=False)

    async def _prune(self, _: str) -> None:
        await self._worker().prune()

    async def _undo(self, _: str) -> None:
        worker = self._worker()

        async def job() -> None:
            group = await worker.editor.undo()
            self._app.notify(f"{group.name} is undone", markup=False)

        await worker.edit(job)

    async def _redo(self, _: str) -> None:
        worker = self._worker()

        async def job() -> None:
            group = await worker.editor.redo()
            self._app.notify(f"{group.name} is in force again", markup=False)

        await worker.edit(job)

    async def _new(self, _: str) -> None:
        self._app.adopt(await self._app.source.new())

    async def _sessions(self, _: str) -> None:
        await pick_session(self._app, self._worker())

    async def _resume(self, _: str) -> None:
        self._worker().resume()

    async def _find(self, words: str) -> None:
        if not words:
            raise InputError("what is to be found?", "type /find WORDS")
        found = self._app.main.conversation.search(words)
        self._app.main.prompt_bar.say(f"{found} found; ^X n goes on" if found else f"nothing holds {words!r}")

    async def _expand(self, _: str) -> None:
        self._app.main.conversation.action_open_all()

    async def _copy(self, _: str) -> None:
        answer = self._app.presenter.last_answer if self._app.presenter is not None else ""
        if not answer:
            raise InputError("there is no answer to copy yet")
        await self._app.copy(answer)

    async def _export(self, path: str) -> None:
        target = Path(path or "qiming-screen.svg").expanduser()
        try:
            target.write_text(self._app.export_screenshot(simplify=True), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} could not be written: {error.strerror}") from error
        self._app.main.prompt_bar.say(f"the screen was written to {target}")

    async def _theme(self, name: str) -> None:
        names = {"dark": DARK, "light": LIGHT, "": LIGHT if self._app.theme == DARK else DARK}
        if name not in names:
            raise InputError(f"no theme {name!r}", "dark or light")
        self._app.theme = names[name]

    async def _palette(self, _: str) -> None:
        await self._app.push_screen(palette({}))

    async def _help(self, words: str) -> None:
        async def chosen(command_id: str | None) -> None:
            if command_id is not None:
                await self.run(command_id, "")

        main = self._app.main
        panes = (
            ("everywhere", keys.APP),
            ("in the prompt", keys.PROMPT),
            ("while a question is open", keys.PERMISSION),
            ("in the conversation", Conversation.BINDINGS),
            ("in the timeline", TimelineStrip.BINDINGS),
        )
        await self._app.push_screen(HelpScreen(panes, glyphs=main.glyphs, words=words), chosen)

    async def _timeline(self, _: str) -> None:
        """The timeline takes the focus, and gives it back."""
        main = self._app.main
        strip = main.strip
        main.set_focus(main.prompt_bar.prompt if main.focused is strip else strip)

    async def _quit(self, _: str) -> None:
        self._app.exit(self._app.farewell())
