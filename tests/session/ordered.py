"""What a session promises about its events and its store, checked on what a test has gathered."""

from collections.abc import Iterable

from qiming_tui.model import events as e
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Pending, ReasoningPart, Running, TextPart, ToolPart


def order(events: Iterable[e.Event], *, ended: bool = True, crash: int | None = None) -> list[str]:
    """Every break of the order of events, in words; empty if there is none. `ended`: nothing may be open at
    the end either. `crash`: the place of the first event after a crash; from there on an end may be told
    whose start the dead process had stored, but not told yet."""
    wrong: list[str] = []
    parts: set[str] = set()
    gone: set[str] = set()
    turn = step = compaction = asked = False

    def late(place: int) -> bool:
        return crash is not None and place >= crash

    for place, event in enumerate(events):
        match event:
            case e.TurnStarted():
                wrong += [f"{place}: a turn in a turn"] if turn else []
                turn = True
            case e.TurnFinished():
                wrong += [] if turn or late(place) else [f"{place}: the end of no turn"]
                wrong += [f"{place}: a turn ends before its step"] if step else []
                wrong += [f"{place}: a turn ends before its compaction"] if compaction else []
                wrong += [f"{place}: a turn ends before a question is closed"] if asked else []
                turn = False
            case e.StepStarted():
                wrong += [f"{place}: a step in a step"] if step else []
                step = True
            case e.StepFinished():
                wrong += [] if step or late(place) else [f"{place}: the end of no step"]
                wrong += [f"{place}: a step ends before {sorted(parts)}"] if parts else []
                step = False
            case e.CompactionStarted():
                wrong += [f"{place}: a compaction in a compaction"] if compaction else []
                compaction = True
            case e.CompactionEnded(phase=phase):
                if phase != "skipped":
                    wrong += [] if compaction or late(place) else [f"{place}: the end of no compaction"]
                    compaction = False
            case e.PartStarted(part=part):
                if part.id in parts or part.id in gone:
                    wrong.append(f"{place}: {part.id} starts twice")
                parts.add(part.id)
            case e.PartDelta(part_id=part_id):
                wrong += [] if part_id in parts else [f"{place}: a delta of {part_id}, which is not open"]
            case e.PartFinished(part=part):
                if part.id in gone:
                    wrong.append(f"{place}: {part.id} ends twice")
                parts.discard(part.id)
                gone.add(part.id)
            case e.PermissionAsked():
                asked = True
            case e.PermissionAnswered():
                asked = False
            case e.Idle():
                wrong += [f"{place}: idle in a turn"] if turn else []
    if ended and (turn or step or compaction or asked or parts):
        wrong.append(f"open at the end: {turn=} {step=} {compaction=} {asked=} {parts=}")
    return wrong


async def settled(store, session_id: str) -> list[str]:
    """What the store still holds open, in words; empty if everything has ended."""
    record = await store.load(session_id)
    wrong = [f"request {row.id} is open" for row in await store.requests(session_id) if is_open(row)]
    wrong += [f"attempt {attempt.id} is open" for attempt in record.attempts if attempt.end is None]
    for entry in record.entries:
        if isinstance(entry.info, AssistantMessage) and entry.info.time.completed is None:
            wrong.append(f"message {entry.id} has no end")
        for part in entry.parts:
            if isinstance(part, ToolPart) and isinstance(part.state, (Pending, Running)):
                wrong.append(f"call {part.id} has no end")
            if isinstance(part, (TextPart, ReasoningPart)) and part.time and part.time.end is None:
                wrong.append(f"text {part.id} has no end")
    if record.session.turn or record.session.open_step:
        wrong.append("a turn is said to be under way")
    return wrong


def is_open(row) -> bool:
    return row.outcome is Outcome.OPEN


def boundaries(record) -> list[str]:
    """Half boundaries, in words: a request for a summary without its finished summary, or the reverse."""
    asks = [entry.id for entry in record.entries if entry.compaction is not None]
    wrong = []
    summaries = [entry for entry in record.entries if getattr(entry.info, "summary", False)]
    for entry in summaries:
        if entry.info.parent_id not in asks or not entry.text.strip() or entry.info.finish is None:
            wrong.append(f"summary {entry.id} is not whole")
    if len(asks) != len(summaries):
        wrong.append(f"{len(asks)} requests for {len(summaries)} summaries")
    return wrong
