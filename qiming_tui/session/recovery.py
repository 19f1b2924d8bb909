"""After a crash: what was running becomes an error "interrupted", and every started event gets its end."""

import msgspec

from qiming_tui.model.changes import Change, PutAttempt, PutMessage, PutPart, PutRequest, SessionRecord
from qiming_tui.model.events import (
    CompactionEnded,
    Event,
    MessageUpdated,
    PartFinished,
    StepFinished,
    TurnFinished,
)
from qiming_tui.model.ledger import Outcome, RequestRow
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

WORDS = "The program ended before the answer did."


def needs_recovery(record: SessionRecord) -> bool:
    """Whether the process that wrote last died in the middle of something."""
    last = record.last_request
    return (
        any(attempt.end is None for attempt in record.attempts)
        or (last is not None and last.outcome is Outcome.OPEN)
        or any(_unfinished(entry) for entry in record.entries)
    )


def recover(
    record: SessionRecord, rows: tuple[RequestRow, ...], now: int
) -> tuple[tuple[Change, ...], tuple[Event, ...]]:
    """What to write and what to tell; `rows` are the ledger rows that are still open."""
    changes: list[Change] = []
    events: list[Event] = []
    session = record.session.id
    steps = {row.message_id: row.step for row in rows}
    for entry in record.entries:
        if _unfinished(entry) and isinstance(entry.info, AssistantMessage):
            step = steps.get(entry.id)
            _end_entry(entry, entry.info, now, step, changes, events)
            events.append(StepFinished(session=session, step=step, message_id=entry.id, finish="interrupted"))
    for row in rows:
        times = msgspec.structs.replace(row.times, end=now)
        changes.append(
            PutRequest(msgspec.structs.replace(row, outcome=Outcome.INTERRUPTED, fault=WORDS, times=times))
        )
    end = CompactionEnd.INTERRUPTED
    for attempt in record.attempts:
        if attempt.end is None:
            done = msgspec.structs.replace(attempt, end=end.value, reason=end.sentence, ended_at=now)
            changes.append(PutAttempt(done))
            events.append(
                CompactionEnded(
                    session=session,
                    phase="failed",
                    auto=attempt.auto,
                    before=attempt.before,
                    after=None,
                    reason=end.value,
                    words=end.sentence,
                )
            )
    if changes:
        events.append(TurnFinished(session=session, reason="interrupted"))
    return tuple(changes), tuple(events)


def _unfinished(entry: Entry) -> bool:
    info = entry.info
    return isinstance(info, AssistantMessage) and info.time.completed is None


def _end_entry(
    entry: Entry,
    info: AssistantMessage,
    now: int,
    step: int | None,
    changes: list[Change],
    events: list[Event],
) -> None:
    for seq, part in enumerate(entry.parts):
        ended = _end_part(part, now)
        if ended is not part:
            changes.append(PutPart(ended, seq))
            events.append(PartFinished(session=info.session_id, step=step, part=ended))
    time = msgspec.structs.replace(info.time, completed=now)
    error = info.error
    if info.finish is None and error is None:
        error = MessageError(name=ABORTED, data={"message": WORDS})
    info = msgspec.structs.replace(info, time=time, error=error)
    changes.append(PutMessage(info, entry.seq))
    events.append(MessageUpdated(session=info.session_id, step=step, info=info))


def _end_part(part: Part, now: int) -> Part:
    if isinstance(part, (TextPart, ReasoningPart)) and part.time is not None and part.time.end is None:
        return msgspec.structs.replace(part, time=msgspec.structs.replace(part.time, end=now))
    if isinstance(part, ToolPart) and isinstance(part.state, (Pending, Running)):
        start = part.state.time.start if isinstance(part.state, Running) else now
        state = Failed(
            input=part.state.input,
            error=INTERRUPTED_TEXT,
            metadata={"interrupted": True},
            time=Span(start=start, end=now),
        )
        return msgspec.structs.replace(part, state=state)
    return part
