"""The fold over the log of edits, and what may be undone and redone (`data.md` 3).

The log only grows: an undo is a record that switches a group off, a redo one that switches it on. The state
of the window is a fold over the edits of the groups that are on, in order; per part the last one wins.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from qiming_tui.context.state import Pin, WindowEdits
from qiming_tui.model.edits import Edit, EditKind, EditRecord, Switch
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.parts import Completed, ToolPart

UNCLIP: Final = "clip"
"""Parameter of a restore that is about a call's arguments alone: it says nothing about the result."""


class EditGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Edits that are undone together, as the log has them."""

    id: str
    edits: tuple[Edit, ...]
    active: bool
    switched: int | None
    """`seq` of the newest switch of the group; None: it never was undone."""
    name: str
    """For people: "C2" for the second compaction, else what it does ("clear", "pin", ...)."""

    @property
    def seq(self) -> int:
        """`seq` of its newest edit."""
        return self.edits[-1].seq

    @property
    def compaction(self) -> bool:
        """Whether it is a compaction."""
        return any(edit.kind is EditKind.COMPACT for edit in self.edits)


def _ordered(records: Iterable[EditRecord]) -> list[EditRecord]:
    return sorted(records, key=lambda record: record.seq)


def groups(records: Iterable[EditRecord]) -> tuple[EditGroup, ...]:
    """All groups in the order of their first edit; a switch of a group that does not exist is ignored."""
    edits: dict[str, list[Edit]] = {}
    switches: dict[str, Switch] = {}
    for record in _ordered(records):
        if isinstance(record, Switch):
            switches[record.group] = record
        else:
            edits.setdefault(record.group, []).append(record)
    out: list[EditGroup] = []
    compactions = 0
    for group, members in edits.items():
        name = members[0].kind.value.replace("_", " ")
        if any(edit.kind is EditKind.COMPACT for edit in members):
            compactions += 1
            name = f"C{compactions}"
        switch = switches.get(group)
        out.append(
            EditGroup(
                id=group,
                edits=tuple(members),
                active=switch is None or switch.on,
                switched=None if switch is None else switch.seq,
                name=name,
            )
        )
    return tuple(out)


class _Fold:
    """The state while the edits are applied one by one."""

    def __init__(self) -> None:
        self.cleared: dict[str, bool] = {}
        self.first: dict[str, EditKind] = {}
        self.clipped: dict[str, int] = {}
        self.pins: dict[str, Pin] = {}
        self.summaries: dict[str, str] = {}
        self.hidden: set[str] = set()

    def note(self, edit: Edit, active: bool) -> None:
        """Take one edit, active or not."""
        if edit.kind in (EditKind.CLEAR, EditKind.RESTORE) and not edit.params.get(UNCLIP):
            for target in edit.targets:
                self.first.setdefault(target, edit.kind)
        if active:
            for target in edit.targets:
                self.apply(edit, target)
        elif edit.kind is EditKind.COMPACT:
            self.hidden.update(edit.targets)

    def apply(self, edit: Edit, target: str) -> None:
        """Apply an active edit to one of its targets."""
        match edit.kind:
            case EditKind.CLEAR:
                self.cleared[target] = True
            case EditKind.RESTORE:
                self.clipped.pop(target, None)
                if not edit.params.get(UNCLIP):
                    self.cleared[target] = False
            case EditKind.CLIP:
                chars = edit.params.get("chars")
                if isinstance(chars, int):
                    self.clipped[target] = max(0, chars)
            case EditKind.PIN:
                self.pins.pop(target, None)
                text, source = str(edit.params.get("text", "")), str(edit.params.get("source", ""))
                self.pins[target] = Pin(target=target, text=text, source=source)
            case EditKind.UNPIN:
                self.pins.pop(target, None)
            case EditKind.SUMMARY_EDIT:
                self.summaries[target] = str(edit.params.get("text", ""))
            case EditKind.COMPACT:
                pass


def fold(records: Iterable[EditRecord]) -> WindowEdits:
    """What the log means for the next request. Only active groups count, in `seq` order."""
    found = groups(records)
    inactive = frozenset(group.id for group in found if not group.active)
    state = _Fold()
    for edit in sorted((edit for group in found for edit in group.edits), key=lambda edit: edit.seq):
        state.note(edit, edit.group not in inactive)
    cleared = {target for target, on in state.cleared.items() if on}
    # Only what was cleared can be restored: where the first edit ever is a restore and no edit is active,
    # the part is as it came, cleared (an imported session).
    untouched = {target: kind for target, kind in state.first.items() if target not in state.cleared}
    cleared.update(target for target, kind in untouched.items() if kind is EditKind.RESTORE)
    # A clear that was undone is a wish to keep: prune must not take the part again at once (cases C-030).
    restored = {target for target, on in state.cleared.items() if not on}
    restored.update(target for target, kind in untouched.items() if kind is EditKind.CLEAR)
    return WindowEdits(
        cleared=frozenset(cleared),
        restored=frozenset(restored),
        touched=frozenset(state.first),
        clipped=state.clipped,
        pins=tuple(state.pins.values()),
        hidden=frozenset(state.hidden),
        summaries=state.summaries,
        inactive=inactive,
    )


def is_cleared(part: ToolPart, edits: WindowEdits) -> bool:
    """Whether the model sees the placeholder instead of the part's result: the edits decide, and for a part
    that no edit ever named the stored projection `state.time.compacted`."""
    if part.id in edits.touched:
        return part.id in edits.cleared
    return isinstance(part.state, Completed) and bool(part.state.time.compacted)


def _find(found: Sequence[EditGroup], group: str) -> EditGroup:
    for candidate in found:
        if candidate.id == group:
            return candidate
    raise EditRefused(f"there is no edit {group}")


def _later_compaction(found: Sequence[EditGroup], group: EditGroup) -> EditGroup | None:
    later = [other for other in found if other.compaction and other.active and other.seq > group.seq]
    return later[-1] if later else None


def check_undo(records: Iterable[EditRecord], group: str) -> EditGroup:
    """The group, if it may be undone; raises `EditRefused` with the reason if not.

    A compaction cannot be undone while a later one is active, since that one's summary stands for it
    (`data.md` 3, sequence 4).
    """
    found = groups(records)
    target = _find(found, group)
    if not target.active:
        raise EditRefused(f"{target.name} is undone already", "redo it, or undo another edit")
    if target.compaction and (later := _later_compaction(found, target)) is not None:
        raise EditRefused(f"undo {later.name} first")
    return target


def check_redo(records: Iterable[EditRecord], group: str) -> EditGroup:
    """The group, if it may be redone; raises `EditRefused` with the reason if not.

    A compaction comes back only over the history that it summarised: no later one may be active, and those
    before it must be as they were when it was made.
    """
    log = tuple(records)
    found = groups(log)
    target = _find(found, group)
    if target.active:
        raise EditRefused(f"{target.name} is not undone")
    if not target.compaction:
        return target
    if (later := _later_compaction(found, target)) is not None:
        raise EditRefused(f"undo {later.name} first")
    earlier = groups(record for record in log if record.seq < target.edits[0].seq)
    then = {group.id for group in earlier if group.compaction and group.active}
    for other in found:
        if other.compaction and other.seq < target.seq and other.active != (other.id in then):
            raise EditRefused(f"{'undo' if other.active else 'redo'} {other.name} first")
    return target


def _may_redo(records: Sequence[EditRecord], group: EditGroup) -> bool:
    try:
        check_redo(records, group.id)
    except EditRefused:
        return False
    return True


def undoable(records: Iterable[EditRecord]) -> EditGroup | None:
    """What an undo without a name takes back: the newest active group; None: there is nothing to undo."""
    log = tuple(records)
    active = sorted((group for group in groups(log) if group.active), key=lambda group: group.seq)
    return active[-1] if active else None


def redoable(records: Iterable[EditRecord]) -> EditGroup | None:
    """What a redo without a name brings back: the group that was undone last, unless something was edited
    since (a new edit ends the line of redos, as in every editor); it stays reachable by its name."""
    log = tuple(records)
    newest = max((record.seq for record in log if isinstance(record, Edit)), default=-1)
    undone = [group for group in groups(log) if not group.active and (group.switched or 0) > newest]
    undone.sort(key=lambda group: group.switched or 0)
    for group in reversed(undone):
        if _may_redo(log, group):
            return group
    return None
