"""Events of a session: plain data for the screen, for NDJSON and for tests alike (`data.md` 1).

Order, tested: every `*started` is followed by exactly one of its ends (for a part, step and turn: finished;
a compaction: finished, failed or skipped), also after a crash, at the next start. A state is
published after the store has it, or after `unsaved` said that it has not.
"""

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.edits import Edit
from qiming_tui.model.ledger import QueueItem
from qiming_tui.model.messages import Message, Session
from qiming_tui.model.parts import Part
from qiming_tui.model.stream import Fault
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import PrunePlan, Verdict


class EventBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Every event names its session and, where it has one, its step."""

    session: str
    step: int | None = None


class SessionCreated(EventBase, frozen=True, kw_only=True, tag="session_created"):
    info: Session


class SessionUpdated(EventBase, frozen=True, kw_only=True, tag="session_updated"):
    info: Session


class TurnStarted(EventBase, frozen=True, kw_only=True, tag="turn_started"):
    message_id: str
    text: str


class TurnFinished(EventBase, frozen=True, kw_only=True, tag="turn_finished"):
    reason: str
    """done, aborted, error, blocked (the user said no), or needs_you (a choice is due)."""


class StepStarted(EventBase, frozen=True, kw_only=True, tag="step_started"):
    message_id: str
    model: str


class StepFinished(EventBase, frozen=True, kw_only=True, tag="step_finished"):
    message_id: str
    finish: str
    """stop, tool-calls, length, content-filter, unknown, error, aborted, refused or interrupted."""
    usage: Usage | None = None
    cost: float | None = None


class MessageUpdated(EventBase, frozen=True, kw_only=True, tag="message"):
    info: Message


class PartStarted(EventBase, frozen=True, kw_only=True, tag="part_started"):
    part: Part


class PartDelta(EventBase, frozen=True, kw_only=True, tag="part_delta"):
    """More text of a part; no state: never stored as such."""

    part_id: str
    text: str


class PartUpdated(EventBase, frozen=True, kw_only=True, tag="part_updated"):
    """A running tool's state changed; `progress` is the newest clean end of its output."""

    part: Part
    progress: str = ""


class PartFinished(EventBase, frozen=True, kw_only=True, tag="part_finished"):
    part: Part


class PermissionAsked(EventBase, frozen=True, kw_only=True, tag="permission_asked"):
    """Answered by `worker.answer(request_id, reply)`."""

    request_id: str
    tool: str
    pattern: str
    """What the rule would match: a path or a command."""
    title: str
    detail: str = ""
    """A diff or a command in full, for people."""


class PermissionAnswered(EventBase, frozen=True, kw_only=True, tag="permission_answered"):
    request_id: str
    reply: str
    """once, session, always, no."""
    reason: str = ""


class QuestionAsked(EventBase, frozen=True, kw_only=True, tag="question_asked"):
    request_id: str
    text: str
    choices: tuple[str, ...] = ()


class QuestionAnswered(EventBase, frozen=True, kw_only=True, tag="question_answered"):
    request_id: str
    reply: str


class Context(EventBase, frozen=True, kw_only=True, tag="context"):
    verdict: Verdict


class Prune(EventBase, frozen=True, kw_only=True, tag="prune"):
    phase: str
    """planned or applied."""
    plan: PrunePlan
    group: str | None = None


class CompactionStarted(EventBase, frozen=True, kw_only=True, tag="compaction_started"):
    auto: bool
    form: str
    before: int | None
    reason: str
    """Why it was started, in words."""


class CompactionEnded(EventBase, frozen=True, kw_only=True, tag="compaction_ended"):
    """Ends a started compaction (`finished`, `failed`), or tells that none was started (`skipped`)."""

    phase: str
    auto: bool
    before: int | None
    after: int | None
    reason: str
    """A CompactionEnd value."""
    words: str
    """The outcome in a sentence, with its numbers."""


class EditChanged(EventBase, frozen=True, kw_only=True, tag="edit"):
    phase: str
    """applied, undone or redone."""
    group: str
    edits: tuple[Edit, ...]


class RetryScheduled(EventBase, frozen=True, kw_only=True, tag="retry"):
    attempt: int
    """1-based number of the retry."""
    fault: Fault
    delay_ms: int
    at: int
    """When it will be sent, milliseconds since the epoch."""


class QueueChanged(EventBase, frozen=True, kw_only=True, tag="queue"):
    items: tuple[QueueItem, ...]


class Notice(EventBase, frozen=True, kw_only=True, tag="notice"):
    """A sentence for the user that is no failure."""

    text: str


class Failed(EventBase, frozen=True, kw_only=True, tag="error"):
    """What happened, what is safe, what to do next."""

    message: str
    hint: str = ""
    fault: Fault | None = None
    data: JSON = None


class Idle(EventBase, frozen=True, kw_only=True, tag="idle"):
    """Nothing is running and nothing is queued."""


class Unsaved(EventBase, frozen=True, kw_only=True, tag="unsaved"):
    """The store cannot take writes; they are kept in memory and retried."""

    reason: str
    pending: int


class Saved(EventBase, frozen=True, kw_only=True, tag="saved"):
    """All that was unsaved is stored."""


Event = (
    SessionCreated
    | SessionUpdated
    | TurnStarted
    | TurnFinished
    | StepStarted
    | StepFinished
    | MessageUpdated
    | PartStarted
    | PartDelta
    | PartUpdated
    | PartFinished
    | PermissionAsked
    | PermissionAnswered
    | QuestionAsked
    | QuestionAnswered
    | Context
    | Prune
    | CompactionStarted
    | CompactionEnded
    | EditChanged
    | RetryScheduled
    | QueueChanged
    | Notice
    | Failed
    | Idle
    | Unsaved
    | Saved
)
