"""The ledger's rows into values, with their manifests put together again (ledger.py)."""

from collections.abc import Iterable
from typing import Any

from peewee import Query, SqliteDatabase, fn

from qiming_tui.model.errors import NotFound
from qiming_tui.model.ledger import Outcome, RequestRow
from qiming_tui.store import ledger
from qiming_tui.store import schema as t
from qiming_tui.store.database import fetch, first, pages

STEPS = ("turn", "summary")
"""Kinds of requests that are steps of a session."""

Packed = tuple[Any, ...]
"""id, base, prefix, rows, shift, data, depth of a stored request."""


def steps(database: SqliteDatabase, session_id: str) -> int:
    """The number of the session's last step; 0 if it made none."""
    query = t.Request.select(fn.MAX(t.Request.step))
    row = first(database, query.where((t.Request.session == session_id) & t.Request.kind.in_(STEPS)))
    return int(row[0] or 0) if row else 0


def last_turn(database: SqliteDatabase, session_id: str) -> RequestRow | None:
    """The newest turn request, without its manifest."""
    row = first(database, _newest(session_id, ("turn",)))
    return ledger.request_of(row[5], ()) if row else None


def _packed(*where: object) -> Query:
    r = t.Request
    return r.select(r.id, r.base, r.prefix, r.rows, r.shift, r.data, r.depth).where(*where)


def _newest(session_id: str, kinds: tuple[str, ...]) -> Query:
    query = _packed(t.Request.session == session_id, t.Request.kind.in_(kinds))
    return query.order_by(t.Request.seq.desc(), t.Request.id.desc()).limit(1)


def _manifest(database: SqliteDatabase, row: Packed) -> ledger.Manifest:
    """The manifest of a packed row, by following its bases to a whole one."""
    chain = [row]
    while chain[-1][1] is not None:
        found = first(database, _packed(t.Request.id == chain[-1][1]))
        if found is None:
            raise NotFound("a request of the ledger is incomplete: the one before it is gone")
        chain.append(found)
    manifest: ledger.Manifest = ()
    for _, _, prefix, packed, shift, *_ in reversed(chain):
        manifest = ledger.unpack(manifest, prefix=prefix, rows=packed, shift=shift)
    return manifest


def newest_base(database: SqliteDatabase, session_id: str, kind: str) -> ledger.Base | None:
    """The newest request of a kind, to compare the next manifest with."""
    row = first(database, _newest(session_id, (kind,)))
    return ledger.Base(row[0], row[6], _manifest(database, row)) if row else None


def last_request(database: SqliteDatabase, session_id: str) -> RequestRow | None:
    """The newest turn or summary request, manifest included."""
    row = first(database, _newest(session_id, STEPS))
    return ledger.request_of(row[5], _manifest(database, row)) if row else None


def request(database: SqliteDatabase, session_id: str, step: int) -> RequestRow:
    """The request of a step, the last one if it was tried again; raises NotFound."""
    query = _packed(t.Request.session == session_id, t.Request.step == step, t.Request.kind.in_(STEPS))
    row = first(database, query.order_by(t.Request.seq.desc()).limit(1))
    if row is None:
        raise NotFound(f"Step not found: {step} of {session_id}")
    return ledger.request_of(row[5], _manifest(database, row))


def open_requests(database: SqliteDatabase, session_id: str) -> list[RequestRow]:
    """Requests that have not ended. Their manifests are left out: they are written once and kept."""
    query = _packed(t.Request.session == session_id, t.Request.outcome == Outcome.OPEN.value)
    return [ledger.request_of(row[5], ()) for row in fetch(database, query.order_by(t.Request.seq))]


def requests(database: SqliteDatabase, session_id: str) -> list[RequestRow]:
    """The whole ledger of a session in order, manifests included."""
    manifests: dict[str, ledger.Manifest] = {}
    out = []
    query = _packed(t.Request.session == session_id).order_by(t.Request.seq, t.Request.id)
    for row in fetch(database, query):
        key, base, prefix, packed, shift, data, _ = row
        if base is None or base in manifests:
            start = manifests[base] if base else ()
            manifests[key] = ledger.unpack(start, prefix=prefix, rows=packed, shift=shift)
        else:
            manifests[key] = _manifest(database, row)
        out.append(ledger.request_of(data, manifests[key]))
    return out


def blobs(database: SqliteDatabase, hashes: Iterable[str]) -> dict[str, bytes]:
    """The canonical bytes behind these hashes; what is not stored is missing in the answer."""
    found: dict[str, bytes] = {}
    for some in pages(hashes):
        keys = [bytes.fromhex(name) for name in some]
        query = t.Blob.select(t.Blob.hash, t.Blob.codec, t.Blob.data).where(t.Blob.hash.in_(keys))
        for key, codec, data in fetch(database, query):
            found[bytes(key).hex()] = ledger.expand(codec, bytes(data))
    return found
