"""The timeline strip's steps: each as tenths of usable, with what happened at it (`ux.md` 5.2, 5.6).

A step is a request of a turn or of a summary. An edit belongs to the step that was the newest when it was
made; a compaction to its summary's own request.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.budget import count_usage, oddity, percent
from qiming_tui.context.edits import EditGroup, groups
from qiming_tui.context.figures import kilo, plural
from qiming_tui.model.edits import Edit, EditKind, EditRecord, Switch
from qiming_tui.model.ledger import Outcome, RequestRow
from qiming_tui.model.messages import Entry
from qiming_tui.model.sanitize import one_line
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import Preset

OVER: Final = "!"
"""The digit of a step at or over usable."""
SUMMARY: Final = "Z"
"""The digit of a summary's own request: its size is never a size of the window."""
UNKNOWN: Final = "?"
"""The digit where usable is not known."""

WORDS: Final = {
    "P": "prune",
    "C": "compact",
    "c": "by hand",
    "x": "error",
    "m": "model",
    "u": "undo",
    "i": "pin",
    "~": "retry",
    "!": "over",
}
"""Letters of the event row with a word for each, in the order in which they are explained."""
_RANK: Final = {letter: place for place, letter in enumerate("Ccx!Pmui~")}
"""Where a step has several events, the first of these is shown."""


class StepEvent(msgspec.Struct, frozen=True):
    """Something that happened at a step."""

    letter: str
    words: str


class StepMark(msgspec.Struct, frozen=True, kw_only=True):
    """One column of the strip. Sizes in tokens."""

    step: int
    turn: int = 0
    """Number of the user's turn; 0: not known."""
    summary: bool = False
    count: int
    """The size that decided: the answered one where it was measured, else the predicted one."""
    basis: Basis
    usable: int | None
    grew: int | None = None
    """Against the turn's step before; None for the first one, a summary, and the first after a boundary."""
    live: bool = True
    """Whether it lies after the newest boundary that stands."""
    boundary: bool = False
    """The summary that a boundary which stands was made of."""
    message_id: str | None = None
    events: tuple[StepEvent, ...] = ()
    """Graver ones first."""
    ended: Outcome = Outcome.OK

    @property
    def tenth(self) -> str:
        """The digit: whole tenths of usable, `!` at or over it."""
        return SUMMARY if self.summary else tenth(self.count, self.usable)

    @property
    def letter(self) -> str:
        """The letter of the event row; empty: nothing happened."""
        return self.events[0].letter if self.events else ""

    @property
    def percent(self) -> int | None:
        """Of usable, half up."""
        return percent(self.count, self.usable)

    @property
    def over_by(self) -> int:
        """Tokens beyond usable; 0 when under or unknown."""
        return 0 if self.usable is None or self.summary else max(0, self.count - self.usable)


