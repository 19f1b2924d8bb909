"""Steps that have no ledger, put together from the messages: sessions that another program recorded.

What the provider counted is in the messages, what the request was made of is not: classes are estimated, and
everything the file does not hold (system prompt, tools) stays with `?`.
"""

from collections.abc import Iterable, Sequence

import msgspec

from qiming_tui.context.budget import count_usage, verdict
from qiming_tui.context.edits import groups
from qiming_tui.context.timeline_share import Share
from qiming_tui.context.tokens import estimate_units, script_estimate
from qiming_tui.model.codec import canonical
from qiming_tui.model.edits import Edit, EditKind, EditRecord
from qiming_tui.model.ledger import Outcome, RequestRow, Times
from qiming_tui.model.limits import Limits
from qiming_tui.model.messages import ABORTED, AssistantMessage, Entry
from qiming_tui.model.parts import CompactionPart, Completed, Failed, TextPart, ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, usage_of
from qiming_tui.model.window import RequestParams, Settings

PLACEHOLDER_TOKENS = 10
"""What stands for a cleared result."""

Past = tuple[tuple[RequestRow, ...], dict[str, Share]]
"""Rows in order, and what they were made of by row id."""


class _Weight(msgspec.Struct, frozen=True):
    """What one message adds to the requests after it."""

    user: int
    assistant: int
    results: tuple[tuple[str, int], ...]


class _Walk:
    """The window as it grew, message by message."""

    def __init__(self, clears: Sequence[tuple[int, tuple[str, ...]]], edits: Iterable[Edit]) -> None:
        self._clears = list(reversed(clears))
        self._cleared: set[str] = set()
        self._compacts = {edit.targets[0] for edit in edits if edit.targets}
        self._window: list[tuple[str, _Weight]] = []
        self._share = Share()
        self._sent: dict[str, int] = {}
        """Results of the window that are sent, and their tokens."""
        self._tails: dict[str, str] = {}

    def share(self, at: int) -> Share:
        """What a request at this time is made of."""
        while self._clears and self._clears[-1][0] <= at:
            for part_id in self._clears.pop()[1]:
                self._cleared.add(part_id)
                tokens = self._sent.pop(part_id, None)
                if tokens is not None:
                    self._count(results=-tokens)
                    self._clear(tokens)
        return self._share

    def add(self, entry: Entry) -> None:
        """The message is in every request from now on; a summary takes the place of what was before it."""
        info = entry.info
        weight = _weigh(entry)
        for part in entry.parts:
            if isinstance(part, CompactionPart) and part.tail_start_id:
                self._tails[entry.id] = part.tail_start_id
        if not (isinstance(info, AssistantMessage) and info.summary):
            self._window.append((entry.id, weight))
            self._weigh(weight)
        elif info.parent_id in self._compacts:
            self._window = self._tail(info.parent_id)
            self._share, self._sent = Share(summary=weight.assistant), {}
            for _, held in self._window:
                self._weigh(held)

    def _weigh(self, weight: _Weight) -> None:
        self._count(user=weight.user, assistant=weight.assistant)
        for part_id, tokens in weight.results:
            if part_id in self._cleared:
                self._clear(tokens)
            else:
                self._sent[part_id] = tokens
                self._count(results=tokens)

    def _clear(self, tokens: int) -> None:
        stays = min(tokens, PLACEHOLDER_TOKENS)
        self._count(results=stays, ghost=tokens - stays, cleared=1)

    def _count(self, **more: int) -> None:
        sums = {name: getattr(self._share, name) + tokens for name, tokens in more.items()}
        self._share = msgspec.structs.replace(self._share, **sums)

    def _tail(self, asked: str) -> list[tuple[str, _Weight]]:
        start = self._tails.get(asked)
        place = next((place for place, (name, _) in enumerate(self._window) if name == start), None)
        return [] if place is None else self._window[place:]


def rebuilt(
    entries: Sequence[Entry],
    edits: Sequence[EditRecord],
    *,
    known: Iterable[str | None],
    settings: Settings,
    limits: Limits,
) -> Past:
    """The steps before the first message of which there is a ledger (`known`: message ids that have one).
    Raises ConfigError as `verdict` does."""
    told = set(known)
    end = next((place for place, entry in enumerate(entries) if entry.id in told), len(entries))
    active = [
        edit for group in groups(edits) if group.active for edit in group.edits if isinstance(edit, Edit)
    ]
    clears = sorted((edit.at, edit.targets) for edit in active if edit.kind is EditKind.CLEAR)
    walk = _Walk(clears, [edit for edit in active if edit.kind is EditKind.COMPACT])
    rows: list[RequestRow] = []
    shares: dict[str, Share] = {}
    for entry in entries[:end]:
        info = entry.info
        if isinstance(info, AssistantMessage):
            share = walk.share(int(info.time.created))
            row = _row(info, share, seq=len(rows) + 1, settings=settings, limits=limits)
            rows.append(row)
            if not info.summary:
                shares[row.id] = share
        walk.add(entry)
    return tuple(rows), shares


def _row(info: AssistantMessage, share: Share, *, seq: int, settings: Settings, limits: Limits) -> RequestRow:
    usage = usage_of(info.tokens)
    measured = not usage.empty
    count = count_usage(settings.preset, usage) if measured else share.total
    basis = Basis.MEASURED if measured else Basis.ESTIMATED
    judged = verdict(settings=settings, limits=limits, count=count, basis=basis)
    outcome = Outcome.OK if info.finish else Outcome.INTERRUPTED
    if info.error is not None:
        outcome = Outcome.ABORTED if info.error.name == ABORTED else Outcome.ERROR
    begun, end = int(info.time.created), info.time.completed
    return RequestRow(
        id=f"past:{info.id}",
        session_id=info.session_id,
        message_id=info.id,
        step=seq,
        seq=seq,
        kind=RequestKind.SUMMARY if info.summary else RequestKind.TURN,
        model=str(info.model),
        limits=limits,
        preset=settings.preset.value,
        policy=settings.policy,
        reserved=judged.reserved,
        tokenizer="",
        calibration=1.0,
        manifest=(),
        params=RequestParams(model=info.model),
        view_hash=info.id,
        prefix_hash=info.id,
        verdict=judged,
        usage=usage if measured else None,
        cost=float(info.cost),
        outcome=outcome,
        fault=info.error.text if info.error is not None else None,
        times=Times(queued=begun, sent=begun, end=None if end is None else int(end)),
    )


def _weigh(entry: Entry) -> _Weight:
    said = sum(script_estimate(part.text) for part in entry.parts if isinstance(part, TextPart))
    tools = [part for part in entry.parts if isinstance(part, ToolPart)]
    calls = sum(script_estimate(canonical(part.state.input).decode()) for part in tools)
    results = tuple((part.id, _result(part)) for part in tools)
    return _Weight(said, 0, ()) if entry.user else _Weight(0, said + calls, results)


def _result(part: ToolPart) -> int:
    state = part.state
    if isinstance(state, Completed):
        return script_estimate(state.output) if state.stored is None else estimate_units(state.stored.units)
    return script_estimate(state.error) if isinstance(state, Failed) else 0
