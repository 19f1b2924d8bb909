"""Changes into rows: one transaction, in order; every write is an upsert, so repeating it is harmless."""

from collections.abc import Iterable, Sequence
from typing import assert_never

import msgspec
from peewee import SqliteDatabase, fn

from qiming_tui.model.changes import (
    Change,
    DropQueue,
    PutAttempt,
    PutCalibration,
    PutEdit,
    PutMessage,
    PutPart,
    PutQueue,
    PutRequest,
    PutRule,
    PutSession,
    PutTrust,
)
from qiming_tui.model.codec import to_raw
from qiming_tui.model.messages import Session as SessionValue
from qiming_tui.store import read, rows, search
from qiming_tui.store import schema as t
from qiming_tui.store.database import Prepared, fetch, first
from qiming_tui.store.upsert import Upsert
from qiming_tui.store.write_ledger import LedgerWriter

REVISION = "revision"


def session_of(change: Change) -> str | None:
    """The session that a change belongs to; None where it belongs to none, or only names a row."""
    match change:
        case PutSession():
            return change.session.id
        case PutMessage():
            return change.message.session_id
        case PutPart():
            return change.part.session_id
        case PutEdit():
            return change.record.session_id
        case PutRequest():
            return change.row.session_id
        case PutAttempt():
            return change.attempt.session_id
        case PutQueue():
            return change.item.session_id
        case DropQueue() | PutCalibration() | PutRule() | PutTrust():
            return None
        case _:
            assert_never(change)


def sessions_of(changes: Sequence[Change]) -> set[str]:
    """The sessions that these changes write to."""
    return {found for change in changes if (found := session_of(change)) is not None}


class Revision:
    """Counts changes of content, so that other processes notice them."""

    def __init__(self, database: SqliteDatabase) -> None:
        counter = t.Counter
        raised = {counter.value: counter.value + 1}
        begin = counter.insert(name=REVISION, value=1)
        self._raise = Prepared(database, begin.on_conflict(conflict_target=(counter.name,), update=raised))
        now = counter.select(counter.value).where(counter.name == REVISION)
        self._mark = Prepared(database, t.Session.update(revision=now).where(t.Session.id == ""))

    def count(self, session_ids: Iterable[str]) -> None:
        """One more change, of these sessions."""
        self._raise(REVISION, 1, 1)
        for session_id in session_ids:
            self._mark(REVISION, session_id)


