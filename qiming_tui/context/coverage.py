"""What a summary still names of the history that it stands for, and what it names that was never there.

Plain string matching, and the screen says so: a fact counts as kept where its text, or that of something that
is still sent, holds it. That is necessary for remembering it, not sufficient. No model is asked.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from qiming_tui.context.facts import (
    Fact,
    FactKind,
    Passage,
    facts_of,
    identifiers_in,
    numbers_in,
    passages,
    paths_in,
)
from qiming_tui.model.messages import Entry

LABEL: Final = "plain string matching"
"""What the whole report is, in words that stand beside it."""


class Found(StrEnum):
    """What became of a fact."""

    KEPT = "kept"
    """The summary, or something else that is still sent, names it."""
    RECOVERABLE = "recoverable"
    """Not named, but it came from a tool call whose path or command is named, or is a file to be listed."""
    LOST = "lost"
    """Neither: only the store has it."""


class Covered(msgspec.Struct, frozen=True):
    """A fact, and what became of it."""

    fact: Fact
    found: Found
    note: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the summary, the messages it goes back to, and what it names that no message does."""

    text: str
    sources: tuple[str, ...]
    """Message ids, the likeliest first."""
    turns: tuple[int, ...]
    unsupported: tuple[str, ...]
    """Paths and commands that the history does not hold."""


