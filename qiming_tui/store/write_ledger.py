"""The ledger's rows: each manifest as a difference to an earlier one, each blob once (`data.md` 2)."""

from peewee import SqliteDatabase

from qiming_tui.model.changes import PutRequest
from qiming_tui.model.ledger import RequestRow
from qiming_tui.store import ledger, read_ledger
from qiming_tui.store import schema as t
from qiming_tui.store.database import Prepared
from qiming_tui.store.upsert import Upsert


class LedgerWriter:
    """Writes requests and their blobs; remembers the newest manifests to compare with."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._bases: dict[tuple[str, str], ledger.Base] = {}
        known = t.Request.select(t.Request.id).where(t.Request.id == "")
        self._known = Prepared(database, known)
        packed = ("base", "depth", "prefix", "rows", "shift")
        names = ("id", "session", "seq", "step", "kind", "outcome", "cost", *packed, "data")
        self._request = Upsert(database, t.Request, names, key=("id",), keep=packed, mine="session")
        self._blob = Upsert(
            database, t.Blob, ("hash", "codec", "data"), key=("hash",), keep=("codec", "data")
        )
        self._use = Upsert(database, t.BlobUse, ("session", "hash"), key=("session", "hash"))

    def forget(self) -> None:
        """Drop what is remembered."""
        self._bases.clear()

    def put(self, change: PutRequest) -> None:
        """Write a ledger row; its manifest is written once and never changes."""
        row = change.row
        for name, value in change.blobs:
            self._blob((bytes.fromhex(name), *ledger.squeeze(value)))
        if self._known.first(row.id) is None:
            packed = ledger.pack(row.manifest, self._candidates(row))
            for name in packed.new:
                self._use((row.session_id, bytes.fromhex(name)))
            self._bases[row.session_id, row.kind.value] = ledger.Base(row.id, packed.depth, row.manifest)
        else:
            packed = ledger.Packed(None, 0, 0, b"", None, ())
        head = (row.id, row.session_id, row.seq, row.step, row.kind.value, row.outcome.value, row.cost)
        middle = (packed.base, packed.depth, packed.prefix, packed.rows, packed.shift)
        self._request((*head, *middle, ledger.request_data(row)))

    def _candidates(self, row: RequestRow) -> list[ledger.Base]:
        if row.kind.value not in read_ledger.STEPS:
            return []
        found = []
        for kind in read_ledger.STEPS:
            key = (row.session_id, kind)
            if key not in self._bases:
                newest = read_ledger.newest_base(self._database, row.session_id, kind)
                if newest is None:
                    continue
                self._bases[key] = newest
            found.append(self._bases[key])
        return found
