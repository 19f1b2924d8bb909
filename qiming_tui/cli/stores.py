"""Opening the user's store for a command, and making a session whole."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from qiming_tui.cli.output import print_note
from qiming_tui.cli.start import open_store, store_place
from qiming_tui.config import Config
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.errors import NotFound
from qiming_tui.model.outputs import filled, left_in_store
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
    texts = await store.outputs(left_in_store(record.entries))
    return msgspec.structs.replace(record, entries=filled(record.entries, texts))
