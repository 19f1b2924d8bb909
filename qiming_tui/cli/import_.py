"""`qiming import`: a session from a file into the store."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Mapping

import click

from qiming_tui.cli.options import json_option, settings_from, store_option
from qiming_tui.cli.output import many, print_json, print_lines, print_note
from qiming_tui.cli.stores import opened_store
from qiming_tui.cli.subject import read_file
from qiming_tui.importers import opencode
from qiming_tui.importers.renew import renew
from qiming_tui.model.changes import (
    Change,
    PutAttempt,
    PutEdit,
    PutMessage,
    PutPart,
    PutSession,
    SessionRecord,
)
from qiming_tui.model.codec import JSON
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.errors import InputError, NotFound
from qiming_tui.model.ids import Ids
from qiming_tui.runtime import now_ms
from qiming_tui.store.store import Store


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--new-ids", is_flag=True, help="Take it in under new ids, beside one that has them already.")
@store_option
@json_option
def import_(file: str, new_ids: bool, store: str | None, as_json: bool) -> None:
    """Take in a session from an export of OpenCode or of this program; FILE may be - for stdin."""
    imported = opencode.read(read_file(file))
    record = renew(imported.record, Ids(now_ms, secrets.randbelow)) if new_ids else imported.record
    asyncio.run(_store(record, store))
    for note in imported.notes:
        print_note(note)
    answer = account(record, imported.notes)
    if as_json:
        print_json(answer)
    else:
        print_lines([words(answer)])


def words(answer: Mapping[str, JSON]) -> str:
    """The account as a line."""
    names = {"messages": "message", "parts": "part", "prunes": "prune"}
    counts = [many(int(str(answer[key])), noun) for key, noun in names.items()]
    cleared, summaries = int(str(answer["cleared"])), int(str(answer["compactions"]))
    counts[-1] += f" ({many(cleared, 'result')} cleared)"
    return f"{answer['session']}: {', '.join([*counts, many(summaries, 'summary')])}"


def account(record: SessionRecord, notes: tuple[str, ...]) -> dict[str, JSON]:
    """What was taken in."""
    edits = [edit for edit in record.edits if isinstance(edit, Edit)]
    kinds = Counter(edit.kind for edit in edits)
    return {
        "session": record.session.id,
        "messages": len(record.entries),
        "parts": sum(len(entry.parts) for entry in record.entries),
        "prunes": kinds[EditKind.CLEAR],
        "cleared": sum(len(edit.targets) for edit in edits if edit.kind is EditKind.CLEAR),
        "compactions": kinds[EditKind.COMPACT],
        "notes": list(notes),
    }


async def _store(record: SessionRecord, place: str | None) -> None:
    with opened_store(place, settings_from({}), read_only=False) as store:
        if await _there(store, record.session.id):
            raise InputError(f"{record.session.id} is in the store already", "--new-ids takes in a copy")
        await store.apply(changes(record))


async def _there(store: Store, session_id: str) -> bool:
    try:
        await store.session(session_id)
    except NotFound:
        return False
    return True


def changes(record: SessionRecord) -> list[Change]:
    """The session as changes of the store, all of one transaction."""
    out: list[Change] = [PutSession(record.session)]
    for entry in record.entries:
        out.append(PutMessage(entry.info, entry.seq))
        out += [PutPart(part, n) for n, part in enumerate(entry.parts)]
    out += [PutEdit(edit) for edit in record.edits]
    out += [PutAttempt(attempt) for attempt in record.attempts]
    return out