class Coverage(msgspec.Struct, frozen=True):
    """The whole report on one summary."""

    facts: tuple[Covered, ...]
    lines: tuple[Line, ...]

    def of(self, kind: FactKind) -> tuple[Covered, ...]:
        """The facts of a kind."""
        return tuple(covered for covered in self.facts if covered.fact.kind is kind)

    def missing(self, kind: FactKind) -> tuple[Covered, ...]:
        """Those of a kind that are not named, the lost ones first."""
        gone = [covered for covered in self.of(kind) if covered.found is not Found.KEPT]
        return tuple(sorted(gone, key=lambda covered: covered.found is not Found.LOST))

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Every path and command of the summary that the history does not hold."""
        return tuple(dict.fromkeys(name for line in self.lines for name in line.unsupported))


_FAILED: Final = re.compile(r"fail|error|exit|broken|red\b|negative|失败|错误", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]{3,}")
_CJK: Final = re.compile(r"[\u3400-\u9fff]")
_CODE: Final = re.compile(r"`([^`\n]+)`")
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        """the and for with that this are was not you your its please from into have has had but all any can
        will when then than them they there here what which who how why must should never always only
        without make sure keep use used does did done""",
    )
)
_SHARE: Final = (2, 3)
"""Of the telling words of a sentence, so many must stand in a text that names it."""
SOURCES: Final = 3
_REST: Final = re.compile(r"\s+(?:\||2>|&?>|<)")
"""Where the command itself ends and pipes and redirections begin."""


def cover(
    archived: Sequence[Entry],
    summary: str,
    *,
    still_sent: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> Coverage:
    """The report on `summary`, which stands for `archived`.

    `still_sent`: other texts of the next request (system, memory files, pins, the verbatim tail). `texts`:
    outputs of archived calls that lie in the store, by part id.
    """
    said = passages(archived, texts or {})
    held = "\n".join([summary, *still_sent])
    facts = tuple(_covered(fact, held) for fact in facts_of(archived, texts))
    return Coverage(facts, _lines(summary, said, still_sent))


def _covered(fact: Fact, held: str) -> Covered:
    if names(held, fact):
        if fact.exit and not _says_failed(held, fact.text):
            return Covered(fact, Found.RECOVERABLE, "named without its exit status")
        return Covered(fact, Found.KEPT)
    if fact.kind is FactKind.FILE:
        if fact.from_tool:
            return Covered(fact, Found.RECOVERABLE, "a listing shows it")
        return Covered(fact, Found.LOST, "only said")
    if fact.from_tool and fact.handle and _holds(held, fact.handle):
        return Covered(fact, Found.RECOVERABLE, f"in the result of {fact.handle}")
    return Covered(fact, Found.LOST, "only the store has it")


def names(text: str, fact: Fact) -> bool:
    """Whether a text names a fact: its own words for paths, commands, names and numbers; two thirds of the
    telling words for a sentence."""
    match fact.kind:
        case FactKind.FILE:
            return any(_same_path(fact.text, other) for other in paths_in(text)) or _holds(text, fact.text)
        case FactKind.NUMBER:
            return _digits(fact.text) in {_digits(number) for number in numbers_in(text)}
        case FactKind.COMMAND:
            return _holds(" ".join(text.split()), _REST.split(fact.text)[0])
        case FactKind.ERROR:
            return any(_holds(text, word) for word in (fact.text, fact.text.removeprefix("FAILED ")))
        case FactKind.CONSTRAINT | FactKind.TODO:
            return _says(text, fact.text)
        case _:
            return _holds(text, fact.text)


def _holds(text: str, word: str) -> bool:
    edge = r"(?<![\w/]){}(?![\w/])" if word[:1].isalnum() and word[-1:].isalnum() else "{}"
    return re.search(edge.format(re.escape(word)), text) is not None


def _same_path(one: str, other: str) -> bool:
    a, b = one.rstrip("/"), other.rstrip("/")
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}")


def _digits(number: str) -> str:
    return number.replace(",", "")


def _telling(text: str) -> set[str]:
    words = {word.casefold() for word in _WORD.findall(text)} - _COMMON
    return words | set(_CJK.findall(text))


def _says(text: str, sentence: str) -> bool:
    wanted = _telling(sentence)
    if not wanted:
        return sentence.casefold() in text.casefold()
    return len(wanted & _telling(text)) * _SHARE[1] >= len(wanted) * _SHARE[0]


def _says_failed(text: str, command: str) -> bool:
    bare = _REST.split(command)[0]
    lines = [line for line in text.splitlines() if bare in line]
    return any(_FAILED.search(line.replace(bare, "")) for line in lines)


def _lines(summary: str, said: Sequence[Passage], still_sent: Sequence[str]) -> tuple[Line, ...]:
    corpus = "\n".join([*(passage.text for passage in said), *still_sent])
    flat = " ".join(corpus.split())
    known = set(paths_in(corpus))
    marks = [(passage, _marks(passage.text)) for passage in said]
    spread = Counter(mark for _, found in marks for mark in found)
    found = []
    for line in summary.splitlines():
        words = line.strip()
        if words and not words.startswith("#"):
            found.append(_line(words, marks, spread, (known, flat)))
    return tuple(found)


def _line(
    text: str,
    marks: Sequence[tuple[Passage, set[str]]],
    spread: Counter[str],
    corpus: tuple[set[str], str],
) -> Line:
    wanted = _marks(text)
    scores: dict[str, float] = {}
    turns: dict[str, int] = {}
    for passage, found in marks:
        score = sum(_weight(mark) / spread[mark] for mark in wanted & found)
        if score:
            scores[passage.message_id] = max(score, scores.get(passage.message_id, 0.0))
            turns[passage.message_id] = passage.turn
    best = sorted(scores, key=lambda message: -scores[message])[:SOURCES]
    return Line(
        text=text,
        sources=tuple(best),
        turns=tuple(dict.fromkeys(turns[message] for message in best)),
        unsupported=_unsupported(text, *corpus),
    )


def _marks(text: str) -> set[str]:
    return {*paths_in(text), *identifiers_in(text), *map(_digits, numbers_in(text)), *_telling(text)}


def _weight(mark: str) -> float:
    return 3.0 if "/" in mark or "_" in mark or "." in mark or mark.isdigit() else 1.0


def _unsupported(line: str, known: set[str], flat: str) -> tuple[str, ...]:
    paths = [path for path in paths_in(line) if not _supported(path, known, flat)]
    commands = []
    for code in _CODE.findall(line):
        said = " ".join(code.split())
        if " " in said and said not in flat and not any(path in said for path in paths):
            commands.append(said)
    return tuple(dict.fromkeys([*paths, *commands]))


def _supported(path: str, known: set[str], flat: str) -> bool:
    return (
        any(_same_path(path, other) for other in known)
        or _holds(flat, path)
        or f"{path.rstrip('/')}/" in flat
    )
