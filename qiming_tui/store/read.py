"""Rows into values: a session whole, or the parts of it that are asked for; on any connection."""

from collections.abc import Iterable

import msgspec
from peewee import SqliteDatabase, fn

from qiming_tui.model.changes import SessionLine, SessionRecord
from qiming_tui.model.codec import decode, from_raw
from qiming_tui.model.edits import Edit, EditRecord, Switch
from qiming_tui.model.errors import InputError, NotFound
from qiming_tui.model.ledger import Attempt, CalibrationRow, QueueItem
from qiming_tui.model.messages import Entry
from qiming_tui.model.messages import Session as SessionValue
from qiming_tui.model.parts import Part
from qiming_tui.store import read_ledger, rows
from qiming_tui.store import schema as t
from qiming_tui.store.database import fetch, first, pages

_MANY = 500
"""Session ids at most that a prefix is compared with."""

_ATTEMPT = msgspec.json.Decoder(Attempt)
_QUEUE = msgspec.json.Decoder(QueueItem)
_CALIBRATION = msgspec.json.Decoder(CalibrationRow)


def counter(database: SqliteDatabase, name: str) -> int:
    """A named number; 0 if it was never counted."""
    query = t.Counter.select(t.Counter.value).where(t.Counter.name == name)
    row = first(database, query)
    return int(row[0]) if row else 0


def revision(database: SqliteDatabase, session_id: str) -> int:
    """The counter's value when the session last changed; 0 if there is no such session."""
    query = t.Session.select(t.Session.revision).where(t.Session.id == session_id)
    row = first(database, query)
    return int(row[0]) if row else 0


def session(database: SqliteDatabase, session_id: str) -> SessionValue:
    """The session's own row; raises NotFound."""
    query = t.Session.select(t.Session.data).where(t.Session.id == session_id)
    row = first(database, query)
    if row is None:
        raise NotFound(f"Session not found: {session_id}", "qiming sessions lists them")
    value: SessionValue = from_raw(decode(row[0]), SessionValue)
    return value


def load(database: SqliteDatabase, session_id: str) -> SessionRecord:
    """Everything of a session, as of one moment; raises NotFound."""
    value = session(database, session_id)
    return SessionRecord(
        session=value,
        entries=entries(database, session_id),
        edits=tuple(_edit(data) for data in _log(database, t.EditRow, session_id)),
        queue=tuple(_QUEUE.decode(data) for data in _log(database, t.QueueRow, session_id)),
        attempts=attempts(database, session_id),
        last_request=read_ledger.last_request(database, session_id),
        requests=read_ledger.steps(database, session_id),
    )


def entries(database: SqliteDatabase, session_id: str, only: list[str] | None = None) -> tuple[Entry, ...]:
    """All messages with their parts in stored order, or some of them, at most `PAGE`; outputs of cleared
    parts are left in the store."""
    messages = t.Message.select(t.Message.id, t.Message.seq, t.Message.plain, t.Message.data)
    messages = messages.where(t.Message.session == session_id).order_by(t.Message.seq, t.Message.id)
    if only is not None:
        messages = messages.where(t.Message.id.in_(only))
    parts = _parts(database, session_id, only)
    return tuple(
        Entry(rows.message_of(data, plain), tuple(parts.get(message_id, ())), seq)
        for message_id, seq, plain, data in fetch(database, messages)
    )


def unfinished(database: SqliteDatabase, session_id: str) -> tuple[Entry, ...]:
    """The messages that are still being written, or hold a part that is."""
    open_parts = t.Part.select(t.Part.message).where(t.Part.session == session_id, ~t.Part.indexed)
    query = t.Message.select(t.Message.id).where(t.Message.session == session_id)
    ids = [row[0] for row in fetch(database, query.where(~t.Message.ended | t.Message.id.in_(open_parts)))]
    return tuple(entry for some in pages(ids) for entry in entries(database, session_id, some))


def _parts(database: SqliteDatabase, session_id: str, only: list[str] | None) -> dict[str, list[Part]]:
    parts = t.Part.select(t.Part.message, t.Part.id, t.Part.plain, t.Part.data)
    parts = parts.where(t.Part.session == session_id).order_by(t.Part.message, t.Part.seq, t.Part.n)
    texts = t.Output.select(t.Output.part, t.Output.text).join(t.Part)
    texts = texts.where(t.Part.session == session_id, ~t.Part.cleared)
    if only is not None:
        parts, texts = parts.where(t.Part.message.in_(only)), texts.where(t.Part.message.in_(only))
    outputs = dict(fetch(database, texts))
    found: dict[str, list[Part]] = {}
    for message_id, part_id, plain, data in fetch(database, parts):
        found.setdefault(message_id, []).append(rows.part_of(data, plain, outputs.get(part_id)))
    return found


def outputs(database: SqliteDatabase, part_ids: Iterable[str]) -> dict[str, str]:
    """The texts that these tool parts returned; a part without one is missing in the answer."""
    found: dict[str, str] = {}
    for some in pages(part_ids):
        query = t.Output.select(t.Output.part, t.Output.text).where(t.Output.part.in_(some))
        found.update(fetch(database, query))
    return found


