"""Commands about the limit: what fills the window, put a compaction off, switch it off."""

from collections.abc import Mapping

from qiming_tui.context.report import report
from qiming_tui.model.errors import InputError
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.screens.text import TextScreen


class LimitActions(Family):
    """The window in words, and automatic compaction as the person wants it."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {"context": self._context, "auto": self._auto, "defer": self._defer}

    async def _context(self, _: str) -> None:
        """The same text as `qiming context` prints."""
        worker = self._worker()
        data = self._app.main.bar.data
        view = self._app.presenter.window if self._app.presenter is not None else None
        if data is None or view is None:
            raise InputError("the window is still being counted", "try again in a moment")
        title = worker.ctx.live.session.title or "new session"
        heading = f"{title}  {view.params.model}"
        await self._app.push_screen(TextScreen("What fills the window", report(data, view, heading=heading)))

    async def _auto(self, word: str) -> None:
        worker = self._worker()
        if word not in ("on", "off", ""):
            raise InputError(f"automatic compaction cannot be {word!r}", "on or off")
        latched = worker.ctx.live.session.latched
        on = word == "on" if word else latched
        if on and not worker.ctx.services.settings.auto:
            raise InputError("the settings have automatic compaction off", "set context.auto in the settings")
        await worker.edit(worker.editor.unlatch if on else worker.editor.latch)
        now = "on: at the limit it compacts by itself" if on else "off: nothing compacts by itself"
        self._app.notify(f"Automatic compaction is {now}", markup=False)

    async def _defer(self, _: str) -> None:
        worker = self._worker()
        if not worker.ctx.engine.settings.auto:
            raise InputError("nothing to put off: automatic compaction is off")
        worker.turn.deferred = True
        self._app.notify("The next compaction waits until the turn that needs it has ended", markup=False)
        await worker.show()
