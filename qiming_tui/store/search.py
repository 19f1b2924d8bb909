"""Full text over everything that was said, archived and cleared included (FTS5, kept in step by the writer).

The index holds no second copy of the texts: an entry is taken out by handing over the text that was put in,
and a snippet is cut from the stored part. Chinese, Japanese and Korean characters are words of their own.
"""

import re
from collections.abc import Iterable

import msgspec
from peewee import SqliteDatabase

from qiming_tui.model.parts import (
    CompactionPart,
    Completed,
    Failed,
    FilePart,
    Part,
    PatchPart,
    ReasoningPart,
    SubtaskPart,
    TextPart,
    ToolPart,
)
from qiming_tui.store.database import first, sql
from qiming_tui.store.rows import clean, part_of
from qiming_tui.store.schema import SEARCH, Output

AROUND = 60
"""Characters of a snippet on each side of the first match."""

_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_WORD = re.compile(r"\w+")


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A part that holds all the words of a query."""

    session_id: str
    message_id: str
    part_id: str
    title: str
    """The session's."""
    snippet: str
    """One line around the first match. Text from outside: never markup."""


def text_of(part: Part) -> str:
    """The words of a part that can be searched for."""
    return "\n".join(clean(text) for text in _texts(part) if text)


def _texts(part: Part) -> Iterable[str | None]:
    match part:
        case TextPart() | ReasoningPart():
            return (part.text,)
        case ToolPart():
            state = part.state
            result = state.output if isinstance(state, Completed) else None
            error = state.error if isinstance(state, Failed) else None
            return (part.tool, *_strings(state.input), result, error)
        case FilePart():
            return (part.filename,)
        case PatchPart():
            return part.files
        case SubtaskPart():
            return (part.description, part.prompt)
        case CompactionPart():
            return (part.focus,)
        case _:
            return ()


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def spaced(text: str) -> str:
    """The text with ideographs as words of their own."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \1 ", text)


def add(database: SqliteDatabase, number: int, text: str) -> None:
    """Put a part's text into the index."""
    sql(database, f"INSERT INTO {SEARCH}(rowid, text) VALUES (?, ?)", (number, spaced(text)))


def remove(database: SqliteDatabase, number: int, text: str) -> None:
    """Take a part out of the index; `text` is what was put in."""
    statement = f"INSERT INTO {SEARCH}({SEARCH}, rowid, text) VALUES ('delete', ?, ?)"
    sql(database, statement, (number, spaced(text)))


def stored_text(database: SqliteDatabase, part_id: str, data: str, plain: bool) -> str:
    """The text of a stored part, as it was put in."""
    row = first(database, Output.select(Output.text).where(Output.part == part_id))
    return text_of(part_of(data, plain, row[0] if row else None))


def rebuild(database: SqliteDatabase) -> None:
    """Make the index anew from the stored parts (after a salvage)."""
    sql(database, f"INSERT INTO {SEARCH}({SEARCH}) VALUES ('delete-all')")
    statement = (
        "SELECT part.n, part.plain, part.data, output.text FROM part"
        " LEFT JOIN output ON output.part_id = part.id WHERE part.indexed"
    )
    for number, plain, data, output in sql(database, statement).fetchall():
        add(database, number, text_of(part_of(data, bool(plain), output)))


def phrases(query: str) -> list[str]:
    """The words and phrases of what a person typed, quoted: no character of it is an operator."""
    out = []
    for word in query.split():
        found = _WORD.findall(spaced(word))
        if found:
            out.append('"' + " ".join(found) + '"')
    return out


def find(database: SqliteDatabase, query: str, limit: int) -> list[Hit]:
    """The best matches, best first; every word must occur in the part."""
    words = phrases(query)
    if not words:
        return []
    statement = (
        "SELECT part.id, part.message_id, part.session_id, session.title, part.plain, part.data, output.text"
        f" FROM {SEARCH} JOIN part ON part.n = {SEARCH}.rowid JOIN session ON session.id = part.session_id"
        f" LEFT JOIN output ON output.part_id = part.id WHERE {SEARCH} MATCH ? ORDER BY rank, part.n LIMIT ?"
    )
    hits = []
    found = sql(database, statement, (" ".join(words), limit)).fetchall()
    for part_id, message_id, session_id, title, plain, data, output in found:
        text = text_of(part_of(data, bool(plain), output))
        hits.append(
            Hit(
                session_id=session_id,
                message_id=message_id,
                part_id=part_id,
                title=title,
                snippet=snippet(text, query),
            )
        )
    return hits


def snippet(text: str, query: str) -> str:
    """One line of the text around the first word of the query."""
    lower = text.lower()
    places = [lower.find(word.lower()) for word in _WORD.findall(query)]
    first = min((place for place in places if place >= 0), default=0)
    start, end = max(0, first - AROUND), first + AROUND
    cut = " ".join(text[start:end].split())
    return ("…" if start else "") + cut + ("…" if end < len(text) else "")
