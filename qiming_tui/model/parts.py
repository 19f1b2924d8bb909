"""The parts of a message, in the stored and exported shape (conformance 4).

Field names on the wire are OpenCode's; ours, beyond it, stand under the key `qiming` of a part.
A part of a type we do not know, or not of the shape we know, is an `UnknownPart` and survives unchanged.
"""

from typing import Any, Final

import msgspec
from msgspec import field

from qiming_tui.model.codec import JSON, Open, from_raw, to_raw
from qiming_tui.model.usage import Tokens

Ms = int | float
"""Milliseconds since the epoch, UTC; fractions occur in other programs' files."""

PLACEHOLDER: Final = "[Old tool result content cleared]"
"""What the model sees instead of a cleared result. Fixed by the source articles."""

COMPACTION_TEXT: Final = "What did we do so far?"
"""What the model sees for a compaction part (fact 69)."""

SUBTASK_TEXT: Final = "The following tool was executed by the user"
"""What the model sees for a subtask part (fact 69)."""

CONTINUE_TEXT: Final = (
    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."
)
"""The synthetic user message after an automatic compaction (article B)."""

INTERRUPTED_TEXT: Final = "[Tool execution was interrupted]"
"""The result of a call that never got one (facts 83 and 111)."""


class Span(Open, frozen=True, kw_only=True):
    """Start and end of a text or a tool run; `compacted` is when its result was cleared."""

    start: Ms
    end: Ms | None = None
    compacted: Ms | None = None


class PartBase(Open, frozen=True, kw_only=True):
    """Identity of every part."""

    id: str
    session_id: str = field(name="sessionID")
    message_id: str = field(name="messageID")


class TextPart(PartBase, frozen=True, kw_only=True, tag="text"):
    """Text of the user or the model. `synthetic`: written by the program; `ignored`: shown, never sent."""

    text: str
    synthetic: bool = False
    ignored: bool = False
    time: Span | None = None
    metadata: dict[str, JSON] | None = None


class ReasoningPart(PartBase, frozen=True, kw_only=True, tag="reasoning"):
    """The model's thinking. `metadata["qiming"]` holds {"signature"} or {"redacted"}, returned verbatim."""

    text: str
    time: Span | None = None
    metadata: dict[str, JSON] | None = None


class FilePart(PartBase, frozen=True, kw_only=True, tag="file"):
    """An attachment; `url` is a data: or file: URL."""

    mime: str
    url: str
    filename: str | None = None
    source: JSON = None


class Attachment(Open, frozen=True, kw_only=True):
    """A file that a tool returned beside its text."""

    mime: str
    url: str
    filename: str | None = None


class StoredOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A tool output that was left in the store because it is not sent: its sizes stand for it."""

    bytes: int
    """UTF-8 bytes of the text."""
    units: int
    """UTF-16 units of the text (what the articles' estimate counts)."""
    sha256: str


class Pending(Open, frozen=True, kw_only=True, tag_field="status", tag="pending"):
    """A call whose arguments are still arriving."""

    input: dict[str, JSON] = {}
    raw: str = ""


class Running(Open, frozen=True, kw_only=True, tag_field="status", tag="running"):
    """A call that is being executed."""

    input: Any
    title: str | None = None
    metadata: dict[str, JSON] | None = None
    time: Span


class Completed(Open, frozen=True, kw_only=True, tag_field="status", tag="completed"):
    """A call with its result. `time.compacted` is a projection of the edits, kept for the export shape."""

    input: Any
    output: str
    title: str | None = None
    metadata: dict[str, JSON] | None = None
    time: Span
    attachments: tuple[Attachment, ...] = ()
    stored: StoredOutput | None = field(default=None, name="qimingStored")
    """Set when `output` was not loaded (cleared or archived); then `output` is empty. Never exported."""


class Failed(Open, frozen=True, kw_only=True, tag_field="status", tag="error"):
    """A call that failed, was refused or interrupted."""

    input: Any
    error: str
    metadata: dict[str, JSON] | None = None
    time: Span | None = None


ToolState = Pending | Running | Completed | Failed


class ToolPart(PartBase, frozen=True, kw_only=True, tag="tool"):
    """A call and its result: one part, two items of the request."""

    call_id: str = field(name="callID")
    tool: str
    state: ToolState
    metadata: dict[str, JSON] | None = None


class StepStartPart(PartBase, frozen=True, kw_only=True, tag="step-start"):
    """Where a model request of this message began."""

    snapshot: str | None = None


class StepFinishPart(PartBase, frozen=True, kw_only=True, tag="step-finish"):
    """Where it ended: why, and what it used."""

    reason: str
    snapshot: str | None = None
    tokens: Tokens
    cost: float | int


class PatchPart(PartBase, frozen=True, kw_only=True, tag="patch"):
    """Files changed by a step."""

    hash: str
    files: tuple[str, ...]


class RetryPart(PartBase, frozen=True, kw_only=True, tag="retry"):
    """A failed attempt that was repeated."""

    attempt: int
    error: JSON
    time: JSON = None


class SubtaskPart(PartBase, frozen=True, kw_only=True, tag="subtask"):
    """Work handed to a subagent by the user."""

    prompt: str
    description: str
    agent: str
    model: JSON = None
    command: str | None = None


class CompactionPart(PartBase, frozen=True, kw_only=True, tag="compaction"):
    """The request for a summary; its message is the parent of the summary message."""

    auto: bool = field()
    overflow: bool = False
    tail_start_id: str | None = None
    """First message of the verbatim tail, decided once."""
    focus: str | None = field(default=None, name="qimingFocus")
    """What the user asked the summary to keep in mind."""


class UnknownPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part we do not understand; `raw` is written back as it came."""

    id: str
    session_id: str
    message_id: str
    raw: dict[str, JSON]


KnownPart = (
    TextPart
    | ReasoningPart
    | FilePart
    | ToolPart
    | StepStartPart
    | StepFinishPart
    | PatchPart
    | RetryPart
    | SubtaskPart
    | CompactionPart
)
Part = KnownPart | UnknownPart


def part_from_raw(raw: dict[str, JSON]) -> Part:
    """Decode one part; never raises on content, so that no file is lost to one odd part."""
    try:
        part: Part = from_raw(raw, KnownPart)
    except msgspec.ValidationError:
        return UnknownPart(
            id=str(raw.get("id", "")),
            session_id=str(raw.get("sessionID", "")),
            message_id=str(raw.get("messageID", "")),
            raw=raw,
        )
    return part


def part_to_raw(part: Part) -> dict[str, JSON]:
    """The JSON object of a part, with all that came with it."""
    raw: dict[str, JSON] = part.raw if isinstance(part, UnknownPart) else to_raw(part)
    return raw


def with_part_ids(part: Part, *, id: str, session_id: str, message_id: str) -> Part:
    """A copy of a part under another identity (replay, fork)."""
    if isinstance(part, UnknownPart):
        raw = {**part.raw, "id": id, "sessionID": session_id, "messageID": message_id}
        return UnknownPart(id=id, session_id=session_id, message_id=message_id, raw=raw)
    return msgspec.structs.replace(part, id=id, session_id=session_id, message_id=message_id)
