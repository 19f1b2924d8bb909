"""A history as text, for summary requests that quote it instead of replaying it (conformance 1.3, step 7)."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from qiming_tui.context.answer import arguments_text, result_text
from qiming_tui.context.boundary import is_continue, says_something
from qiming_tui.context.edits import is_cleared
from qiming_tui.context.scene import attached_words
from qiming_tui.context.state import WindowEdits
from qiming_tui.context.tokens import Tally
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import (
    PLACEHOLDER,
    Completed,
    Failed,
    FilePart,
    Pending,
    Running,
    TextPart,
    ToolPart,
)

RESULT_CHARS: Final = 2_000
"""Characters of a tool result that a summary request quotes."""

_LABEL: Final = re.compile(
    r"^(?=\[(?:User|Assistant|Tool result|Tool error|Attached )[^\]\n]*\])",
    re.MULTILINE | re.IGNORECASE,
)
_TAG: Final = re.compile(r"<(?=/?(?:conversation|prior-summary)\b)", re.IGNORECASE)


def escape(text: str) -> str:
    """Quoted text with our own labels and tags made harmless, so that it cannot pose as another speaker or
    end the quotation (cases C-137)."""
    return _TAG.sub("<\\\\", _LABEL.sub(r"\\", text))


def lines_of(entries: Iterable[Entry], edits: WindowEdits) -> list[str]:
    """One text for each thing that was said, called or returned; reasoning, ignored texts, the bytes of media
    and the program's own Continue messages are left out (cases C-046, C-048, C-065)."""
    lines: list[str] = []
    for entry in entries:
        if is_continue(entry) or not (entry.user or says_something(entry)):
            continue
        speaker = "User" if entry.user else "Assistant"
        for part in entry.parts:
            match part:
                case TextPart():
                    if not part.ignored and part.text.strip():
                        lines.append(f"[{speaker}]: {escape(part.text)}")
                case FilePart():
                    lines.append(escape_name(attached_words(part.mime, part.filename)))
                case ToolPart():
                    lines.append(f"[Assistant tool call]: {part.tool}({escape(arguments_text(part))})")
                    lines.append(_result(part, edits))
                case _:
                    pass
    return lines


def escape_name(words: str) -> str:
    """An attachment's line, without line breaks from its name."""
    return _TAG.sub("<\\\\", " ".join(words.split()))


def _result(part: ToolPart, edits: WindowEdits) -> str:
    state = part.state
    match state:
        case Completed():
            text = PLACEHOLDER if is_cleared(part, edits) else result_text(part)
            label = "Tool result"
        case Failed():
            text, label = result_text(part), "Tool error"
        case Pending() | Running():
            text, label = result_text(part), "Tool error"
        case _ as never:
            assert_never(never)
    if len(text) > RESULT_CHARS:
        text = f"{text[:RESULT_CHARS]}\n[truncated]"
    return f"[{label}]: {escape(text)}"


def chunks_of(lines: Sequence[str], tally: Tally, *, budget: int) -> list[str]:
    """The lines joined by blank lines into as few chunks of at most `budget` tokens as their order allows; a
    line that is larger than that is divided (cases C-040)."""
    chunks: list[list[str]] = [[]]
    used = 0
    for line in lines:
        for piece in _divided(line, tally, budget=budget):
            size = tally.tokens(piece) + 1
            if chunks[-1] and used + size > budget:
                chunks.append([])
                used = 0
            chunks[-1].append(piece)
            used += size
    return ["\n\n".join(chunk) for chunk in chunks if chunk]


def _divided(line: str, tally: Tally, *, budget: int) -> list[str]:
    size = tally.tokens(line)
    if size < budget:
        return [line]
    pieces = size * 5 // (4 * max(1, budget - 1)) + 1
    width = max(1, -(-len(line) // pieces))
    return [line[start : start + width] for start in range(0, len(line), width)]
