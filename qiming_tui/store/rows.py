"""Messages and parts as rows and back: `data` is JSON in the export shape, a tool's output stands apart."""

from typing import NamedTuple

import msgspec

from qiming_tui.model.codec import decode, digest, from_raw, to_raw
from qiming_tui.model.messages import AssistantMessage, Message
from qiming_tui.model.parts import (
    Completed,
    Failed,
    KnownPart,
    Part,
    ReasoningPart,
    StoredOutput,
    TextPart,
    ToolPart,
    part_from_raw,
    part_to_raw,
)

_PART = msgspec.json.Decoder(KnownPart)
_MESSAGE = msgspec.json.Decoder(Message)


class MessageRow(NamedTuple):
    """Columns of a message."""

    id: str
    session: str
    seq: int
    summary: bool
    ended: bool
    plain: bool
    data: str


class PartRow(NamedTuple):
    """Columns of a part but its number."""

    id: str
    session: str
    message: str
    seq: int
    cleared: bool
    indexed: bool
    plain: bool
    data: str


class OutputRow(NamedTuple):
    """A tool's text."""

    part: str
    sha256: str
    text: str


def clean(text: str) -> str:
    """Text that can be stored as UTF-8: halves of surrogate pairs become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encode(raw: object) -> str:
    """The JSON text of a value, storable in any case."""
    try:
        return msgspec.json.encode(raw).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_clean_all(raw)).decode()


def _clean_all(raw: object) -> object:
    if isinstance(raw, str):
        return clean(raw)
    if isinstance(raw, dict):
        return {clean(key): _clean_all(item) for key, item in raw.items()}
    return [_clean_all(item) for item in raw] if isinstance(raw, list) else raw


def message_row(message: Message, seq: int) -> MessageRow:
    """The row of a message."""
    data = encode(to_raw(message))
    summary, ended = False, True
    if isinstance(message, AssistantMessage):
        summary = message.summary and message.finish is not None and message.error is None
        ended = message.time.completed is not None
    plain = _MESSAGE.decode(data) == message
    return MessageRow(message.id, message.session_id, seq, summary, ended, plain, data)


def message_of(data: str, plain: bool) -> Message:
    """The message of a row; quick where `plain` says that it holds nothing unknown."""
    message: Message = _MESSAGE.decode(data) if plain else from_raw(decode(data), Message)
    return message


def part_rows(part: Part, seq: int) -> tuple[PartRow, OutputRow | None]:
    """The row of a part, and of its output where it has one that was not left in the store."""
    output = None
    if isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.stored is None:
        text = clean(part.state.output)
        encoded = text.encode()
        stored = StoredOutput(
            bytes=len(encoded), units=len(text.encode("utf-16-le")) // 2, sha256=digest(encoded)
        )
        output = OutputRow(part.id, stored.sha256, text)
        state = msgspec.structs.replace(part.state, output="", stored=stored)
        part = msgspec.structs.replace(part, state=state)
    data = encode(part_to_raw(part))
    plain = _decodes_to(data, part)
    row = PartRow(
        part.id, part.session_id, part.message_id, seq, is_cleared(part), is_finished(part), plain, data
    )
    return row, output


def _decodes_to(data: str, part: Part) -> bool:
    try:
        return _PART.decode(data) == part
    except msgspec.ValidationError:
        return False


def part_of(data: str, plain: bool, output: str | None) -> Part:
    """The part of a row, with its output if it is given."""
    part: Part = _PART.decode(data) if plain else part_from_raw(decode(data))
    if output is not None and isinstance(part, ToolPart) and isinstance(part.state, Completed):
        state = msgspec.structs.replace(part.state, output=output, stored=None)
        return msgspec.structs.replace(part, state=state)
    return part


def is_cleared(part: Part) -> bool:
    """Whether a tool's result is projected as cleared: it is not sent, so it need not be loaded."""
    return (
        isinstance(part, ToolPart)
        and isinstance(part.state, Completed)
        and part.state.time.compacted is not None
    )


def is_finished(part: Part) -> bool:
    """Whether a part's text will not grow any more."""
    if isinstance(part, TextPart | ReasoningPart):
        return part.time is None or part.time.end is not None
    return not isinstance(part, ToolPart) or isinstance(part.state, Completed | Failed)
