"""What a stretch of history says that one may miss later: files, commands, identifiers, numbers, errors, the
user's constraints, open todos. Found by patterns, never by a model; `coverage` asks which a summary names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from qiming_tui.context.answer import arguments_text
from qiming_tui.context.strip import turns_of
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Failed, FilePart, TextPart, ToolPart

MOST: Final = 120
"""Facts of one kind; the first ones that are said stand for the rest."""


LONGEST: Final = 200_000
"""Characters of one text that are looked through."""


class FactKind(StrEnum):
    """What sort of thing may get lost; the value is its heading."""

    FILE = "files"
    COMMAND = "commands"
    IDENTIFIER = "identifiers"
    NUMBER = "numbers"
    ERROR = "errors"
    CONSTRAINT = "your constraints"
    TODO = "open todos"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said or found, where first."""

    kind: FactKind
    text: str
    message_id: str
    part_id: str
    turn: int
    from_tool: bool = False
    """It came out of a tool call that can be made again."""
    handle: str = ""
    """What that call was about: a path or a command."""
    exit: int | None = None
    """Of a command."""

    @property
    def words(self) -> str:
        """The fact with its exit status."""
        return self.text if self.exit is None else f"{self.text} (exit {self.exit})"


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A text of the history, and who said it."""

    text: str
    message_id: str
    part_id: str
    turn: int
    speaker: str
    """user, assistant, call or result."""
    handle: str = ""


_KNOWN: Final = (
    "py|md|toml|cfg|ini|json|jsonl|yaml|yml|txt|csv|log|lock|sh|js|jsx|ts|tsx|css|tcss|html|svg|rs|go|java|kt|c|h"
    "|cc|cpp|hpp|rb|php|sql|xml|diff|patch|ipynb|env|swift|lua|zig|proto"
)
_PATH: Final = re.compile(
    r"(?<![\w@:/.\-])(?P<path>(?:~/|/|\.{1,2}/)(?:[\w.@+\-]+/)*[\w.@+\-]+"
    r"|(?:[\w.@+\-]+/)+(?:[\w.@+\-]+)?"
    rf"|[\w@+\-]+(?:\.[\w@+\-]+)*\.(?:{_KNOWN}))(?![\w/])"
)
_IDENTIFIER: Final = re.compile(
    r"(?<![\w/.\-])(?:[A-Za-z]\w*_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"
    r"|(?<=`)[A-Za-z_]\w{2,}(?=`))(?![\w/])"
)
_KEYWORDS: Final = frozenset(
    {
        "async",
        "await",
        "catch",
        "class",
        "const",
        "def",
        "false",
        "function",
        "import",
        "let",
        "null",
        "return",
    }
    | {"True", "False", "None", "true", "try", "var", "void", "with"}
)
_NUMBER: Final = re.compile(r"(?<![\w.,/\-:#])\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w/:]|[.,]\d)")
_ERROR: Final = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Warning)\b|error\[[A-Z]\d+\]|FAILED[ \t]+\S+|E\d{3,4}\b)"
)
_BAD_LINE: Final = re.compile(r"^.*\b(?:ERROR|FATAL|fatal error|panic|Traceback)\b.*$", re.MULTILINE)
_MUST: Final = re.compile(
    r"\b(?:never|always|must|mustn't|do not|don't|only|no|without|not|please keep|make sure"
    r"|should not|shouldn't|avoid)\b|不要|必须|不能|禁止|别|务必|只能|始终",
    re.IGNORECASE,
)
_TODO: Final = re.compile(
    r"^[ \t]*(?:[-*][ \t]+\[ \][ \t]+|TODO:?[ \t]+|Next:[ \t]+)(?P<todo>\S.*)$", re.MULTILINE
)
_SENTENCE: Final = re.compile(r"[^.!?\n。！？]+(?:\.(?=\S)[^.!?\n。！？]*)*[.!?。！？]?")
_HANDLES: Final = ("filePath", "path", "command", "pattern")


def passages(entries: Sequence[Entry], texts: Mapping[str, str]) -> list[Passage]:
    """Every text of some messages in order; `texts`: outputs that were left in the store, by part id."""
    turns = turns_of(entries)
    found: list[Passage] = []
    for entry in entries:
        for part in entry.parts:
            match part:
                case TextPart() if not part.ignored and not part.synthetic:
                    speaker = "user" if entry.user else "assistant"
                    found.append(_passage(entry, turns, part.id, part.text, speaker))
                case FilePart() if part.filename:
                    found.append(_passage(entry, turns, part.id, part.filename, "user"))
                case ToolPart():
                    handle = handle_of(part)
                    found.append(_passage(entry, turns, part.id, arguments_text(part), "call", handle))
                    text = _output(part, texts)
                    found.append(_passage(entry, turns, part.id, text, "result", handle))
                case _:
                    pass
    return found


def _passage(
    entry: Entry, turns: Mapping[str, int], part_id: str, text: str, speaker: str, handle: str = ""
) -> Passage:
    return Passage(
        text=text[:LONGEST],
        message_id=entry.id,
        part_id=part_id,
        turn=turns[entry.id],
        speaker=speaker,
        handle=handle,
    )


def handle_of(part: ToolPart) -> str:
    """What a call is about: its path, command or pattern."""
    arguments = part.state.input
    if isinstance(arguments, dict):
        for name in _HANDLES:
            value = arguments.get(name)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())
    return ""


def _output(part: ToolPart, texts: Mapping[str, str]) -> str:
    state = part.state
    if isinstance(state, Failed):
        return state.error
    if isinstance(state, Completed):
        return texts.get(part.id, state.output)
    return ""


def exit_of(part: ToolPart) -> int | None:
    """The exit status of a command that ran to its end."""
    state = part.state
    found = (state.metadata or {}).get("exit") if isinstance(state, Completed) else None
    return found if isinstance(found, int) else None


def paths_in(text: str) -> list[str]:
    """What looks like a path, in order; of `a/b` only where it is one beyond doubt."""
    found = []
    for match in _PATH.finditer(text):
        path = match["path"].rstrip(".")
        name = path.rsplit("/", 1)[-1]
        sure = "." in name or path.endswith("/") or path.count("/") > 1 or path.startswith(("/", "~", "."))
        if sure and re.search(r"[^\W\d_]", path):
            found.append(path.removeprefix("./"))
    return found


def numbers_in(text: str) -> list[str]:
    """Numbers of two digits and more, in order."""
    return [match[0] for match in _NUMBER.finditer(text) if sum(c.isdigit() for c in match[0]) > 1]


def identifiers_in(text: str) -> list[str]:
    """Names of code: snake_case, camelCase, and what stands between backticks; no file names."""
    return [match[0] for match in _IDENTIFIER.finditer(text) if match[0] not in _KEYWORDS]


def errors_in(text: str) -> list[str]:
    """Names of errors and of tests that failed; else the first line that cries out, cut to 80 characters."""
    named = [" ".join(match[0].split()) for match in _ERROR.finditer(text)]
    return named or [match[0].strip()[:80] for match in list(_BAD_LINE.finditer(text))[:3]]


def facts_of(entries: Sequence[Entry], texts: Mapping[str, str] | None = None) -> tuple[Fact, ...]:
    """Everything that is found, each thing once, by kind and in the order of the history."""
    seen: dict[FactKind, dict[str, Fact]] = {kind: {} for kind in FactKind}
    parts = {part.id: part for entry in entries for part in entry.parts if isinstance(part, ToolPart)}
    for passage in passages(entries, texts or {}):
        for kind, text in _found(passage):
            kept = seen[kind].get(text)
            if kept is None and len(seen[kind]) < MOST:
                seen[kind][text] = _fact(kind, text, passage)
            elif kept is not None and not kept.from_tool and passage.speaker in ("call", "result"):
                again = msgspec.structs.replace(kept, from_tool=True, handle=passage.handle)
                seen[kind][text] = again
        if passage.speaker == "call" and parts[passage.part_id].tool == "bash" and passage.handle:
            fact = _fact(FactKind.COMMAND, passage.handle, passage)
            status = exit_of(parts[passage.part_id])
            seen[FactKind.COMMAND][passage.handle] = msgspec.structs.replace(fact, exit=status)
    return tuple(fact for kind in FactKind for fact in seen[kind].values())


def _fact(kind: FactKind, text: str, passage: Passage) -> Fact:
    return Fact(
        kind=kind,
        text=text,
        message_id=passage.message_id,
        part_id=passage.part_id,
        turn=passage.turn,
        from_tool=passage.speaker in ("call", "result"),
        handle=passage.handle,
    )


def _found(passage: Passage) -> Iterator[tuple[FactKind, str]]:
    text, speaker = passage.text, passage.speaker
    if speaker == "result":
        yield from ((FactKind.ERROR, error) for error in errors_in(text))
        return
    yield from ((FactKind.FILE, path) for path in paths_in(passage.handle if speaker == "call" else text))
    if speaker == "call":
        return
    yield from ((FactKind.IDENTIFIER, name) for name in identifiers_in(text))
    yield from ((FactKind.NUMBER, number) for number in numbers_in(text))
    yield from ((FactKind.TODO, match["todo"].strip()) for match in _TODO.finditer(text))
    if speaker == "user":
        for sentence in _SENTENCE.findall(text):
            said = " ".join(sentence.split())
            if _MUST.search(said) and not said.endswith("?"):
                yield FactKind.CONSTRAINT, said
