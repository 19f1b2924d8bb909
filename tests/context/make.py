"""Small histories for the tests of the context engine."""

from typing import Any

from qiming_tui.context.state import Block, SessionState, ToolSchema
from qiming_tui.model.edits import Edit, EditKind, Switch
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import AssistantMessage, Created, Entry, Lifetime, MessageError, UserMessage
from qiming_tui.model.parts import (
    CONTINUE_TEXT,
    Attachment,
    CompactionPart,
    Completed,
    FilePart,
    Part,
    ReasoningPart,
    Span,
    StepStartPart,
    TextPart,
    ToolPart,
)
from qiming_tui.model.usage import NO_TOKENS, CacheTokens, Tokens

S = "ses_test"
MODEL = ModelRef("openai", "big")
OTHER = ModelRef("openai", "other")
LIMITS = Limits(200_000, None, 8_192)


def own(kind: type, message: str, part: str, **fields: Any) -> Any:
    """A part with its identity."""
    return kind(id=part, session_id=S, message_id=message, **fields)


def text(message: str, part: str, words: str, **fields: Any) -> TextPart:
    return own(TextPart, message, part, text=words, **fields)


def tool(message: str, part: str, output: str = "out", **fields: Any) -> ToolPart:
    """A completed call of `read`; `state` replaces its state."""
    state = fields.pop("state", None) or Completed(
        input=fields.pop("input", {"path": part}),
        output=output,
        time=Span(start=1, end=2, compacted=fields.pop("compacted", None)),
        attachments=tuple(fields.pop("attachments", ())),
    )
    name = fields.pop("name", "read")
    return own(ToolPart, message, part, call_id=fields.pop("call_id", f"call_{part}"), tool=name, state=state)


def png(filename: str | None = "shot.png", data: str = "aGk=") -> Attachment:
    return Attachment(mime="image/png", url=f"data:image/png;base64,{data}", filename=filename)


def file(message: str, part: str, mime: str = "image/png", **fields: Any) -> FilePart:
    url = fields.pop("url", f"data:{mime};base64,aGk=")
    return own(FilePart, message, part, mime=mime, url=url, filename=fields.pop("filename", "shot.png"))


def think(message: str, part: str, words: str, **meta: Any) -> ReasoningPart:
    metadata = {"qiming": meta} if meta else None
    return own(ReasoningPart, message, part, text=words, metadata=metadata)


def start(message: str, part: str) -> StepStartPart:
    return own(StepStartPart, message, part)


def user(id: str, *parts: Part | str) -> Entry:
    """A user message; a string is a text part."""
    made = [text(id, f"{id}.{i}", p) if isinstance(p, str) else p for i, p in enumerate(parts)]
    return Entry(UserMessage(id=id, session_id=S, time=Created(created=1)), tuple(made))


def assistant(id: str, *parts: Part | str, **fields: Any) -> Entry:
    """A finished answer; keywords go to the message."""
    made = [text(id, f"{id}.{i}", p) if isinstance(p, str) else p for i, p in enumerate(parts)]
    model: ModelRef = fields.pop("model", MODEL)
    total = fields.pop("total", None)
    cache = CacheTokens(read=0, write=0)
    tokens = Tokens(total=total, input=total, output=0, reasoning=0, cache=cache) if total else NO_TOKENS
    error = fields.pop("error", None)
    info = AssistantMessage(
        id=id,
        session_id=S,
        parent_id=fields.pop("parent", "u"),
        cost=0,
        model_id=model.model,
        provider_id=model.provider,
        time=Lifetime(created=1, completed=2),
        finish=fields.pop("finish", "stop"),
        tokens=tokens,
        error=MessageError(name=error, data={"message": error}) if error else None,
        **fields,
    )
    return Entry(info, tuple(made))


def asks(id: str, *, auto: bool = True, tail: str | None = None, overflow: bool = False) -> Entry:
    """A user message with a compaction part (UC)."""
    part = own(CompactionPart, id, f"{id}.0", auto=auto, overflow=overflow, tail_start_id=tail)
    return user(id, part)


def summary(id: str, parent: str, words: str = "the summary", **fields: Any) -> Entry:
    """A summary message (S)."""
    return assistant(id, words, parent=parent, summary=True, **fields)


def goes_on(id: str) -> Entry:
    """The synthetic Continue message (K)."""
    return user(
        id, text(id, f"{id}.0", CONTINUE_TEXT, synthetic=True, metadata={"compaction_continue": True})
    )


def numbered(*entries: Entry) -> tuple[Entry, ...]:
    """The entries at their places 1, 2, 3 in the stored order."""
    return tuple(Entry(entry.info, entry.parts, seq) for seq, entry in enumerate(entries, 1))


SYSTEM = (Block("You are a coding agent.", "system"), Block("Today is a day.", "environment"))
MEMORY = (Block("Instructions from: AGENTS.md\nBe brief.", "AGENTS.md"),)
TOOLS = (ToolSchema("list", "List a folder", {"type": "object", "properties": {}}),)


def state(*entries: Entry, **fields: Any) -> SessionState:
    """A state over numbered entries; no system prompt, memory or tools unless given."""
    return SessionState(
        entries=numbered(*entries),
        model=fields.pop("model", MODEL),
        limits=fields.pop("limits", LIMITS),
        **fields,
    )


def edit(seq: int, kind: EditKind, *targets: str, group: str | None = None, **params: Any) -> Edit:
    return Edit(
        id=f"edit{seq}",
        session_id=S,
        seq=seq,
        group=group or f"g{seq}",
        kind=kind,
        targets=targets,
        params=params,
        at=seq,
    )


def switch(seq: int, group: str, on: bool) -> Switch:
    return Switch(id=f"switch{seq}", session_id=S, seq=seq, group=group, on=on, at=seq)
