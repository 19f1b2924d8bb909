"""A request of the past: rebuilt from the ledger and checked, or put together anew from the messages.

What a ledger holds is exact: the rebuilt body must have the stored hash. Without one (sessions that another
program recorded) the window is cut where that request was sent; what the file does not hold, like the system
prompt, is not in it, and sizes are estimates: everything of it is marked `~`.
"""

from collections.abc import Mapping, Sequence

import msgspec

from qiming_tui.context.assemble import assemble, items_from, manifest, view_hash
from qiming_tui.context.state import SessionState, Window
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import QimingError
from qiming_tui.model.ledger import ManifestRow, RequestRow
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Part, ToolPart
from qiming_tui.model.window import Item, RequestParams, Settings


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a session and what it held."""

    row: RequestRow
    manifest: tuple[ManifestRow, ...]
    rebuilt: bool = False
    """There is no ledger: the items are reconstructed and their sizes estimated."""

    @property
    def mark(self) -> str:
        """The sign of an estimate, where it is one."""
        return "~" if self.rebuilt else ""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A request with the values of its items."""

    step: Step
    items: tuple[Item, ...]
    body: dict[str, JSON]
    hash: str | None
    """The checked hash; None: reconstructed, there is none to check against."""


def verified(row: RequestRow, blobs: Mapping[str, bytes]) -> tuple[tuple[Item, ...], dict[str, JSON], str]:
    """Items, body and hash of a stored request; raises QimingError where it is not what was sent."""
    try:
        items = items_from(row.manifest, blobs)
    except KeyError as error:
        raise QimingError(
            f"step {row.step} cannot be rebuilt: blob {error.args[0]} is not in the store"
        ) from error
    body = assemble(row.params, items)
    found = view_hash(body)
    if found != row.view_hash:
        raise QimingError(
            f"step {row.step}: the rebuilt request has hash {found}, the one that was sent {row.view_hash}"
        )
    return items, body, found


def state_at(state: SessionState, row: RequestRow, *, answered: bool = False) -> SessionState:
    """The session as it was when a request was sent: the messages before its answer, the edits made by then.
    `answered`: with the answer, as it was when the next decision was made."""
    place = next((n for n, e in enumerate(state.entries) if e.id == row.message_id), len(state.entries))
    at = row.times.queued
    if answered:
        place += 1
        at = row.times.end or at
    entries = tuple(_then(entry, at) for entry in state.entries[:place])
    edits = tuple(record for record in state.edits if record.at <= at)
    return msgspec.structs.replace(
        state, entries=entries, edits=edits, measured=None, refused=None, refused_manifest=None
    )


def _then(entry: Entry, at: int) -> Entry:
    """The message without the clearing that came later."""
    if not any(_later(part, at) for part in entry.parts):
        return entry
    return Entry(entry.info, tuple(_uncleared(p) if _later(p, at) else p for p in entry.parts), entry.seq)


def _later(part: Part, at: int) -> bool:
    if not isinstance(part, ToolPart) or not isinstance(part.state, Completed):
        return False
    return part.state.time.compacted is not None and part.state.time.compacted > at


def _uncleared(part: Part) -> Part:
    assert isinstance(part, ToolPart)
    assert isinstance(part.state, Completed)
    time = msgspec.structs.replace(part.state.time, compacted=None)
    return msgspec.structs.replace(part, state=msgspec.structs.replace(part.state, time=time))


def reconstruct(state: SessionState, row: RequestRow, settings: Settings, tally: Tally) -> Shown:
    """The request that was sent for an answer, as far as the messages tell. `state` holds every output."""
    view = build(state_at(state, row), settings, tally)
    params = RequestParams(model=row.params.model)
    step = Step(row=row, manifest=manifest(view.items), rebuilt=True)
    return Shown(step=step, items=view.items, body=assemble(params, view.items), hash=None)


def reconstructed(
    state: SessionState, rows: Sequence[RequestRow], settings: Settings, tally: Tally
) -> tuple[Step, ...]:
    """The steps of a session without a ledger, with their items; sizes are guesses of the tally."""
    return tuple(reconstruct(state, row, settings, tally).step for row in rows)


def window_at(state: SessionState, row: RequestRow, settings: Settings) -> Window:
    """The window after a step's answer: what a prune would have walked through."""
    return window_of(state_at(state, row, answered=True), settings)
