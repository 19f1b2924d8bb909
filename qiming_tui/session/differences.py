"""Two states of one session as events: what happened between them, in the order of a session that runs."""

from collections.abc import Iterator, Sequence

from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.edits import Edit, Switch
from qiming_tui.model.events import (
    CompactionEnded,
    CompactionStarted,
    Context,
    EditChanged,
    Event,
    MessageUpdated,
    PartDelta,
    PartFinished,
    PartStarted,
    PartUpdated,
    QueueChanged,
    SessionUpdated,
    StepFinished,
    StepStarted,
    TurnFinished,
    TurnStarted,
)
from qiming_tui.model.ledger import Attempt
from qiming_tui.model.messages import ABORTED, AssistantMessage, Entry, Session
from qiming_tui.model.parts import Part, Pending, ReasoningPart, Running, TextPart, ToolPart
from qiming_tui.model.window import CompactionEnd


def differences(old: SessionRecord, new: SessionRecord) -> list[Event]:
    """The events that lead from one state to the next. Turns and steps that began and ended in between are
    told by their messages only; whatever is told as started gets its end."""
    session = new.session.id
    events: list[Event] = []
    if _shown(old.session) != _shown(new.session):
        events.append(SessionUpdated(session=session, info=new.session))
    if old.queue != new.queue:
        events.append(QueueChanged(session=session, items=new.queue))
    known = {entry.id: entry for entry in old.entries}
    turn, step = new.session.turn, new.session.open_step
    began = turn is not None and turn != old.session.turn
    before, since = _split(new.entries, turn if began else None)
    live = since.pop() if step is not None and since and _unfinished(since[-1]) else None
    for entry in before:
        events += _entry(known.get(entry.id), entry, old.session.open_step)
    inside, later = _parted(old, new, began=began)
    events += [*_step_left(old, new), *_attempts(old, inside), *_turn_left(old, new)]
    for entry in since:
        if began and entry.id == turn:
            events.append(TurnStarted(session=session, message_id=entry.id, text=entry.text))
        events += _entry(known.get(entry.id), entry, None)
    events += _attempts(old, later)
    events += _edits(old, new)
    last, was = new.last_request, old.last_request
    if last is not None and (was is None or (was.id, was.after) != (last.id, last.after)):
        events.append(Context(session=session, step=last.step, verdict=last.after or last.verdict))
    if step is not None and (began or step != old.session.open_step):
        events.append(_step_started(new, step))
    if live is not None:
        events += _entry(known.get(live.id), live, step)
    return events


def _split(entries: Sequence[Entry], turn: str | None) -> tuple[list[Entry], list[Entry]]:
    """What was said before a turn that has begun, and since; without one, all but an answer that is coming
    in was before."""
    for place, entry in enumerate(entries):
        if entry.id == turn:
            return list(entries[:place]), list(entries[place:])
    place = len(entries) - (1 if entries and _unfinished(entries[-1]) else 0)
    return list(entries[:place]), list(entries[place:])


def _unfinished(entry: Entry) -> bool:
    return isinstance(entry.info, AssistantMessage) and entry.info.time.completed is None


def _shown(session: Session) -> tuple[object, ...]:
    return session.title, session.directory, session.latched, session.preset


def _ended(old: SessionRecord, new: SessionRecord) -> bool:
    """Whether the turn that was under way is not any more."""
    return old.session.turn is not None and old.session.turn != new.session.turn


def _last_answer(record: SessionRecord) -> AssistantMessage | None:
    return next((e.info for e in reversed(record.entries) if isinstance(e.info, AssistantMessage)), None)


def _step_left(old: SessionRecord, new: SessionRecord) -> Iterator[Event]:
    """The step that was under way and is not any more."""
    step = old.session.open_step
    if step is not None and (_ended(old, new) or step != new.session.open_step):
        last = _last_answer(new)
        finish = "unknown" if last is None else last.finish or ("aborted" if last.error else "unknown")
        id = last.id if last else ""
        yield StepFinished(session=new.session.id, step=step, message_id=id, finish=finish)


def _turn_left(old: SessionRecord, new: SessionRecord) -> Iterator[Event]:
    """The turn that was under way and is not any more."""
    if _ended(old, new):
        yield TurnFinished(session=new.session.id, reason=_reason(_last_answer(new)))


