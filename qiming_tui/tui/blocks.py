"""What the conversation shows, as values: blocks made from messages and parts, without a screen.

Everything that came from outside is cleaned here, once (cases C-131); no block holds a control sequence.
"""

from collections.abc import Collection, Sequence
from datetime import tzinfo
from enum import StrEnum

import msgspec

from qiming_tui.model.messages import ABORTED, AssistantMessage, Entry
from qiming_tui.model.parts import (
    CompactionPart,
    FilePart,
    Part,
    PatchPart,
    ReasoningPart,
    RetryPart,
    StepFinishPart,
    StepStartPart,
    SubtaskPart,
    TextPart,
    ToolPart,
    UnknownPart,
)
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.model.window import ContextView, Item, ItemState
from qiming_tui.tui.toolrow import ToolRow, tool_row


class Kind(StrEnum):
    """What a block is; each is drawn in its own way."""

    USER = "user"
    SYNTHETIC = "synthetic"
    """A message that the program wrote in the user's place."""
    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"
    BOUNDARY = "boundary"
    SUMMARY = "summary"
    NOTE = "note"
    """A sentence on what happened: an error, a stop, a retry."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in the conversation: one token figure; opened, copied and jumped to as a whole."""

    id: str
    """The part's id; the message's for user messages, boundaries and notes on a message."""
    message_id: str
    kind: Kind
    order: tuple[int, int] = (0, 0)
    """The message's place in the session, the part's in the message."""
    text: str = ""
    """Source text: Markdown, a prompt, a tool's output, a sentence."""
    turn: int = 0
    """Number of the user's turn; 0: not a turn's begin."""
    live: bool = False
    """Whether more of it is still coming."""
    tool: ToolRow | None = None
    parts: tuple[str, ...] = ()
    """Ids of the parts that it shows, if they are more than itself."""
    failed: bool = False
    """A note on something that went wrong."""
    removed: int = 0
    """Control sequences that were taken out of its text (cases C-131)."""


class BoundaryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a compaction beyond its messages."""

    number: int = 0
    """Which one of the session it is; 0: not counted (yet)."""
    auto: bool = True
    step: int | None = None
    before: int | None = None
    after: int | None = None
    rough: bool = False
    """Whether `after` is a prediction: no answer has been measured since."""
    archived: int = 0
    """Messages that are no longer sent."""
    running: str = ""
    """Words while the summary is being written."""
    failed: str = ""
    """Why it came to nothing."""
    undone: bool = False


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What an event does to the conversation."""

    put: tuple[Block, ...] = ()
    drop: tuple[str, ...] = ()
    facts: dict[str, BoundaryFacts] = {}
    """By the id of the boundary's block."""


class Cost(msgspec.Struct, frozen=True):
    """What a part is in the next request: tokens, the class letter of the larger share, how it is sent."""

    tokens: int
    klass: str
    state: ItemState = ItemState.SENT
    pinned: bool = False


def costs_of(view: ContextView) -> dict[str, Cost]:
    """Cost of every part in the next request, by part id. A call and its result are one row: their sum."""
    found: dict[str, list[Item]] = {}
    for item in view.items:
        if item.part_id is not None:
            found.setdefault(item.part_id, []).append(item)
    return {part_id: _cost(items) for part_id, items in found.items()}


def _cost(items: Sequence[Item]) -> Cost:
    largest = max(items, key=lambda item: item.tokens)
    states = {item.state for item in items}
    odd = next((s for s in (ItemState.CLEARED, ItemState.CLIPPED, ItemState.SYNTHETIC) if s in states), None)
    tokens = sum(item.tokens for item in items)
    pinned = any(item.pinned for item in items)
    return Cost(tokens, largest.klass.value, odd or ItemState.SENT, pinned)


