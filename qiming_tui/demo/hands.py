"""The hands of a scenario's user: what is done to the window between two turns."""

from collections.abc import Awaitable, Callable
from typing import Final

from qiming_tui.context import acts
from qiming_tui.context.facts import handle_of
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import ToolPart
from qiming_tui.provider.scenario import Act
from qiming_tui.session.switching import switch_model
from qiming_tui.session.worker import Worker


async def perform(worker: Worker, act: Act) -> None:
    """Do it, between two turns. What is refused is told as it would be to a person."""
    if act.do == "compact":
        await worker.compact(act.what or None)
        return
    make = _MAKES.get(act.do)
    if make is None:
        raise InputError(f"a scenario's user cannot {act.do!r}")
    await worker.edit(lambda: make(worker, act.what))


async def _clear(worker: Worker, what: str) -> None:
    window = worker.acting.now()[1]
    await worker.acting.apply(acts.clear(window, [part_of(worker, what)]))


async def _restore(worker: Worker, what: str) -> None:
    window = worker.acting.now()[1]
    await worker.acting.apply(acts.restore(window, [part_of(worker, what)]))


async def _pin(worker: Worker, what: str) -> None:
    await worker.acting.apply(await worker.acting.pin([part_of(worker, what)]))


async def _unpin(worker: Worker, what: str) -> None:
    await worker.acting.apply(acts.unpin(worker.acting.now()[1], [part_of(worker, what)]))


async def _model(worker: Worker, what: str) -> None:
    name = worker.ctx.profile.info.ref
    other = ModelRef(name.provider, what or name.model.removesuffix("-small"))
    await switch_model(worker.ctx, worker.editor, other)


async def _undo(worker: Worker, _: str) -> None:
    await worker.editor.undo()


async def _redo(worker: Worker, _: str) -> None:
    await worker.editor.redo()


_MAKES: Final[dict[str, Callable[[Worker, str], Awaitable[None]]]] = {
    "clear": _clear,
    "restore": _restore,
    "pin": _pin,
    "unpin": _unpin,
    "undo": _undo,
    "redo": _redo,
    "model": _model,
}


def part_of(worker: Worker, what: str) -> str:
    """The newest call that is about this path or command; raises InputError where there is none."""
    for entry in reversed(worker.ctx.live.entries):
        for part in reversed(entry.parts):
            if isinstance(part, ToolPart) and handle_of(part) == what:
                return part.id
    raise InputError(f"no call is about {what!r}")
