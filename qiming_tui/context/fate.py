"""What a compaction did: the window just before and just after it, and the fate of every message.

Both windows are built again from the session's own history and log of edits as they stood at that moment, so
this works for a boundary that was undone, and for an imported one. The system prompt, tools and memory files
are those of now.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from qiming_tui.context.boundary import is_continue, pairs
from qiming_tui.context.cache import Cache
from qiming_tui.context.edits import EditGroup, fold, groups
from qiming_tui.context.render import unloaded
from qiming_tui.context.state import SessionState, Window, WindowEdits
from qiming_tui.context.strip import turns_of
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import FIXED, build, window_of
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.messages import Entry
from qiming_tui.model.outputs import filled
from qiming_tui.model.window import ContextView, Item, ItemState, Klass, Preset, Settings


class Fate(StrEnum):
    """What became of a message at a boundary."""

    KEPT = "kept"
    """Still sent as it was."""
    SUMMED = "summed"
    """The summary stands for it."""
    PINNED = "pinned"
    """The summary stands for it, and what was pinned of it is sent."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A boundary of the history."""

    name: str
    """C1, C2 ... in the order of the log."""
    asked_id: str
    summary_id: str
    auto: bool
    focus: str
    group: str | None
    """The group of edits that undoes it; None: it was imported."""
    active: bool
    newest: bool
    """Whether it is the one in force."""


