"""Which messages are live: boundaries, the order of the request, turns, and the verbatim tail.

A boundary is never deleted; `window` only decides what the next request is made from (`design.md` 5.5).
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from qiming_tui.context.state import Boundary, Window, WindowEdits
from qiming_tui.model.messages import ABORTED, AssistantMessage, Entry
from qiming_tui.model.parts import ReasoningPart, StepStartPart, TextPart
from qiming_tui.model.window import Preset, Settings

CUT_OFF = frozenset({"length", "content-filter"})
"""Finishes that make no boundary under `guarded` (cases C-043)."""


def valid_summary(entry: Entry, preset: Preset, *, hidden: frozenset[str] = frozenset()) -> bool:
    """Whether an entry is a summary that may stand for the history before it: a summary, finished, without
    error, not undone; under `guarded` also not cut off and not blank (`data.md` 4, cases C-034 to C-036)."""
    info = entry.info
    if not isinstance(info, AssistantMessage) or not info.summary or not info.finish or info.error:
        return False
    if entry.id in hidden:
        return False
    if preset is not Preset.GUARDED:
        return True
    return info.finish not in CUT_OFF and bool(entry.text.strip())


def pairs(entries: Iterable[Entry], edits: WindowEdits, preset: Preset) -> list[tuple[Entry, Entry]]:
    """Every (compaction message, valid summary) in stored order; undone ones are none."""
    found: list[tuple[Entry, Entry]] = []
    asked: dict[str, Entry] = {}
    done: set[str] = set()
    for entry in entries:
        if entry.user:
            if entry.compaction is not None and entry.id not in edits.hidden:
                asked[entry.id] = entry
        elif isinstance(entry.info, AssistantMessage) and entry.info.summary:
            parent = asked.get(entry.info.parent_id)
            if parent is None or parent.id in done:
                continue
            if valid_summary(entry, preset, hidden=edits.hidden):
                done.add(parent.id)
                found.append((parent, entry))
    return found


def window(entries: tuple[Entry, ...], edits: WindowEdits, preset: Preset) -> Window:
    """The live window: all messages, or from the newest valid boundary on UC, S, tail, Continue, rest.

    Order is the stored one, never that of ids (facts 100 to 112, cases C-059). Older boundaries inside the
    tail are left out: a summary is given once (conformance 7, point 4).
    """
    found = pairs(entries, edits, preset)
    shown = tuple(e for e in entries if e.id not in edits.hidden) if edits.hidden else entries
    if not found:
        return Window(live=shown, archived=(), boundary=None, edits=edits)
    place = {id(entry): index for index, entry in enumerate(shown)}
    asked, summary = max(found, key=lambda pair: place[id(pair[0])])
    older = {id(entry) for pair in found for entry in pair}
    before = shown[: place[id(asked)]]
    tail_start = asked.compaction.tail_start_id if asked.compaction else None
    start = next((i for i, e in enumerate(before) if e.id == tail_start), len(before))
    tail = [e for e in before[start:] if id(e) not in older]
    rest = [e for e in shown[len(before) + 1 :] if e is not summary]
    kept = {id(e) for e in tail}
    boundary = Boundary(
        message_id=asked.id,
        summary_id=summary.id,
        tail_start_id=tail_start if start < len(before) else None,
    )
    return Window(
        live=(asked, summary, *tail, *_continue_first(rest)),
        archived=tuple(e.id for e in before if id(e) not in kept),
        boundary=boundary,
        edits=edits,
    )


def _continue_first(rest: list[Entry]) -> list[Entry]:
    """The Continue of the boundary stands before messages that were stored while the summary ran."""
    for place, entry in enumerate(rest):
        if not entry.user:
            break
        if is_continue(entry):
            return [entry, *rest[:place], *rest[place + 1 :]]
    return rest


def is_continue(entry: Entry) -> bool:
    """Whether it is the synthetic message that lets the model go on after an automatic compaction."""
    return entry.user and any(
        isinstance(part, TextPart)
        and part.synthetic
        and bool((part.metadata or {}).get("compaction_continue"))
        for part in entry.parts
    )


def says_something(entry: Entry) -> bool:
    """Whether an assistant message is sent at all: it has parts, and no error but an abort after it had
    begun to speak (facts 64, 78, 79)."""
    info = entry.info
    if not isinstance(info, AssistantMessage) or not entry.parts:
        return False
    if info.error is None:
        return True
    return info.error.name == ABORTED and any(
        not isinstance(part, (StepStartPart, ReasoningPart)) for part in entry.parts
    )


def unanswered(entries: Sequence[Entry]) -> int | None:
    """Index of the oldest real user message that nothing has answered yet (cases C-051), or None."""
    oldest: int | None = None
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if entry.real_user:
            oldest = index
        elif isinstance(entry.info, AssistantMessage) and not entry.info.summary and says_something(entry):
            break
    return oldest


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction summarises and what it keeps verbatim; decided once."""

    head: tuple[Entry, ...]
    """The messages that the summary will stand for, in the order of the request, boundary pair left out."""
    tail: tuple[Entry, ...] = ()
    tail_start_id: str | None = None
    replay: Entry | None = None
    """`opencode` and `qiming`, after a refusal: the user's message that is repeated as a copy."""
    waiting: bool = False
    """The tail holds a user message that nothing has answered."""