def _log(database: SqliteDatabase, table: type[t.Log], session_id: str) -> list[str]:
    query = table.select(table.data).where(table.session == session_id).order_by(table.seq, table.id)
    return [row[0] for row in fetch(database, query)]


def _edit(data: str) -> EditRecord:
    raw = decode(data)
    return msgspec.convert(raw, Switch) if "on" in raw else msgspec.convert(raw, Edit)


def attempts(database: SqliteDatabase, session_id: str) -> tuple[Attempt, ...]:
    """The session's tries to compact, in order."""
    return tuple(_ATTEMPT.decode(data) for data in _log(database, t.AttemptRow, session_id))


def calibration(database: SqliteDatabase, model: str) -> CalibrationRow:
    """What was learned of a model; factor 1 if nothing was."""
    query = t.Calibration.select(t.Calibration.data).where(t.Calibration.model == model)
    row = first(database, query)
    return _CALIBRATION.decode(row[0]) if row else CalibrationRow(model=model)


def rules(database: SqliteDatabase, directory: str) -> tuple[tuple[str, str, str], ...]:
    """(tool, pattern, action) in the order of giving: the last match wins."""
    query = t.Rule.select(t.Rule.tool, t.Rule.pattern, t.Rule.action)
    query = query.where(t.Rule.directory == directory).order_by(t.Rule.seq)
    return tuple((tool, pattern, action) for tool, pattern, action in fetch(database, query))


def trust(database: SqliteDatabase, directory: str) -> bool | None:
    """Whether the user trusts a folder; None: never asked."""
    query = t.Project.select(t.Project.trusted).where(t.Project.directory == directory)
    row = first(database, query)
    return bool(row[0]) if row else None


def latest(database: SqliteDatabase, directory: str) -> str | None:
    """The session of a folder that changed last and in which something was said."""
    said = fn.EXISTS(t.Message.select(t.Message.id).where(t.Message.session == t.Session.id))
    waits = fn.EXISTS(t.QueueRow.select(t.QueueRow.id).where(t.QueueRow.session == t.Session.id))
    query = t.Session.select(t.Session.id).where(t.Session.directory == directory, said | waits)
    query = query.order_by(t.Session.updated.desc(), t.Session.revision.desc()).limit(1)
    row = first(database, query)
    return str(row[0]) if row else None


def find(database: SqliteDatabase, prefix: str) -> str:
    """The one session whose id begins so, with or without `ses_`; raises NotFound or InputError."""
    wanted = [prefix] if prefix.startswith("ses_") else [prefix, f"ses_{prefix}"]
    starts = [fn.SUBSTR(t.Session.id, 1, len(text)) == text for text in wanted]
    where = starts[0] if len(starts) == 1 else starts[0] | starts[1]
    query = t.Session.select(t.Session.id).where(where).limit(_MANY)
    ids = [str(row[0]) for row in fetch(database, query)] if prefix else []
    exact = [found for found in ids if found in wanted]
    if len(ids) != 1 and not exact:
        if ids:
            raise InputError(f"{len(ids)} sessions begin with {prefix}", "give more of the id")
        raise NotFound(f"Session not found: {prefix}", "qiming sessions lists them")
    return exact[0] if exact else ids[0]


def sessions(database: SqliteDatabase, directory: str | None, limit: int) -> list[SessionLine]:
    """The list of sessions, the last changed first."""
    query = t.Session.select(t.Session.id, t.Session.data)
    if directory is not None:
        query = query.where(t.Session.directory == directory)
    query = query.order_by(t.Session.updated.desc(), t.Session.revision.desc()).limit(limit)
    return [_line(database, row[0], row[1]) for row in fetch(database, query)]


def _line(database: SqliteDatabase, session_id: str, data: str) -> SessionLine:
    value: SessionValue = from_raw(decode(data), SessionValue)
    total = fn.COUNT(t.Message.id), fn.COALESCE(fn.SUM(t.Message.summary.cast("integer")), 0)
    counts = first(database, t.Message.select(*total).where(t.Message.session == session_id)) or (0, 0)
    spent = t.Request.select(fn.COUNT(t.Request.id), fn.SUM(t.Request.cost))
    requests, cost = first(database, spent.where(t.Request.session == session_id)) or (0, None)
    last = read_ledger.last_turn(database, session_id)
    verdict = (last.after or last.verdict) if last else None
    return SessionLine(
        id=session_id,
        title=value.title,
        directory=value.directory,
        created=int(value.time.created),
        updated=int(value.time.updated),
        messages=counts[0],
        boundaries=counts[1],
        requests=requests,
        count=verdict.count if verdict else None,
        usable=verdict.usable if verdict else None,
        percent=verdict.percent if verdict else None,
        basis=verdict.basis if verdict else None,
        model=last.model if last else "",
        cost=cost if cost is not None or not isinstance(value.cost, int | float) else value.cost,
    )