def _parted(old: SessionRecord, new: SessionRecord, *, began: bool) -> tuple[list[Attempt], list[Attempt]]:
    """The compactions of the turn that has ended, which end before it does, and the others."""
    if not _ended(old, new):
        return [], list(new.attempts)
    known = {attempt.id for attempt in old.attempts}
    inside = [one for one in new.attempts if one.id in known or (one.auto and not began)]
    return inside, [one for one in new.attempts if one not in inside]


def _reason(last: AssistantMessage | None) -> str:
    if last is not None and last.error is not None:
        return "aborted" if last.error.name == ABORTED else "error"
    return "done" if last is not None and last.finish not in (None, "tool-calls") else "needs_you"


def _step_started(new: SessionRecord, step: int) -> StepStarted:
    info = next((e.info for e in reversed(new.entries) if isinstance(e.info, AssistantMessage)), None)
    live = info is not None and info.time.completed is None
    model = new.last_request.model if new.last_request is not None else ""
    return StepStarted(
        session=new.session.id, step=step, message_id=info.id if info and live else "", model=model
    )


def _entry(was: Entry | None, entry: Entry, step: int | None) -> Iterator[Event]:
    if was is entry or was == entry:
        return
    session = entry.info.session_id
    if was is None or was.info != entry.info:
        yield MessageUpdated(session=session, step=step, info=entry.info)
    known = {part.id: part for part in was.parts} if was is not None else {}
    for part in entry.parts:
        old = known.get(part.id)
        if old != part:
            yield from _part(old, part, session, step, streamed=not entry.user)


def _part(old: Part | None, part: Part, session: str, step: int | None, *, streamed: bool) -> Iterator[Event]:
    if not isinstance(part, (TextPart, ReasoningPart, ToolPart)):
        return
    if old is None and streamed:
        yield PartStarted(session=session, step=step, part=part)
    if isinstance(part, (TextPart, ReasoningPart)):
        before = old.text if isinstance(old, (TextPart, ReasoningPart)) else ""
        if streamed and len(part.text) > len(before) and part.text.startswith(before):
            yield PartDelta(session=session, step=step, part_id=part.id, text=part.text[len(before) :])
    if not _open(part):
        if old is None or _open(old):
            yield PartFinished(session=session, step=step, part=part)
        elif old is not None:
            yield PartUpdated(session=session, step=step, part=part)
    elif isinstance(part, ToolPart) and isinstance(part.state, Running):
        yield PartUpdated(session=session, step=step, part=part)


def _open(part: Part) -> bool:
    """Whether a part is still being written."""
    if isinstance(part, (TextPart, ReasoningPart)):
        return part.time is not None and part.time.end is None
    return isinstance(part, ToolPart) and isinstance(part.state, (Pending, Running))


def _attempts(old: SessionRecord, attempts: Sequence[Attempt]) -> Iterator[Event]:
    known = {attempt.id: attempt for attempt in old.attempts}
    for attempt in attempts:
        was = known.get(attempt.id)
        if was == attempt:
            continue
        if was is None and attempt.form:
            yield CompactionStarted(
                session=attempt.session_id,
                auto=attempt.auto,
                form=attempt.form,
                before=attempt.before,
                reason="started by the program that writes the session",
            )
        if attempt.end is not None and (was is None or was.end is None):
            yield _compaction_ended(attempt)


def _compaction_ended(attempt: Attempt) -> CompactionEnded:
    finished = attempt.end == CompactionEnd.FINISHED.value
    phase = "finished" if finished else ("failed" if attempt.form else "skipped")
    return CompactionEnded(
        session=attempt.session_id,
        phase=phase,
        auto=attempt.auto,
        before=attempt.before,
        after=attempt.after,
        reason=attempt.end or "",
        words=attempt.reason,
    )


def _edits(old: SessionRecord, new: SessionRecord) -> Iterator[Event]:
    known = {record.id for record in old.edits}
    for record in new.edits:
        if record.id in known:
            continue
        if isinstance(record, Switch):
            group = tuple(
                other for other in new.edits if isinstance(other, Edit) and other.group == record.group
            )
            phase = "redone" if record.on else "undone"
            yield EditChanged(session=record.session_id, phase=phase, group=record.group, edits=group)
        else:
            yield EditChanged(session=record.session_id, phase="applied", group=record.group, edits=(record,))
