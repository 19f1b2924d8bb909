"""The session's messages as the screen sees them: events in, changes of the conversation out.

One book per session. It knows no widget: what it says is put on the screen, or into a test.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import tzinfo
from typing import Final

import msgspec

from qiming_tui.model.edits import Edit, EditKind, EditRecord
from qiming_tui.model.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    MessageUpdated,
    PartFinished,
    PartStarted,
    PartUpdated,
    PermissionAnswered,
    PermissionAsked,
)
from qiming_tui.model.messages import AssistantMessage, Entry, Message, UserMessage
from qiming_tui.model.parts import CompactionPart, Part
from qiming_tui.tui.blocks import Block, BoundaryFacts, Change, Kind, block_of, blocks_of, note_of
from qiming_tui.tui.toolrow import Phase

NOTHING: Final = Change()


class _Told:
    """A message as far as it was told."""

    def __init__(self, info: Message | None, seq: int) -> None:
        self.info = info
        self.seq = seq
        self.turn = 0
        self.parts: dict[str, Part] = {}

    def index(self, part_id: str) -> int:
        """A part's place in its message."""
        return list(self.parts).index(part_id)


class Book:
    """Turns the events of one session into blocks."""

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        *,
        edits: Sequence[EditRecord] = (),
        hidden: Collection[str] = (),
        cleared: Collection[str] = (),
        zone: tzinfo | None = None,
    ) -> None:
        """`hidden`: messages of undone compactions; `cleared`: parts that edits clear (`WindowEdits`)."""
        self._zone = zone
        self._cleared = frozenset(cleared)
        self._told: dict[str, _Told] = {}
        self._turn = 0
        self._next = 0
        self._waiting: dict[str, str] = {}
        """Request id of an open question -> id of the tool part that waits for it."""
        self._running = ""
        """Id of the block that stands for a compaction under way."""
        self._started: CompactionStarted | None = None
        self._number = 0
        self._skipped = ""
        """Why the last compaction was not even begun."""
        self._blocks: list[Block] = []
        self._facts: dict[str, BoundaryFacts] = {}
        for entry in entries:
            if entry.id not in hidden:
                self._read(entry)
        self._remember(edits)

    @property
    def blocks(self) -> list[Block]:
        """The blocks of what was read at the start."""
        return self._blocks

    @property
    def facts(self) -> dict[str, BoundaryFacts]:
        """What is known of the compactions in it, by message id."""
        return self._facts

    def _read(self, entry: Entry) -> None:
        told = self._tell(entry.id, entry.info, seq=entry.seq)
        told.parts = {part.id: part for part in entry.parts}
        if entry.real_user:
            self._turn += 1
            told.turn = self._turn
        found = blocks_of(entry, turn=told.turn, cleared=self._cleared, zone=self._zone)
        self._blocks += found
        if entry.compaction is not None:
            self._facts[entry.id] = BoundaryFacts(auto=entry.compaction.auto)

    def _remember(self, edits: Sequence[EditRecord]) -> None:
        """Sizes before and after, from the log of edits, and how many messages each compaction put away."""
        sizes = {
            edit.targets[0]: edit
            for edit in edits
            if isinstance(edit, Edit) and edit.kind is EditKind.COMPACT and edit.targets
        }
        seen = 0
        for told_id, told in self._told.items():
            if told_id not in self._facts:
                seen += 1
                continue
            self._number += 1
            edit = sizes.get(told_id)
            self._facts[told_id] = msgspec.structs.replace(
                self._facts[told_id],
                number=self._number,
                before=edit.tokens_before if edit is not None else None,
                after=edit.tokens_after if edit is not None else None,
                rough=True,
                archived=seen - self._tail(told),
            )
            seen = self._tail(told)

    def _tail(self, told: _Told) -> int:
        """How many messages before a compaction stay in the window."""
        part = next((part for part in told.parts.values() if isinstance(part, CompactionPart)), None)
        start = part.tail_start_id if part is not None else None
        if start is None or start not in self._told:
            return 0
        first = self._told[start].seq
        return sum(first <= other.seq < told.seq for other in self._told.values())

    def _tell(self, message_id: str, info: Message | None, *, seq: int | None = None) -> _Told:
        told = self._told.get(message_id)
        if told is None:
            told = _Told(info, self._next if seq is None else seq)
            self._told[message_id] = told
            self._next = max(self._next, told.seq + 1)
        elif info is not None:
            told.info = info
        return told

    # Events ----------------------------------------------------------------------------------------

    def take(self, event: Event) -> Change:
        """What an event changes. Text that streams comes as deltas, past this book."""
        match event:
            case MessageUpdated(info=info):
                return self._message(info)
            case PartStarted(part=part) | PartFinished(part=part):
                return self._part(part)
            case PartUpdated(part=part, progress=progress):
                return self._part(part, progress=progress)
            case PermissionAsked(request_id=request_id, tool=tool):
                return self._asked(request_id, tool)
            case PermissionAnswered(request_id=request_id):
                return self._answered(request_id)
            case CompactionStarted():
                return self._compacting(event)
            case CompactionEnded():
                return self._compacted(event)
            case _:
                return NOTHING

    def _message(self, info: Message) -> Change:
        told = self._tell(info.id, info)
        if isinstance(info, UserMessage):
            return self._said(told) if told.parts else NOTHING
        if info.summary:
            return self._boundary(info, told)
        note = note_of(info, order=(told.seq, len(told.parts)))
        return Change(put=(note,)) if note is not None else NOTHING

    def _part(self, part: Part, *, progress: str = "") -> Change:
        told = self._tell(part.message_id, None)
        told.parts[part.id] = part
        if isinstance(told.info, UserMessage):
            return self._said(told)
        info = told.info
        order = (told.seq, told.index(part.id))
        if info is None:
            return self._summary_part(part, order)
        block = block_of(
            part,
            order=order,
            summary=info.summary,
            cleared=self._cleared,
            progress=progress,
            zone=self._zone,
        )
        return Change(put=(block,)) if block is not None else NOTHING

    def _said(self, told: _Told) -> Change:
        assert told.info is not None
        entry = Entry(told.info, tuple(told.parts.values()), told.seq)
        if entry.real_user and not told.turn:
            self._turn += 1
            told.turn = self._turn
        return Change(put=blocks_of(entry, turn=told.turn, zone=self._zone))

    # Permissions -----------------------------------------------------------------------------------

    def _asked(self, request_id: str, tool: str) -> Change:
        """The running call of that tool waits for the user."""
        for told in reversed(self._told.values()):
            for part in reversed(told.parts.values()):
                block = self._call(told, part)
                row = block.tool if block is not None else None
                if block is not None and row is not None and row.phase is Phase.RUNNING and row.name == tool:
                    self._waiting[request_id] = part.id
                    return Change(put=(_phase(block, Phase.WAITING),))
        return NOTHING

    def asking(self, request_id: str) -> str | None:
        """Id of the tool part that an open question is about."""
        return self._waiting.get(request_id)

    def _answered(self, request_id: str) -> Change:
        part_id = self._waiting.pop(request_id, None)
        for told in reversed(self._told.values()):
            if part_id is not None and part_id in told.parts:
                block = self._call(told, told.parts[part_id])
                return Change(put=(block,)) if block is not None else NOTHING
        return NOTHING

    def _call(self, told: _Told, part: Part) -> Block | None:
        if told.info is None or isinstance(told.info, UserMessage):
            return None
        return block_of(part, order=(told.seq, told.index(part.id)), zone=self._zone)

    # Compactions -----------------------------------------------------------------------------------

    def _compacting(self, event: CompactionStarted) -> Change:
        """A rule at the end, with what is known, until the boundary is there."""
        self._started = event
        self._running = f"compaction:{self._next}"
        told = self._tell(self._running, None)
        block = Block(id=self._running, message_id=self._running, kind=Kind.BOUNDARY, order=(told.seq, 0))
        facts = BoundaryFacts(auto=event.auto, step=event.step, before=event.before, running="compacting")
        return Change(put=(block,), facts={block.id: facts})

    def _summary_part(self, part: Part, order: tuple[int, int]) -> Change:
        """A part of a message that was not told yet: the summary that is being written."""
        if not self._running:
            return NOTHING
        draft = block_of(part, order=order, summary=True, zone=self._zone)
        return Change(put=(draft,)) if draft is not None else NOTHING

    def _boundary(self, info: AssistantMessage, told: _Told) -> Change:
        """The summary's message: the boundary stands where its request does, the summary below it."""
        asked = self._tell(info.parent_id, None)
        if told.seq <= asked.seq:
            told.seq = self._next
            self._next += 1
        rule = Block(
            id=info.parent_id,
            message_id=info.parent_id,
            kind=Kind.BOUNDARY,
            order=(asked.seq, 0),
            parts=tuple(asked.parts),
        )
        entry = Entry(info, tuple(told.parts.values()), told.seq)
        drop = self._forget_drafts()
        facts = self._facts.get(info.parent_id, BoundaryFacts())
        if self._started is not None:
            facts = BoundaryFacts(
                auto=self._started.auto, step=self._started.step, before=self._started.before, rough=True
            )
        self._facts[info.parent_id] = facts
        self._running = info.parent_id if self._running else ""
        return Change(
            put=(rule, *blocks_of(entry, zone=self._zone)), drop=drop, facts={info.parent_id: facts}
        )

    def _forget_drafts(self) -> tuple[str, ...]:
        """Ids of the blocks that stood for what is now told, or never will be."""
        drafts = [message for message, told in self._told.items() if told.info is None]
        return tuple(block for message in drafts for block in (message, *self._told.pop(message).parts))

    def _compacted(self, event: CompactionEnded) -> Change:
        """It ended: the rule says with what, or why it came to nothing."""
        rule, self._running, self._started = self._running, "", None
        if event.phase != "finished":
            return self._came_to_nothing(event, rule)
        self._skipped = ""
        if not rule:
            return NOTHING
        self._number += 1
        facts = msgspec.structs.replace(
            self._facts.get(rule, BoundaryFacts(auto=event.auto, step=event.step)),
            number=self._number,
            before=event.before,
            after=event.after,
            rough=True,
            archived=self._put_away(rule),
        )
        self._facts[rule] = facts
        return Change(facts={rule: facts})

    def _came_to_nothing(self, event: CompactionEnded, rule: str) -> Change:
        """A note that stays: why there is no boundary. One that repeats at every step is told once."""
        if not rule and event.reason == self._skipped:
            return NOTHING
        self._skipped = event.reason
        name = rule or f"skipped:{self._next}"
        words = event.words or "it came to nothing"
        note = Block(
            id=f"{name}:note",
            message_id=name,
            kind=Kind.NOTE,
            order=(self._next, 0),
            text=f"compaction: {words}" if rule else f"not compacted: {words}",
            failed=event.phase == "failed",
        )
        self._next += 1
        return Change(put=(note,), drop=self._forget_drafts() if rule else ())

    def _put_away(self, rule: str) -> int:
        """Messages between the boundary before and this one."""
        at = self._told[rule].seq
        before = max((self._told[i].seq for i in self._facts if i in self._told and i != rule), default=-1)
        return sum(before < told.seq < at for told in self._told.values() if told.info is not None)


def _phase(block: Block, phase: Phase) -> Block:
    assert block.tool is not None
    return msgspec.structs.replace(block, tool=msgspec.structs.replace(block.tool, phase=phase))
