"""Commands about sessions as a whole."""

from collections.abc import Mapping
from pathlib import Path

from qiming_tui.model.errors import InputError
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.switching import pick_session


class SessionActions(Family):
    """Begin, pick, go on, write to a file, leave."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {
            "new": self._new,
            "sessions": self._sessions,
            "send": self._resume,
            "export": self._export,
            "quit": self._quit,
        }

    async def _new(self, _: str) -> None:
        self._app.adopt(await self._app.source.new())

    async def _sessions(self, _: str) -> None:
        await pick_session(self._app, self._worker())

    async def _resume(self, _: str) -> None:
        self._worker().resume()

    async def _export(self, path: str) -> None:
        target = Path(path or "qiming-screen.svg").expanduser()
        try:
            target.write_text(self._app.export_screenshot(simplify=True), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} could not be written: {error.strerror}") from error
        self._app.main.prompt_bar.say(f"the screen was written to {target}")

    async def _quit(self, _: str) -> None:
        self._app.exit(self._app.farewell())
