"""What a process that died left open is ended: no call runs for ever, no half summary counts (cases C-111).

Run it by whoever has just got the session's lease. Nothing that was written is lost; ends are added.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from qiming_tui.model.changes import Change, PutAttempt, PutMessage, PutPart, PutRequest
from qiming_tui.model.ledger import Attempt, Outcome, RequestRow
from qiming_tui.model.messages import ABORTED, AssistantMessage, Entry, MessageError
from qiming_tui.model.parts import (
    INTERRUPTED_TEXT,
    Failed,
    Part,
    Pending,
    ReasoningPart,
    Running,
    Span,
    TextPart,
    ToolPart,
)
from qiming_tui.model.window import CompactionEnd

DIED = "the program ended before this was finished"


def endings(
    entries: Iterable[Entry], attempts: Iterable[Attempt], open_requests: Iterable[RequestRow], now: int
) -> tuple[Change, ...]:
    """The changes that end everything that is still open, in stored order; none if nothing is."""
    changes: list[Change] = []
    for entry in entries:
        for seq, part in enumerate(entry.parts):
            ended = _part(part, now)
            if ended is not None:
                changes.append(PutPart(ended, seq))
        info = entry.info
        if isinstance(info, AssistantMessage) and info.time.completed is None:
            changes.append(PutMessage(_message(info, now), entry.seq))
    for attempt in attempts:
        if attempt.end is None:
            end = CompactionEnd.INTERRUPTED
            changes.append(PutAttempt(replace(attempt, end=end.value, reason=end.sentence, ended_at=now)))
    for row in open_requests:
        times = replace(row.times, end=now)
        changes.append(PutRequest(replace(row, outcome=Outcome.INTERRUPTED, fault=DIED, times=times)))
    return tuple(changes)


def _message(info: AssistantMessage, now: int) -> AssistantMessage:
    time = replace(info.time, completed=now)
    if info.finish is not None or info.error is not None:
        return replace(info, time=time)
    return replace(info, time=time, error=MessageError(name=ABORTED, data={"message": DIED}))


def _part(part: Part, now: int) -> Part | None:
    """The part with its end, None if it has one."""
    if isinstance(part, TextPart | ReasoningPart):
        open_ = part.time is not None and part.time.end is None
        return replace(part, time=replace(part.time, end=now)) if open_ and part.time else None
    if not isinstance(part, ToolPart):
        return None
    state = part.state
    if isinstance(state, Pending):
        raw = {"raw": state.raw} if state.raw else {}
        span = Span(start=now, end=now)
        failed = Failed(
            input=state.input, error=INTERRUPTED_TEXT, metadata={**raw, "interrupted": True}, time=span
        )
        return replace(part, state=failed)
    if isinstance(state, Running):
        said = {**(state.metadata or {}), "interrupted": True}
        span = replace(state.time, end=now)
        return replace(
            part, state=Failed(input=state.input, error=INTERRUPTED_TEXT, metadata=said, time=span)
        )
    return None
