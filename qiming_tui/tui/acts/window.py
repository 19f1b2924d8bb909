"""Commands that look at the context window and edit it."""

from collections.abc import Mapping

from qiming_tui.context.fate import mark_of
from qiming_tui.model.errors import EditRefused
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

    async def _undo(self, name: str) -> None:
        """The newest edit, or the compaction with this name (C1) or message."""
        worker = self._worker()

        async def job() -> None:
            mark = mark_of(worker.acting.marks(), name) if name else None
            if name and (mark is None or mark.group is None):
                raise EditRefused(f"there is no compaction {name} to undo")
            group = await worker.editor.undo(mark.group if mark else None)
            self._app.notify(f"{group.name} is undone", markup=False)

        await worker.edit(job)

    async def _redo(self, _: str) -> None:
        worker = self._worker()

        async def job() -> None:
            group = await worker.editor.redo()
            self._app.notify(f"{group.name} is in force again", markup=False)

        await worker.edit(job)