def blocks_of(
    entry: Entry,
    *,
    turn: int = 0,
    cleared: Collection[str] = (),
    zone: tzinfo | None = None,
) -> tuple[Block, ...]:
    """The blocks of one message.

    `turn`: its number if a person wrote it. `cleared`: part ids that edits clear, beyond those whose own
    record says so.
    """
    info = entry.info
    if not isinstance(info, AssistantMessage):
        return _of_user(entry, turn)
    out: list[Block] = []
    for index, part in enumerate(entry.parts):
        order = (entry.seq, index)
        block = block_of(part, order=order, summary=info.summary, cleared=cleared, zone=zone)
        if block is not None:
            out.append(block)
    note = note_of(info, order=(entry.seq, len(entry.parts)))
    return (*out, note) if note is not None else tuple(out)


def _of_user(entry: Entry, turn: int) -> tuple[Block, ...]:
    order = (entry.seq, 0)
    parts = tuple(part.id for part in entry.parts)
    if entry.compaction is not None:
        return (Block(id=entry.id, message_id=entry.id, kind=Kind.BOUNDARY, order=order, parts=parts),)
    written = [said for part in entry.parts if (said := _said(part))]
    text = clean("\n".join(written))[0]
    if not text and not entry.parts:
        return ()
    kind = Kind.USER if entry.real_user else Kind.SYNTHETIC
    return (
        Block(id=entry.id, message_id=entry.id, kind=kind, order=order, text=text, turn=turn, parts=parts),
    )


def _said(part: Part) -> str:
    """What a part of a user message says, in words where it is no text."""
    match part:
        case TextPart(text=text):
            return text
        case FilePart(filename=name, mime=mime):
            return f"[file {one_line(name or mime)}]"
        case SubtaskPart(description=description):
            return f"[task {one_line(description)}]"
        case _:
            return ""


def block_of(
    part: Part,
    *,
    order: tuple[int, int],
    summary: bool = False,
    cleared: Collection[str] = (),
    progress: str = "",
    zone: tzinfo | None = None,
) -> Block | None:
    """The block of one part of an assistant message; None where there is nothing to see.

    `summary`: its message is a summary. `progress`: the newest end of a running tool's output.
    """
    match part:
        case TextPart():
            live = part.time is not None and part.time.end is None
            kind = Kind.SUMMARY if summary else Kind.TEXT
            text, removed = clean(part.text)
            return _block(part, kind, order, text, live=live, removed=removed)
        case ReasoningPart():
            live = part.time is not None and part.time.end is None
            return _block(part, Kind.THINKING, order, clean(part.text)[0], live=live)
        case ToolPart():
            row, output = tool_row(part, progress=progress, zone=zone)
            if part.id in cleared and not row.cleared:
                row = msgspec.structs.replace(row, cleared="now")
            return _block(part, Kind.TOOL, order, output, tool=row, live=row.running)
        case RetryPart(attempt=attempt):
            return _block(part, Kind.NOTE, order, f"attempt {attempt} failed and was repeated")
        case FilePart() | SubtaskPart():
            return _block(part, Kind.NOTE, order, _said(part))
        case UnknownPart():
            return _block(part, Kind.NOTE, order, f"a part of type {_type(part)} that is not known here")
        case StepStartPart() | StepFinishPart() | PatchPart() | CompactionPart():
            return None


def _type(part: UnknownPart) -> str:
    return repr(one_line(str(part.raw.get("type", "?")), limit=40))


def _block(
    part: Part,
    kind: Kind,
    order: tuple[int, int],
    text: str,
    *,
    live: bool = False,
    tool: ToolRow | None = None,
    removed: int = 0,
) -> Block:
    return Block(
        removed=removed,
        id=part.id,
        message_id=part.message_id,
        kind=kind,
        order=order,
        text=text,
        live=live,
        tool=tool,
    )


def note_of(info: AssistantMessage, *, order: tuple[int, int]) -> Block | None:
    """A sentence at the end of a message that did not end well."""
    if info.error is not None:
        stopped = info.error.name == ABORTED
        text = "stopped" if stopped else clean(info.error.text)[0]
    elif info.finish in {"length", "content-filter"}:
        stopped, text = False, f"cut off: {info.finish}"
    else:
        return None
    return Block(
        id=f"{info.id}:note",
        message_id=info.id,
        kind=Kind.NOTE,
        order=order,
        text=text,
        failed=not stopped,
    )
