"""After the summary: may it stand for the history, and what is the model told next (`data.md` 4)."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from qiming_tui.context.boundary import CUT_OFF, says_something
from qiming_tui.context.scene import attached_words
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.messages import AssistantMessage, Created, Entry, ModelChoice, UserMessage
from qiming_tui.model.parts import (
    CONTINUE_TEXT,
    CompactionPart,
    FilePart,
    Part,
    Span,
    TextPart,
    ToolPart,
    with_part_ids,
)
from qiming_tui.model.window import CompactionEnd, Preset

TOO_LARGE_TEXT: Final = (
    "The previous request exceeded the provider's size limit, perhaps because of large media or files. What "
    "was attached is not part of the conversation any more; ask for it again if you need it."
)
"""Put before the Continue text after a refusal, under the articles' presets (fact 34)."""

_THINKING: Final = re.compile(
    r"<(think|thinking|reasoning|analysis|scratchpad)\b[^>]*>.*?(</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_PROTOCOL: Final = re.compile(
    r"<(tool_call|tool_calls|function_call|function_calls|invoke|tool_use|tool_code)\b.*?(</\1\s*>|\Z)"
    r"|\[TOOL_CALLS?\].*|<\|[^|<>]{1,60}\|>",
    re.DOTALL | re.IGNORECASE,
)
_CALL_JSON: Final = re.compile(
    r'\s*(```\w*\s*)?[\[{]\s*\{?\s*"(name|tool|function|tool_calls)"\s*:.*[}\]]\s*(```)?\s*', re.DOTALL
)


def check(
    text: str,
    finish: str | None,
    *,
    preset: Preset,
    tool_calls: int,
    replaced_tokens: int,
    summary_tokens: int,
    limit: int | None = None,
) -> CompactionEnd:
    """How a compaction ends with this answer: `finished`, or why the history stays (cases C-034 to C-043,
    C-065, C-069).

    `text`: only what this request produced (cases C-035). `replaced_tokens`: size of what the summary would
    stand for; `limit`: of `SummaryRequest`. Under the articles' presets every finished answer without a call
    is a boundary (`data.md` 4).
    """
    if tool_calls:
        return CompactionEnd.TOOL_CALL
    if finish is None or finish == "error":
        return CompactionEnd.FAILED
    if preset is not Preset.GUARDED:
        return CompactionEnd.FINISHED
    if finish in CUT_OFF:
        return CompactionEnd.TRUNCATED
    said = _THINKING.sub("", text)
    spoken = _PROTOCOL.sub("", said)
    if not re.search(r"\w", spoken) or _CALL_JSON.fullmatch(spoken):
        return CompactionEnd.TOOL_CALL if re.search(r"\w", said) else CompactionEnd.BLANK
    if summary_tokens >= replaced_tokens or (limit is not None and summary_tokens > limit + limit // 10):
        return CompactionEnd.NOT_SMALLER
    return CompactionEnd.FINISHED


def needs_continue(
    history: Sequence[Entry], *, preset: Preset, auto: bool, waiting: bool, replayed: bool
) -> bool:
    """Whether a Continue message follows the summary (`data.md` 4, cases C-052).

    `history`: the messages before the compaction. `waiting`: the tail holds an unanswered user message.
    `replayed`: a refused message was repeated as a copy.
    """
    if not auto or replayed:
        return False
    if preset is not Preset.GUARDED:
        return True
    return not waiting and under_way(history)


def under_way(history: Sequence[Entry]) -> bool:
    """Whether the newest answer asked for another step: it called tools, or was cut at the output limit."""
    for entry in reversed(history):
        info = entry.info
        if not isinstance(info, AssistantMessage) or info.summary or not says_something(entry):
            continue
        if info.error is not None:
            return False
        calls = any(isinstance(part, ToolPart) for part in entry.parts)
        return calls or info.finish in ("tool-calls", "length", "unknown")
    return False


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who a new message is: ids and time are the caller's."""

    session_id: str
    message_id: str
    part_id: Callable[[], str]
    """A new part id with each call."""
    now: int
    """Milliseconds since the epoch."""
    model: ModelRef
    """The working model, never the compaction model (cases C-053)."""


def _author(history: Sequence[Entry], identity: Identity) -> UserMessage:
    """A user message in the name of the last one: its agent, the working model."""
    last = next((e.info for e in reversed(history) if isinstance(e.info, UserMessage)), None)
    model = ModelChoice(provider_id=identity.model.provider, model_id=identity.model.model)
    return UserMessage(
        id=identity.message_id,
        session_id=identity.session_id,
        time=Created(created=identity.now),
        agent=last.agent if last is not None else "build",
        model=model,
    )


def continue_entry(
    history: Sequence[Entry], identity: Identity, *, preset: Preset, overflow: bool = False
) -> Entry:
    """The synthetic message that lets the model go on by itself (article B, fact 26); after a refusal the
    articles' presets put a paragraph on size before it (fact 34)."""
    text = CONTINUE_TEXT
    if overflow and preset is not Preset.GUARDED:
        text = f"{TOO_LARGE_TEXT}\n\n{CONTINUE_TEXT}"
    part = TextPart(
        id=identity.part_id(),
        session_id=identity.session_id,
        message_id=identity.message_id,
        text=text,
        synthetic=True,
        metadata={"compaction_continue": True},
        time=Span(start=identity.now, end=identity.now),
    )
    return Entry(_author(history, identity), (part,))


def replay_entry(original: Entry, identity: Identity) -> Entry:
    """The user's own message again, as a copy; pictures and documents become words (fact 33)."""
    parts: list[Part] = []
    for part in original.parts:
        if isinstance(part, CompactionPart):
            continue
        part_id = identity.part_id()
        if isinstance(part, FilePart) and (part.mime.startswith("image/") or part.mime == "application/pdf"):
            parts.append(
                TextPart(
                    id=part_id,
                    session_id=identity.session_id,
                    message_id=identity.message_id,
                    text=attached_words(part.mime, part.filename),
                )
            )
        else:
            parts.append(
                with_part_ids(
                    part, id=part_id, session_id=identity.session_id, message_id=identity.message_id
                )
            )
    info = _author([original], identity)
    if isinstance(original.info, UserMessage):
        info = msgspec.structs.replace(info, system=original.info.system, extra=original.info.extra)
    return Entry(info, tuple(parts))