class Writer:
    """Writes changes on the store's write connection."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._ledger = LedgerWriter(database)
        self._revision = Revision(database)
        self._session = Upsert(
            database,
            t.Session,
            ("id", "directory", "title", "created", "updated", "revision", "data"),
            key=("id",),
            keep=("revision",),
        )
        self._message = Upsert(
            database, t.Message, rows.MessageRow._fields, key=("id",), keep=("seq",), mine="session"
        )
        self._part = Upsert(
            database, t.Part, rows.PartRow._fields, key=("id",), keep=("seq",), mine="session"
        )
        p = t.Part
        old = p.select(p.n, p.indexed, p.plain, p.data).where((p.id == "") & (p.session == ""))
        self._old_part = Prepared(database, old)
        text = t.Output.select(t.Output.text).where(t.Output.part == "")
        self._old_output = Prepared(database, text)
        self._output = Upsert(database, t.Output, rows.OutputRow._fields, key=("part",))
        log = ("id", "session", "seq", "data")
        self._edit = Upsert(database, t.EditRow, log, key=("id",), mine="session")
        self._attempt = Upsert(database, t.AttemptRow, log, key=("id",), mine="session")
        self._queue = Upsert(database, t.QueueRow, log, key=("id",), mine="session")
        self._calibration = Upsert(database, t.Calibration, ("model", "data"), key=("model",))
        self._trust = Upsert(database, t.Project, ("directory", "trusted"), key=("directory",))

    def apply(self, changes: Sequence[Change]) -> None:
        """Write all changes; call it inside a transaction."""
        for change in changes:
            self._one(change)
        self._revision.count(sessions_of(changes))

    def forget(self) -> None:
        """Drop what was remembered of the ledger: the transaction it came from was rolled back."""
        self._ledger.forget()

    def _one(self, change: Change) -> None:
        match change:
            case PutSession():
                self._put_session(change.session)
            case PutMessage():
                self._message(rows.message_row(change.message, change.seq))
            case PutPart():
                self._put_part(change)
            case PutEdit():
                edit = change.record
                self._edit((edit.id, edit.session_id, edit.seq, _text(edit)))
            case PutRequest():
                self._ledger.put(change)
            case PutAttempt():
                attempt = change.attempt
                self._attempt((attempt.id, attempt.session_id, attempt.seq, _text(attempt)))
            case PutQueue():
                item = change.item
                self._queue((item.id, item.session_id, item.seq, _text(item)))
            case DropQueue():
                self._drop_queue(change.id)
            case PutCalibration():
                self._calibration((change.row.model, _text(change.row)))
            case PutRule():
                self._put_rule(change)
            case PutTrust():
                self._trust((change.directory, change.trusted))
            case _:
                assert_never(change)

    def _put_session(self, value: SessionValue) -> None:
        times = (_ms(value.time.created), _ms(value.time.updated))
        title = rows.clean(value.title)
        self._session((value.id, rows.clean(value.directory), title, *times, 0, rows.encode(to_raw(value))))

    def _put_part(self, change: PutPart) -> None:
        row, output = rows.part_rows(change.part, change.seq)
        old = self._old_part.first(row.id, row.session)
        was = self._text(row.id, old[3], old[2], None) if old and old[1] else None
        self._part(row)
        if output is not None:
            self._output(output)
        now = self._text(row.id, row.data, row.plain, output) if row.indexed else None
        if was == now:
            return
        number = old[0] if old else self._number(row.id, row.session)
        if was is not None:
            search.remove(self._database, number, was)
        if now is not None:
            search.add(self._database, number, now)

    def _text(self, part_id: str, data: str, plain: bool, output: rows.OutputRow | None) -> str:
        """A stored part's text for the index, its output read from the store if it is not at hand."""
        found = (output.text,) if output else self._old_output.first(part_id)
        return search.text_of(rows.part_of(data, bool(plain), found[0] if found else None))

    def _number(self, part_id: str, session_id: str) -> int:
        found = self._old_part.first(part_id, session_id)
        assert found is not None
        return int(found[0])

    def _drop_queue(self, item_id: str) -> None:
        query = t.QueueRow.select(t.QueueRow.session).where(t.QueueRow.id == item_id)
        owners = {str(row[0]) for row in fetch(self._database, query)}
        t.QueueRow.delete().where(t.QueueRow.id == item_id).execute(self._database)
        self._revision.count(owners)

    def _put_rule(self, rule: PutRule) -> None:
        """The newest rule is the last one: the last match wins."""
        r = t.Rule
        here = r.directory == rule.directory
        r.delete().where(here, r.tool == rule.tool, r.pattern == rule.pattern).execute(self._database)
        last = first(self._database, r.select(fn.MAX(r.seq)).where(here))
        seq = int(last[0] or 0) + 1 if last else 1
        values = {"tool": rule.tool, "pattern": rule.pattern, "action": rule.action}
        r.insert(seq=seq, directory=rule.directory, **values).execute(self._database)


def _ms(time: float) -> int:
    """Milliseconds that fit into a column, whatever a file says."""
    return max(-(2**62), min(2**62, int(time)))


def _text(value: msgspec.Struct) -> str:
    return rows.encode(msgspec.to_builtins(value))


def delete_session(database: SqliteDatabase, session_id: str) -> None:
    """Delete a session and all that belongs to it alone; raises NotFound."""
    read.session(database, session_id)
    query = t.Part.select(t.Part.n, t.Part.id, t.Part.data, t.Part.plain).where(t.Part.session == session_id)
    for number, part_id, data, plain in fetch(database, query.where(t.Part.indexed)):
        search.remove(database, number, search.stored_text(database, part_id, data, plain))
    t.Session.delete().where(t.Session.id == session_id).execute(database)
    t.Lease.delete().where(t.Lease.session == session_id).execute(database)
    t.Blob.delete().where(t.Blob.hash.not_in(t.BlobUse.select(t.BlobUse.hash))).execute(database)
    Revision(database).count(())