class MessageFate(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the window before, in tokens as it was sent then."""

    message_id: str
    turn: int
    tokens: int
    fate: Fate


class TurnFate(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one turn that had the same fate."""

    turn: int
    subject: str
    """What the user said; not made safe for a screen."""
    message_ids: tuple[str, ...]
    tokens: int
    fate: Fate


class BeforeAfter(msgspec.Struct, frozen=True, kw_only=True):
    """One boundary, whole."""

    mark: Mark
    before: ContextView
    after: ContextView
    messages: tuple[MessageFate, ...]
    turns: tuple[TurnFate, ...]
    archived: tuple[Entry, ...]
    """The messages that the summary stands for."""
    summary: str
    """Its text as the model wrote it."""
    cleared: tuple[str, ...]
    """Ids of the parts that were not sent any more before it came."""

    @property
    def fixed(self) -> int:
        """Tokens of system prompt, tools and memory files."""
        return sum(item.tokens for item in self.before.items if item.klass in FIXED)

    @property
    def summed(self) -> int:
        """Tokens of what the summary stands for."""
        return sum(row.tokens for row in self.messages if row.fate is not Fate.KEPT)

    @property
    def summary_tokens(self) -> int:
        """Tokens of the summary."""
        return self.after.by_class[Klass.SUMMARY]

    @property
    def ratio(self) -> float | None:
        """How many tokens one of the summary stands for."""
        return self.summed / self.summary_tokens if self.summary_tokens else None

    @property
    def freed(self) -> int:
        """Tokens that the window became smaller by."""
        return self.before.total - self.after.total


def marks_of(state: SessionState, preset: Preset) -> tuple[Mark, ...]:
    """Every boundary that ever was, undone ones too, in stored order."""
    whole = pairs(state.entries, WindowEdits(), preset)
    in_force = window_of(state, Settings(preset=preset)).boundary
    by_target = _groups_by_target(state)
    unnamed = 0
    found: list[Mark] = []
    for asked, summary in whole:
        group = by_target.get(summary.id)
        unnamed += group is None
        part = asked.compaction
        found.append(
            Mark(
                name=group.name if group is not None else f"C{unnamed}",
                asked_id=asked.id,
                summary_id=summary.id,
                auto=bool(part and part.auto),
                focus=(part.focus if part else None) or "",
                group=None if group is None else group.id,
                active=group is None or group.active,
                newest=in_force is not None and in_force.summary_id == summary.id,
            )
        )
    return tuple(found)


def _groups_by_target(state: SessionState) -> dict[str, EditGroup]:
    return {
        target: group
        for group in groups(state.edits)
        if group.compaction
        for edit in group.edits
        if edit.kind is EditKind.COMPACT
        for target in edit.targets
    }


def mark_of(marks: Sequence[Mark], id: str) -> Mark | None:
    """The boundary with this name, or of this compaction or summary message; without an id the newest."""
    if not id:
        return next((m for m in reversed(marks) if m.newest), marks[-1] if marks else None)
    return next((m for m in marks if id.upper() == m.name or id in (m.asked_id, m.summary_id)), None)


class Moment(msgspec.Struct, frozen=True):
    """A session just before and just after a boundary."""

    mark: Mark
    before: SessionState
    after: SessionState

    def wanted(self, settings: Settings) -> tuple[str, ...]:
        """Ids of parts that were sent then and whose outputs lie in the store now."""
        windows = (window_of(self.before, settings), window_of(self.after, settings))
        return tuple(dict.fromkeys(id for window in windows for id in unloaded(window)))

    def loaded(self, texts: Mapping[str, str]) -> "Moment":
        """The same with these outputs in their places."""
        return Moment(self.mark, _filled(self.before, texts), _filled(self.after, texts))


def moment(state: SessionState, mark: Mark) -> Moment:
    """The session as it stood around a boundary."""
    place = next(i for i, entry in enumerate(state.entries) if entry.id == mark.asked_id)
    made = _edit_of(state, mark)
    asked = state.entries[place]
    if made is None:  # imported: whoever made it kept no log, but times
        log = tuple(record for record in state.edits if record.at <= asked.info.time.created)
        targets = {mark.asked_id, mark.summary_id}
        until = log
    else:
        log = tuple(record for record in state.edits if record.seq < made.seq)
        targets = set(made.targets)
        until = (*log, made)
    end = max(i for i, entry in enumerate(state.entries) if entry.id in targets) + 1
    if end < len(state.entries) and is_continue(state.entries[end]):
        end += 1
    bare = msgspec.structs.replace(state, measured=None, refused=None, refused_manifest=None)
    return Moment(
        mark,
        msgspec.structs.replace(bare, entries=state.entries[:place], edits=log),
        msgspec.structs.replace(bare, entries=state.entries[:end], edits=until),
    )


def _edit_of(state: SessionState, mark: Mark) -> Edit | None:
    return next(
        (
            record
            for record in state.edits
            if isinstance(record, Edit)
            and record.kind is EditKind.COMPACT
            and mark.summary_id in record.targets
        ),
        None,
    )


def _filled(state: SessionState, texts: Mapping[str, str]) -> SessionState:
    return msgspec.structs.replace(state, entries=filled(state.entries, texts))


def before_after(
    moment: Moment, settings: Settings, tally: Tally, *, cache: Cache | None = None
) -> BeforeAfter:
    """The boundary with the fate of every message. While `tally.exact` is false the sizes are guesses."""
    cache = cache or Cache()
    then, now = window_of(moment.before, settings), window_of(moment.after, settings)
    before = build(moment.before, settings, tally, cache=cache, window=then)
    after = build(moment.after, settings, tally, cache=cache, window=now)
    fates = _fates(then, now, before.items, turns_of(moment.before.entries))
    summary = next(e for e in moment.after.entries if e.id == moment.mark.summary_id)
    gone = {row.message_id for row in fates if row.fate is not Fate.KEPT}
    return BeforeAfter(
        mark=moment.mark,
        before=before,
        after=after,
        messages=fates,
        turns=_turns(fates, then, moment.before),
        archived=tuple(entry for entry in then.live if entry.id in gone),
        summary=summary.text,
        cleared=tuple(
            item.part_id
            for item in before.items
            if item.state is ItemState.CLEARED and item.part_id is not None
        ),
    )


def _fates(
    then: Window, now: Window, items: Sequence[Item], turns: Mapping[str, int]
) -> tuple[MessageFate, ...]:
    sizes: dict[str, int] = {}
    for item in items:
        if item.message_id is not None:
            sizes[item.message_id] = sizes.get(item.message_id, 0) + item.tokens
    kept = {entry.id for entry in now.live[2:]}
    pins = {pin.target for pin in now.edits.pins}
    rows = []
    for entry in then.live:
        fate = Fate.SUMMED
        if entry.id in kept:
            fate = Fate.KEPT
        elif entry.id in pins or any(part.id in pins for part in entry.parts):
            fate = Fate.PINNED
        rows.append(
            MessageFate(message_id=entry.id, turn=turns[entry.id], tokens=sizes.get(entry.id, 0), fate=fate)
        )
    return tuple(rows)


EARLIER: Final = "earlier summary"
"""The subject of what a boundary before this one had left."""


def _turns(fates: Sequence[MessageFate], then: Window, state: SessionState) -> tuple[TurnFate, ...]:
    numbers = turns_of(state.entries)
    entries = {entry.id: entry for entry in then.live}
    pair = () if then.boundary is None else (then.boundary.message_id, then.boundary.summary_id)
    rows: dict[tuple[int, bool, Fate], list[MessageFate]] = {}
    for fate in fates:
        key = (numbers[fate.message_id], fate.message_id in pair, fate.fate)
        rows.setdefault(key, []).append(fate)
    found = []
    for (turn, earlier, fate_of), members in rows.items():
        said = next((e for m in members if (e := entries[m.message_id]).real_user), None)
        first = next((e for e in state.entries if numbers[e.id] == turn and e.real_user), None)
        source = said or first
        found.append(
            TurnFate(
                turn=turn,
                subject=EARLIER if earlier else "" if source is None else source.text,
                message_ids=tuple(member.message_id for member in members),
                tokens=sum(member.tokens for member in members),
                fate=fate_of,
            )
        )
    return tuple(found)


def current_summary(state: SessionState, summary_id: str, text: str) -> str:
    """The summary's text as it is sent now: the user's own words for it, if there are any."""
    return fold(state.edits).summaries.get(summary_id, "").strip() or text
