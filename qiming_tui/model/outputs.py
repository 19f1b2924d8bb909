"""Results that a session was loaded without (`Completed.stored`): which they are, and how they come back."""

from collections.abc import Container, Iterable, Mapping

import msgspec

from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Part, ToolPart


def left_in_store(entries: Iterable[Entry], among: Container[str] | None = None) -> tuple[str, ...]:
    """Ids of the parts whose result lies in the store, of all or of those `among` which one looks."""
    return tuple(
        part.id
        for entry in entries
        for part in entry.parts
        if isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.stored is not None
        if among is None or part.id in among
    )


def filled(entries: Iterable[Entry], texts: Mapping[str, str]) -> tuple[Entry, ...]:
    """The messages with these results, by part id, in their places again."""
    return tuple(_filled(entry, texts) for entry in entries)


def _filled(entry: Entry, texts: Mapping[str, str]) -> Entry:
    if not any(part.id in texts for part in entry.parts):
        return entry
    return Entry(entry.info, tuple(_with_output(part, texts) for part in entry.parts), entry.seq)


def _with_output(part: Part, texts: Mapping[str, str]) -> Part:
    if part.id not in texts or not isinstance(part, ToolPart) or not isinstance(part.state, Completed):
        return part
    state = msgspec.structs.replace(part.state, output=texts[part.id], stored=None)
    return msgspec.structs.replace(part, state=state)
