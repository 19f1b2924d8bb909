"""Edits of the window in the plain front end: each says its price, and `/undo` takes it back."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from qiming_tui.cli.output import table
from qiming_tui.context import acts
from qiming_tui.context.dryrun import names_of
from qiming_tui.context.why import why, why_lines
from qiming_tui.model.errors import InputError
from qiming_tui.model.messages import Entry
from qiming_tui.model.window import ContextView, ItemState
from qiming_tui.session.worker import Worker

Say = Callable[[str, str], None]
Edit = Callable[[Worker, tuple[str, ...]], Awaitable[acts.Drafts]]

LARGEST: Final = 8


def largest(view: ContextView, entries: Iterable[Entry]) -> list[str]:
    """The largest parts of the request, each with the id that the commands take."""
    names = names_of(list(entries))
    found = sorted((item for item in view.items if item.part_id), key=lambda item: -item.tokens)[:LARGEST]
    rows = []
    for item in found:
        state = "" if item.state is ItemState.SENT else item.state.value
        words = f"{state} pinned".strip() if item.pinned else state
        part_id = item.part_id or ""
        rows.append((part_id, f"~{item.tokens:,}", item.klass.value, names.get(part_id, ""), words))
    return table(rows, right=frozenset({1})) if rows else []


async def _clear(worker: Worker, ids: tuple[str, ...]) -> acts.Drafts:
    return acts.clear(worker.acting.now()[1], ids)


async def _restore(worker: Worker, ids: tuple[str, ...]) -> acts.Drafts:
    return acts.restore(worker.acting.now()[1], ids)


async def _pin(worker: Worker, ids: tuple[str, ...]) -> acts.Drafts:
    return await worker.acting.pin(ids)


async def _unpin(worker: Worker, ids: tuple[str, ...]) -> acts.Drafts:
    return acts.unpin(worker.acting.now()[1], ids)


EDITS: Final[dict[str, Edit]] = {"clear": _clear, "restore": _restore, "pin": _pin, "unpin": _unpin}
"""By the word after the slash."""


async def edit(worker: Worker, say: Say, name: str, words: str) -> None:
    """Make an edit of the parts that are named, between two turns; what it frees and costs is told."""
    ids = tuple(words.replace(",", " ").split())
    if not ids and name != "unpin":
        raise InputError(f"/{name} what?", "name parts by their ids; /context lists the largest")

    async def job() -> None:
        drafts = await EDITS[name](worker, ids)
        preview = await worker.acting.preview(name, drafts)
        await worker.acting.apply(drafts)
        lines = [f"{name}: {preview.price.words}", *preview.notes, "/undo takes it back"]
        say("edit", "\n".join(lines))

    await worker.edit(job)


async def tell_why(worker: Worker, say: Say, words: str) -> None:
    """What decided at a step of this session, the newest if none is named."""
    live, store = worker.ctx.live, worker.ctx.services.store
    if words and not words.isdecimal():
        raise InputError(f"{words!r} is no step", "/why, or /why and a number")
    row = await store.request(worker.ctx.session_id, int(words)) if words else live.last_request
    if row is None:
        raise InputError("nothing was sent yet")
    say("why", "\n".join(why_lines(why(row))))