def tenth(count: int, usable: int | None) -> str:
    """Whole tenths of usable, never rounded up: 9 is still under, `!` is at or over, `?` is not known."""
    if usable is None:
        return UNKNOWN
    return OVER if count >= usable else str(10 * count // usable)


def turns_of(entries: Iterable[Entry]) -> dict[str, int]:
    """The user's turn of every message, numbered from 1; 0 for what stands before the first."""
    found: dict[str, int] = {}
    turn = 0
    for entry in entries:
        turn += entry.real_user
        found[entry.id] = turn
    return found


def marks_of(
    rows: Sequence[RequestRow], edits: Iterable[EditRecord], turns: Mapping[str, int] | None = None
) -> tuple[StepMark, ...]:
    """The steps of a session in order. Rows need no manifest; titles among them are left out."""
    steps = sorted((row for row in rows if row.step > 0), key=lambda row: row.step)
    log = tuple(edits)
    found = groups(log)
    happened = _edit_events(steps, log, found)
    boundaries = _boundaries(steps, found)
    boundary = max(boundaries, default=-1)
    marks: list[StepMark] = []
    before: StepMark | None = None
    turn, model = 0, ""
    for place, row in enumerate(steps):
        turn = (turns or {}).get(row.message_id or "", turn)
        mark = _mark(row, live=place > boundary, turn=turn, boundary=place in boundaries)
        again = _repeated(steps, place)
        events = _row_events(row, mark, again=again, model=model) + happened.get(place, [])
        model = model if mark.summary else row.model
        if before is not None and before.live == mark.live and not mark.summary:
            mark = msgspec.structs.replace(mark, grew=mark.count - before.count)
        ranked = tuple(sorted(events, key=lambda event: _RANK[event.letter]))
        marks.append(msgspec.structs.replace(mark, events=ranked))
        # A summary is no size of the window: that of the boundary begins anew, another changes nothing.
        before = (before if place > boundary else None) if mark.summary else mark
    return tuple(marks)


def live_range(marks: Sequence[StepMark]) -> tuple[int, int] | None:
    """First and last step number of the live window; None: no step was made since the boundary."""
    live = [mark.step for mark in marks if mark.live]
    return (live[0], live[-1]) if live else None


def _mark(row: RequestRow, *, live: bool, turn: int, boundary: bool) -> StepMark:
    decided = row.after or row.verdict
    count, basis = decided.count, decided.basis
    if row.after is None and row.usage is not None and _believed(row):
        count, basis = count_usage(Preset(row.preset), row.usage), Basis.MEASURED
    return StepMark(
        step=row.step,
        turn=turn,
        summary=row.kind is RequestKind.SUMMARY,
        count=count,
        basis=basis,
        usable=decided.usable,
        live=live,
        boundary=boundary,
        message_id=row.message_id,
        ended=row.outcome,
    )


def _believed(row: RequestRow) -> bool:
    """Only `guarded` asks whether a usage is plausible (`data.md` 4)."""
    if row.usage is None or row.usage.empty:
        return False
    if row.preset != Preset.GUARDED:
        return True
    return oddity(row.usage, limits=row.limits, estimate=row.verdict.count) is None


def _boundaries(steps: Sequence[RequestRow], found: Iterable[EditGroup]) -> frozenset[int]:
    """Places of the boundaries that stand: the last one ends what is archived."""
    return frozenset(
        _place(steps, edit)
        for group in found
        if group.compaction and group.active
        for edit in group.edits
        if edit.kind is EditKind.COMPACT
    )


def _place(steps: Sequence[RequestRow], edit: EditRecord) -> int:
    """The step of an edit; -1: it was made before the first one."""
    newest = bisect_right(steps, edit.at, key=lambda row: row.times.queued) - 1
    if isinstance(edit, Edit) and edit.kind is EditKind.COMPACT:
        # A recorded session's compaction is as old as its request, which is older than the summary's step.
        for span in (range(newest, -1, -1), range(newest + 1, len(steps))):
            for place in span:
                if steps[place].message_id in edit.targets:
                    return place
    return newest


def _row_events(row: RequestRow, mark: StepMark, *, again: bool, model: str) -> list[StepEvent]:
    """`again`: the next request repeats this one; `model`: that of the turn's step before."""
    events: list[StepEvent] = []
    if row.outcome is Outcome.REFUSED:
        events.append(StepEvent("!", "refused by the provider"))
    elif mark.tenth == OVER:
        events.append(StepEvent("!", f"over by {kilo(mark.over_by)}" if mark.over_by else "at the limit"))
    if row.outcome is Outcome.ERROR:
        said = f": {one_line(row.fault)}" if row.fault else ""
        events.append(StepEvent(*(("~", f"failed, sent again{said}") if again else ("x", f"failed{said}"))))
    if row.kind is RequestKind.TURN and model not in ("", row.model):
        events.append(StepEvent("m", f"model {one_line(row.model)}"))
    return events


def _repeated(steps: Sequence[RequestRow], place: int) -> bool:
    """Whether the next request is the same one again."""
    if place + 1 >= len(steps):
        return False
    row, after = steps[place], steps[place + 1]
    return (row.kind, row.view_hash) == (after.kind, after.view_hash)


def _edit_events(
    steps: Sequence[RequestRow], log: Iterable[EditRecord], found: Iterable[EditGroup]
) -> dict[int, list[StepEvent]]:
    """Events by place of the step; those made before the first step stand at it."""
    events: dict[int, list[StepEvent]] = {}
    known = {group.id: group for group in found}
    for record in log if steps else ():
        group = known.get(record.group)
        if group is None:
            continue
        if isinstance(record, Switch):
            event: StepEvent | None = StepEvent("u", f"{'redid' if record.on else 'undid'} {group.name}")
        else:
            event = _edit_event(record, group)
        if event is not None:
            events.setdefault(max(0, _place(steps, record)), []).append(event)
    return events


def _edit_event(edit: Edit, group: EditGroup) -> StepEvent | None:
    undone = "" if group.active else ", undone"
    sizes = ""
    if edit.tokens_before is not None and edit.tokens_after is not None:
        sizes = f" {kilo(edit.tokens_before)} -> {kilo(edit.tokens_after)}"
    match edit.kind:
        case EditKind.COMPACT:
            by_hand = edit.by == "user"
            words = f"{group.name} {'by hand' if by_hand else 'auto'}{sizes}{undone}"
            return StepEvent("c" if by_hand else "C", words)
        case EditKind.CLEAR:
            return StepEvent("P", f"cleared {plural(len(edit.targets), 'result')}{sizes}{undone}")
        case EditKind.RESTORE:
            return StepEvent("u", f"restored {plural(len(edit.targets), 'result')}{undone}")
        case EditKind.PIN:
            return StepEvent("i", f"pinned {plural(len(edit.targets), 'message')}{undone}")
        case _:
            return None