Measure = Callable[[Sequence[Entry]], int]
"""Tokens of some messages as the next request would hold them."""


def select_tail(
    history: Sequence[Entry],
    settings: Settings,
    measure: Measure,
    *,
    usable: int | None,
    auto: bool,
    overflow: bool = False,
) -> Cut:
    """Split the live history (without boundary pair and pending compaction) into head and verbatim tail.

    `measure` counts by the preset's own estimate; `usable` is the working model's (cases C-054), None when
    its window is unknown. Rules: `data.md` 4; conformance 1.3 step 5 for `opencode` and `qiming`.
    """
    if settings.preset is Preset.GUARDED:
        return _guarded_tail(history, settings, measure, usable=usable, auto=auto)
    replay = _replayable(history) if overflow else None
    kept = history if replay is None else history[:replay]
    copy = None if replay is None else history[replay]
    turns, budget = settings.tail_turns, settings.preserve_recent_tokens
    if (turns is None and budget is None) or (turns is not None and turns <= 0):
        return Cut(head=tuple(kept), replay=copy)
    limit = budget if budget else min(15_000, max(2_000, (usable or 0) // 4))
    start = _suffix_start(kept, measure, budget=limit, turns=turns)
    if start is None or start == 0:
        return Cut(head=tuple(kept), replay=copy)
    return Cut(head=tuple(kept[:start]), tail=tuple(kept[start:]), tail_start_id=kept[start].id, replay=copy)


def _replayable(history: Sequence[Entry]) -> int | None:
    """Index of the user message to repeat; None when the history before it holds no other real one."""
    for index in range(len(history) - 1, -1, -1):
        if history[index].user and history[index].compaction is None:
            return index if any(entry.real_user for entry in history[:index]) else None
    return None


def _suffix_start(
    history: Sequence[Entry], measure: Measure, *, budget: int, turns: int | None
) -> int | None:
    """Where the tail starts by OpenCode's rule: whole turns from the newest, then a suffix of the first one
    that does not fit; None when nothing fits."""
    starts = [i for i, entry in enumerate(history) if entry.user and entry.compaction is None]
    if turns is not None:
        starts = starts[-turns:]
    end, left, kept = len(history), budget, None
    for start in reversed(starts):
        size = measure(history[start:end])
        if size > left:
            suffix = range(start + 1, end)
            return next((i for i in suffix if measure(history[i:end]) <= left), kept)
        left -= size
        end = kept = start
    return kept


def _guarded_tail(
    history: Sequence[Entry], settings: Settings, measure: Measure, *, usable: int | None, auto: bool
) -> Cut:
    """Real turns from the newest while they fit; always what is unanswered; starts at a user message."""
    waiting = unanswered(history)
    floor = len(history) if waiting is None else waiting
    limit = min(15_000, usable // 4) if usable is not None else 15_000
    budget = settings.preserve_recent_tokens if settings.preserve_recent_tokens is not None else limit
    turns = settings.tail_turns
    start, used, kept = floor, measure(history[floor:]), 0
    starts = [i for i, entry in enumerate(history[:floor]) if entry.real_user]
    chosen = [start]
    for place in reversed(starts):
        size = measure(history[place:start])
        if used + size > budget or (turns is not None and kept >= turns):
            break
        start, used, kept = place, used + size, kept + 1
        chosen.append(start)
    if not measure(history[:start]):
        start = next((i for i in reversed(chosen) if measure(history[:i])), floor) if auto else floor
    tail = tuple(history[start:])
    return Cut(
        head=tuple(history[:start]),
        tail=tail,
        tail_start_id=tail[0].id if tail else None,
        waiting=waiting is not None,
    )
