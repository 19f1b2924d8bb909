"""Commands that look at the context window and edit it."""

from collections.abc import Mapping

from qiming_tui.tui.acts.family import Do, Family


class WindowActions(Family):
    """Compact, prune, undo: each an edit that the worker makes."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {
            "compact": self._compact,
            "prune": self._prune,
            "undo": self._undo,
            "redo": self._redo,
        }

    async def _compact(self, focus: str) -> None:
        await self._worker().compact(focus or None)

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
