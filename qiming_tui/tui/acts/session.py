"""Commands about sessions as a whole."""

from collections.abc import Mapping
from pathlib import Path

from qiming_tui.model.errors import InputError
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.modelling import pick_model
from qiming_tui.tui.picture import picture
from qiming_tui.tui.switching import pick_session


class SessionActions(Family):
    """Begin, pick, go on, write to a file, leave."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {
            "new": self._new,
            "sessions": self._sessions,
            "models": self._models,
            "take": self._take,
            "send": self._resume,
            "export": self._export,
            "quit": self._quit,
        }

    async def _new(self, _: str) -> None:
        self._app.adopt(await self._app.source.new())

    async def _sessions(self, words: str) -> None:
        await pick_session(self._app, self._worker(), words)

    async def _models(self, words: str) -> None:
        worker = self._worker()
        self._app.run_worker(pick_model(self._app, worker, words), group="pick", exclusive=True)

    async def _take(self, _: str) -> None:
        watching = self._app.watching
        if watching is None:
            raise InputError("no other program writes this session")
        await self._app.take_over(watching)

    async def _resume(self, _: str) -> None:
        self._worker().resume()

    async def _export(self, path: str) -> None:
        """The session as data, or, under a name that ends in .svg, the screen as a picture."""
        session_id = self._worker().ctx.session_id
        target = Path(path or f"qiming-{session_id}.json").expanduser()
        if target.suffix.lower() != ".svg":
            size = await self._app.source.export(session_id, target)
            self._app.main.prompt_bar.say(f"the session was written to {target}, {size:,} bytes")
            return
        try:
            target.write_text(picture(self._app), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} could not be written: {error.strerror}") from error
        self._app.main.prompt_bar.say(f"a picture of the screen was written to {target}")

    async def _quit(self, _: str) -> None:
        self._app.exit(self._app.farewell())
