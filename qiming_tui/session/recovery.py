"""After a crash: what the dead process had begun to tell gets its ends, "interrupted" (`data.md` 1).

The store ends its rows (`Store.recover`); here is what that means for whoever listens: every `started` event
of the dead process, and of those only, is followed by one end.
"""

from collections.abc import Sequence

from qiming_tui.model.changes import Change, PutAttempt, PutMessage, PutPart, PutRequest
from qiming_tui.model.events import (
    CompactionEnded,
    Event,
    MessageUpdated,
    PartFinished,
    StepFinished,
    TurnFinished,
)
from qiming_tui.model.ledger import Attempt, RequestRow
from qiming_tui.model.messages import Session
from qiming_tui.model.parts import TextPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.session.summarise import summary_part_id


def ends(session: Session, changes: Sequence[Change]) -> tuple[Event, ...]:
    """The events that end what the process that died in `session` had started.

    `session` is the row as it was found, `changes` what `Store.recover` wrote.
    """
    step = session.open_step
    events: list[Event] = []
    message_id = ""
    for change in changes:
        match change:
            case PutPart(part, _):
                events.append(PartFinished(session=session.id, step=step, part=part))
            case PutMessage(info, _):
                message_id = info.id
                events.append(MessageUpdated(session=session.id, step=step, info=info))
            case PutRequest(row, _) if row.kind is RequestKind.SUMMARY:
                events.append(_summary_text(row))
            case PutRequest(row, _) if row.kind is RequestKind.TURN:
                message_id = message_id or row.message_id or ""
            case _:
                pass
    attempts = [change.attempt for change in changes if isinstance(change, PutAttempt)]
    events += [_attempt(session.id, attempt) for attempt in attempts if attempt.form]
    if step is not None:
        events.append(
            StepFinished(session=session.id, step=step, message_id=message_id, finish="interrupted")
        )
    if session.turn is not None:
        events.append(TurnFinished(session=session.id, reason="interrupted"))
    return tuple(events)


def _attempt(session_id: str, attempt: Attempt) -> CompactionEnded:
    return CompactionEnded(
        session=session_id,
        phase="failed",
        auto=attempt.auto,
        before=attempt.before,
        after=None,
        reason=attempt.end or "",
        words=attempt.reason,
    )


def _summary_text(row: RequestRow) -> PartFinished:
    """A summary is stored when it is whole: what was seen of this one is void."""
    message_id = row.message_id or ""
    part = TextPart(
        id=summary_part_id(message_id),
        session_id=row.session_id,
        message_id=message_id,
        text="",
        ignored=True,
    )
    return PartFinished(session=row.session_id, part=part)
