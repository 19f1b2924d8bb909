"""Messages, entries and sessions, in the stored and exported shape (conformance 4)."""

from typing import Any

import msgspec
from msgspec import field

from qiming_tui.model.codec import JSON, Open, from_raw, to_raw
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import CompactionPart, Ms, Part, TextPart, part_from_raw, part_to_raw
from qiming_tui.model.usage import NO_TOKENS, Tokens


class Created(Open, frozen=True, kw_only=True):
    """When a user message was made."""

    created: Ms


class Lifetime(Open, frozen=True, kw_only=True):
    """When an assistant message began and ended; no end: it was cut off."""

    created: Ms
    completed: Ms | None = None


class ModelChoice(Open, frozen=True, kw_only=True):
    """The model of a user message, as stored."""

    provider_id: str = field(name="providerID")
    model_id: str = field(name="modelID")
    variant: str | None = None


class MessageError(Open, frozen=True, kw_only=True):
    """Why an assistant message failed; `data["message"]` is the text for people."""

    name: str
    data: dict[str, JSON] = {}

    @property
    def text(self) -> str:
        """The sentence to show."""
        return str(self.data.get("message") or self.name)


ABORTED = "MessageAbortedError"
OVERFLOW = "ContextOverflowError"


class UserMessage(Open, frozen=True, kw_only=True, tag_field="role", tag="user"):
    """What was said to the model by the user, or by the program in the user's place."""

    id: str
    session_id: str = field(name="sessionID")
    time: Created
    agent: str = "build"
    model: ModelChoice | None = None
    system: str | None = None
    queued_id: str | None = field(default=None, name="qimingQueued")
    """The queue row that this message came from, so that a crash never submits it twice."""


class AssistantMessage(Open, frozen=True, kw_only=True, tag_field="role", tag="assistant"):
    """One step's answer, or (`summary`) the text that stands for the history before it."""

    id: str
    session_id: str = field(name="sessionID")
    parent_id: str = field(name="parentID")
    mode: str = "build"
    agent: str = "build"
    path: JSON = None
    cost: float | int = field()
    tokens: Tokens = NO_TOKENS
    model_id: str = field(name="modelID")
    provider_id: str = field(name="providerID")
    variant: str | None = None
    time: Lifetime
    finish: str | None = None
    """stop, tool-calls, length, content-filter, unknown, error; None: the step did not end."""
    summary: bool = False
    error: MessageError | None = None

    @property
    def model(self) -> ModelRef:
        """Who wrote it."""
        return ModelRef(self.provider_id, self.model_id)


Message = UserMessage | AssistantMessage


class Entry(msgspec.Struct, frozen=True):
    """A message with its parts, at its place `seq` in the stored order."""

    info: Message
    parts: tuple[Part, ...]
    seq: int = 0

    @property
    def id(self) -> str:
        """The message's id."""
        return self.info.id

    @property
    def user(self) -> bool:
        """Whether it is a user message, real or synthetic."""
        return isinstance(self.info, UserMessage)

    @property
    def compaction(self) -> CompactionPart | None:
        """Its compaction part, if it asks for a summary."""
        return next((part for part in self.parts if isinstance(part, CompactionPart)), None)

    @property
    def real_user(self) -> bool:
        """A user message that a person wrote: no compaction, and not only synthetic text."""
        if not self.user or self.compaction is not None:
            return False
        texts = [part for part in self.parts if isinstance(part, TextPart)]
        return any(not part.synthetic for part in texts) or len(texts) < len(self.parts) or not self.parts

    @property
    def text(self) -> str:
        """Its text parts, joined by newlines; ignored ones left out."""
        return "\n".join(p.text for p in self.parts if isinstance(p, TextPart) and not p.ignored)


class SessionTime(Open, frozen=True, kw_only=True):
    """When a session was made and last changed."""

    created: Ms
    updated: Ms


class Session(Open, frozen=True, kw_only=True):
    """The session row, in the export shape; ours beyond it stand under `qiming...` keys."""

    id: str
    project_id: str = field(default="global", name="projectID")
    parent_id: str | None = field(default=None, name="parentID")
    slug: str = ""
    directory: str = ""
    title: str = ""
    version: str = ""
    time: SessionTime
    model: JSON = None
    cost: Any = None
    preset: str | None = field(default=None, name="qimingPreset")
    latched: bool = field(default=False, name="qimingLatched")
    """Automatic compaction is off until the user chooses (after an undo of a compaction)."""
    turn: str | None = field(default=None, name="qimingTurn")
    """The user message whose turn is under way; still there at a start: the program died in that turn."""
    open_step: int | None = field(default=None, name="qimingStep")
    """The step that is under way, likewise."""


def entry_from_raw(raw: dict[str, JSON], seq: int) -> Entry:
    """An `{"info", "parts"}` object as an entry; raises `msgspec.ValidationError` if it is unreadable."""
    info: Message = from_raw(raw["info"], Message)
    return Entry(info, tuple(part_from_raw(part) for part in raw.get("parts", ())), seq)


def entry_to_raw(entry: Entry) -> dict[str, JSON]:
    """The `{"info", "parts"}` object of an entry."""
    return {"info": to_raw(entry.info), "parts": [part_to_raw(part) for part in entry.parts]}
