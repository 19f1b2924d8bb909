"""The session in memory: what the store holds, and what it could not take yet."""

from collections.abc import Iterable

import msgspec

from qiming_tui.context.state import Block, Measured, SessionState, ToolSchema
from qiming_tui.model.changes import (
    Change,
    DropQueue,
    PutAttempt,
    PutEdit,
    PutMessage,
    PutPart,
    PutQueue,
    PutRequest,
    PutSession,
    SessionRecord,
)
from qiming_tui.model.edits import EditRecord
from qiming_tui.model.ledger import Attempt, ManifestRow, QueueItem, RequestRow
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import AssistantMessage, Entry, Message, Session, UserMessage
from qiming_tui.model.parts import Part
from qiming_tui.model.stream import RequestKind


class Live:
    """A session's record as it stands now. Changed only through `absorb`."""

    def __init__(self, record: SessionRecord) -> None:
        self.session: Session = record.session
        self.entries: list[Entry] = list(record.entries)
        self.edits: list[EditRecord] = list(record.edits)
        self.queue: list[QueueItem] = list(record.queue)
        self.attempts: list[Attempt] = list(record.attempts)
        self.last_request: RequestRow | None = record.last_request
        self.step: int = record.requests
        self.ledger: dict[str, RequestRow] = {}
        """The requests of this run by id, without their manifests: what a screen draws steps from."""
        self._place = {entry.id: index for index, entry in enumerate(self.entries)}
        self._request_seq = record.requests

    @property
    def blank(self) -> bool:
        """Whether nothing was ever said in this session, and nobody gave it a name."""
        return not (self.entries or self.queue or self.edits or self.session.title)

    def absorb(self, change: Change) -> None:
        """Apply one change in memory; the same upsert that the store does."""
        match change:
            case PutSession(session):
                self.session = session
            case PutMessage(message, seq):
                self._put_message(message, seq)
            case PutPart(part, seq):
                self._put_part(part, seq)
            case PutEdit(record):
                self.edits = [*(old for old in self.edits if old.id != record.id), record]
            case PutRequest(row, _):
                self.ledger[row.id] = msgspec.structs.replace(row, manifest=())
                if row.kind in (RequestKind.TURN, RequestKind.SUMMARY):
                    self.last_request = row
            case PutAttempt(attempt):
                self.attempts = [*(old for old in self.attempts if old.id != attempt.id), attempt]
            case PutQueue(item):
                self.queue = [*(old for old in self.queue if old.id != item.id), item]
            case DropQueue(id):
                self.queue = [item for item in self.queue if item.id != id]
            case _:
                pass

    def _put_message(self, message: Message, seq: int) -> None:
        place = self._place.get(message.id)
        if place is None:
            self._place[message.id] = len(self.entries)
            self.entries.append(Entry(message, (), seq))
        else:
            old = self.entries[place]
            self.entries[place] = Entry(message, old.parts, old.seq)

    def _put_part(self, part: Part, seq: int) -> None:
        place = self._place[part.message_id]
        entry = self.entries[place]
        parts = list(entry.parts)
        for index, old in enumerate(parts):
            if old.id == part.id:
                parts[index] = part
                break
        else:
            parts.insert(min(seq, len(parts)), part)
        self.entries[place] = Entry(entry.info, tuple(parts), entry.seq)

    def entry(self, message_id: str) -> Entry:
        """The entry of a message; KeyError when there is none."""
        return self.entries[self._place[message_id]]

    def has(self, message_id: str) -> bool:
        """Whether a message of this id is there."""
        return message_id in self._place

    def next_seq(self) -> int:
        """The next free place in the stored order."""
        return self.entries[-1].seq + 1 if self.entries else 0

    def next_edit_seq(self) -> int:
        """The next free place in the log of edits."""
        return self.edits[-1].seq + 1 if self.edits else 0

    def next_queue_seq(self) -> int:
        """The next free place in the queue."""
        return self.queue[-1].seq + 1 if self.queue else 0

    def next_request(self, kind: RequestKind) -> tuple[int, int]:
        """(step, seq) of a new ledger row; a title or a subtask has step 0."""
        self._request_seq += 1
        if kind in (RequestKind.TURN, RequestKind.SUMMARY):
            self.step += 1
            return self.step, self._request_seq
        return 0, self._request_seq

    @property
    def last_user(self) -> UserMessage | None:
        """The newest user message, by stored order."""
        for entry in reversed(self.entries):
            if isinstance(entry.info, UserMessage):
                return entry.info
        return None

    @property
    def last_assistant(self) -> AssistantMessage | None:
        """The newest assistant message, by stored order."""
        for entry in reversed(self.entries):
            if isinstance(entry.info, AssistantMessage):
                return entry.info
        return None

    def state(
        self,
        *,
        model: ModelRef,
        limits: Limits,
        dialect: str,
        system: Iterable[Block],
        memory: Iterable[Block],
        tools: Iterable[ToolSchema],
        measured: Measured | None,
        refused: tuple[int | None, int | None] | None,
        refused_manifest: tuple[ManifestRow, ...] | None,
    ) -> SessionState:
        """The engine's input for the next request."""
        return SessionState(
            entries=tuple(self.entries),
            edits=tuple(self.edits),
            system=tuple(system),
            memory=tuple(memory),
            tools=tuple(tools),
            model=model,
            limits=limits,
            dialect=dialect,
            measured=measured,
            refused=refused,
            refused_manifest=refused_manifest,
        )

    def replace_session(self, **changes: object) -> Session:
        """A copy of the session row with fields changed."""
        return msgspec.structs.replace(self.session, **changes)
