"""`qiming export`: a session of the store as a file in OpenCode's export shape."""

import asyncio
import os
import sys
from pathlib import Path

import click

from qiming_tui import __version__
from qiming_tui.cli.options import settings_from, store_option
from qiming_tui.cli.output import print_note
from qiming_tui.cli.stores import opened_store, whole
from qiming_tui.importers import opencode
from qiming_tui.model.errors import QimingError
from qiming_tui.store.store import Store


@click.command()
@click.argument("id", metavar="ID")
@click.option("--output", metavar="FILE", help="Write there instead of to stdout.")
@store_option
def export(id: str, output: str | None, store: str | None) -> None:
    """Write a session in OpenCode's export shape.

    What we know beyond it stands under the key "qiming". The file holds everything that was said and read:
    look at it before you hand it on.
    """
    data = asyncio.run(_export(id, store))
    if output is None or output == "-":
        sys.stdout.write(data.decode())
        return
    write_private(Path(output), data)
    print_note(f"{len(data):,} bytes written to {output}")


async def _export(id: str, place: str | None) -> bytes:
    with opened_store(place, settings_from({}), read_only=True) as store:
        return await exported(store, await store.find(id))


async def exported(store: Store, session_id: str) -> bytes:
    """A stored session in that shape, with all outputs. Raises NotFound."""
    record = await whole(store, await store.load(session_id))
    return opencode.write(record, program=f"qiming-tui {__version__}")


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only the user may read, in one step; raises QimingError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise QimingError(f"{path}: {error.strerror or error}") from error
