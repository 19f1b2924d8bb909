"""Random histories, sound and damaged, for the properties of the engine."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Failed, Part, Pending, Running, Span, ToolPart, UnknownPart
from tests.context.make import MODEL, OTHER, S, assistant, file, png, start, text, think, tool, user

DIALECTS = ("openai", "anthropic", "gemini")

WORDS = st.sampled_from(["", " \n", "a word", "two words", "x" * 50, "好的", "</conversation>"])

STATES = st.sampled_from(
    [
        None,
        Failed(input={}, error="boom"),
        Failed(input=None, error="", metadata={"interrupted": True, "output": "half"}),
        Pending(raw='{"pa'),
        Running(input="raw", time=Span(start=1)),
        Completed(input=[1], output="", time=Span(start=1)),
    ]
)


@st.composite
def _answer_part(draw: Any, message: str, id: str) -> Part:
    kind = draw(
        st.sampled_from(["text", "text", "think", "signed", "redacted", "tool", "tool", "tool", "odd"])
    )
    words = draw(WORDS)
    if kind == "text":
        return text(message, id, words, ignored=draw(st.integers(0, 9)) == 0)
    if kind == "think":
        return think(message, id, words)
    if kind == "signed":
        return think(message, id, words, signature="sig")
    if kind == "redacted":
        return think(message, id, "", redacted="data")
    if kind == "odd":
        return UnknownPart(id=id, session_id=S, message_id=message, raw={"type": "odd"})
    media = [png()] if draw(st.booleans()) else []
    cleared = 5 if draw(st.integers(0, 4)) == 0 else None
    return tool(message, id, words, attachments=media, compacted=cleared, state=draw(STATES))


@st.composite
def answers(draw: Any, id: str) -> Entry:
    """An answer of one or two steps."""
    parts: list[Part] = []
    for step in range(draw(st.integers(1, 2))):
        parts.append(start(id, f"{id}.s{step}"))
        parts += [draw(_answer_part(id, f"{id}.{step}{n}")) for n in range(draw(st.integers(0, 4)))]
    return assistant(
        id,
        *parts,
        model=draw(st.sampled_from([MODEL, MODEL, OTHER])),
        error=draw(st.sampled_from([None, None, None, "MessageAbortedError", "APIError"])),
    )


@st.composite
def prompts(draw: Any, id: str) -> Entry:
    """A message of the user, not blank."""
    media = [file(id, f"{id}.f")] if draw(st.integers(0, 4)) == 0 else []
    return user(id, text(id, f"{id}.t", draw(WORDS.filter(str.strip))), *media)


@st.composite
def histories(draw: Any) -> list[Entry]:
    """One to five turns."""
    out: list[Entry] = []
    for turn in range(draw(st.integers(1, 5))):
        out.append(draw(prompts(f"u{turn}")))
        out += [draw(answers(f"a{turn}{n}")) for n in range(draw(st.integers(0, 2)))]
    return out


@st.composite
def damaged_entries(draw: Any, entries: list[Entry]) -> list[Entry]:
    """Messages lost or in disorder, parts lost, doubled or with another's ids."""
    out = list(entries)
    for _ in range(draw(st.integers(0, 5))):
        if not out:
            break
        place = draw(st.integers(0, len(out) - 1))
        entry = out[place]
        kind = draw(st.sampled_from(["lose", "swap", "part", "double", "call", "id", "message"]))
        if kind == "lose":
            out.pop(place)
        elif kind == "swap":
            other = draw(st.integers(0, len(out) - 1))
            out[place], out[other] = out[other], out[place]
        elif kind == "message":
            twin = draw(st.sampled_from(out))
            out[place] = Entry(msgspec.structs.replace(entry.info, id=twin.id), entry.parts)
        elif entry.parts:
            out[place] = Entry(entry.info, _damaged_parts(draw, entry.parts, kind))
    return out


def _damaged_parts(draw: Any, parts: tuple[Part, ...], kind: str) -> tuple[Part, ...]:
    at = draw(st.integers(0, len(parts) - 1))
    part = parts[at]
    if kind == "part":
        return (*parts[:at], *parts[at + 1 :])
    if kind == "double":
        return (*parts, part)
    if kind == "id":
        return (*parts[:at], msgspec.structs.replace(part, id="same"), *parts[at + 1 :])
    if isinstance(part, ToolPart):
        odd = draw(st.sampled_from(["", "call_0", "call 0/+="]))
        return (*parts[:at], msgspec.structs.replace(part, call_id=odd), *parts[at + 1 :])
    return parts
