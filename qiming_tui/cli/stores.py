"""Opening the user's store for a command, and making a session whole."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from qiming_tui.cli.output import print_note
from qiming_tui.cli.start import open_store, store_place
from qiming_tui.config import Config
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.errors import NotFound
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Part, ToolPart
from qiming_tui.store.store import Store


@contextmanager
def opened_store(given: str | None, config: Config, *, read_only: bool) -> Iterator[Store]:
    """The user's store, closed again at the end; one that is not there yet can only be written."""
    try:
        store = open_store(config, given, read_only=read_only)
    except NotFound as error:
        place = store_place(config, given)
        hint = "a first conversation or import makes it"
        raise NotFound(f"there is no store at {place} yet", hint) from error
    try:
        for notice in store.notices:
            print_note(notice)
        yield store
    finally:
        store.close()


async def whole(store: Store, record: SessionRecord) -> SessionRecord:
    """The session with the outputs that were left in the store."""
    missing = [part.id for entry in record.entries for part in entry.parts if _left(part)]
    texts = await store.outputs(missing)
    entries = tuple(_filled(entry, texts) for entry in record.entries)
    return msgspec.structs.replace(record, entries=entries)


def _left(part: Part) -> bool:
    return isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.stored is not None


def _filled(entry: Entry, texts: Mapping[str, str]) -> Entry:
    if not any(_left(part) for part in entry.parts):
        return entry
    parts: list[Part] = []
    for part in entry.parts:
        if isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.stored:
            state = msgspec.structs.replace(part.state, output=texts[part.id], stored=None)
            parts.append(msgspec.structs.replace(part, state=state))
        else:
            parts.append(part)
    return Entry(entry.info, tuple(parts), entry.seq)
