"""What a session promises about its events and its store, checked on what a test has gathered."""

from collections.abc import Iterable

from qiming_tui.model import events as e
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Pending, ReasoningPart, Running, TextPart, ToolPart

STARTS = {e.TurnStarted: "turn", e.StepStarted: "step", e.CompactionStarted: "compaction"}
ENDS = {e.TurnFinished: "turn", e.StepFinished: "step", e.CompactionEnded: "compaction"}


def order(events: Iterable[e.Event], *, ended: bool = True, crash: int | None = None) -> list[str]:
    """Every break of the order of events, in words; empty if there is none. `ended`: nothing may be open at
    the end either. `crash`: the place of the first event after a crash; from there on an end may be told
    whose start the dead process had stored, but not told yet."""
    check = _Order()
    for place, event in enumerate(events):
        check.late = crash is not None and place >= crash
        check.take(event, place)
    if ended and (check.open or check.parts or check.asked):
        check.wrong.append(f"open at the end: {check.open} {sorted(check.parts)} {check.asked}")
    return check.wrong


class _Order:
    def __init__(self):
        self.wrong = []
        self.late = False
        self.open = set()
        self.asked = set()
        self.parts = set()
        self.gone = set()

    def take(self, event, place):
        """One event; what is wrong with it is added to the list."""
        for words in self._judge(event):
            self.wrong.append(f"{place} {type(event).__name__}: {words}")

    def _judge(self, event):
        kind = type(event)
        if kind in STARTS:
            yield from self._start(STARTS[kind])
        elif kind in ENDS:
            if getattr(event, "phase", "") != "skipped":
                yield from self._end(ENDS[kind])
        elif kind in (e.PartStarted, e.PartDelta, e.PartFinished):
            yield from self._part(event)
        elif kind is e.PermissionAsked:
            self.asked.add(event.request_id)
        elif kind is e.PermissionAnswered:
            self.asked.discard(event.request_id)
        elif kind is e.Idle and "turn" in self.open:
            yield "in a turn"

    def _start(self, scope):
        if scope in self.open:
            yield f"a {scope} in a {scope}"
        if scope != "turn" and "step" in self.open:
            yield f"a {scope} in a step"
        self.open.add(scope)

    def _end(self, scope):
        if scope not in self.open and not self.late:
            yield f"the end of no {scope}"
        self.open.discard(scope)
        if scope == "turn" and (self.open or self.asked):
            yield f"before the end of {self.open} {self.asked}"
        if scope == "step" and self.parts:
            yield f"before the end of {sorted(self.parts)}"

    def _part(self, event):
        if isinstance(event, e.PartDelta):
            if event.part_id not in self.parts:
                yield "of a part that is not open"
            return
        part_id = event.part.id
        if isinstance(event, e.PartStarted):
            if part_id in self.parts or part_id in self.gone:
                yield "twice"
            self.parts.add(part_id)
        else:
            if part_id in self.gone:
                yield "twice"
            self.parts.discard(part_id)
            self.gone.add(part_id)


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
