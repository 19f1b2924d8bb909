"""The store: what is written is safe when the call returns, what is read is of one moment.

One thread owns the connection that writes, another one that only reads; the caller awaits both.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from peewee import SqliteDatabase

from qiming_tui.model.changes import Change
from qiming_tui.model.errors import StoreDamaged, StoreReadOnly
from qiming_tui.model.ids import Clock
from qiming_tui.store import files, lease, opening, read, write
from qiming_tui.store.database import transaction
from qiming_tui.store.queries import Queries
from qiming_tui.store.url import Location, parse

T = TypeVar("T")
LOCK_TIMEOUT_S = 5.0


class Store(Queries):
    """Sessions in one file. Reads are in `Queries`; `model/errors.py` has what every call may raise."""

    def __init__(self, location: Location, opened: opening.Opened, clock: Clock) -> None:
        super().__init__(opened.reader)
        self._location = location
        self._clock = clock
        self._lane = opened.writer
        self._here = lease.here()
        self._mine: dict[str, str] = {}
        self._seen: tuple[int, dict[str, int]] = (-1, {})
        self._write = write.Writer(opened.writer.database) if opened.writer else None
        self.newer = opened.newer
        """Written by a newer program: read-only (cases C-107)."""
        self.notices = opened.notices
        """Sentences for people about the way the file had to be opened."""

    @classmethod
    def open(
        cls,
        where: str | Path,
        *,
        clock: Clock,
        read_only: bool = False,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> Self:
        """Open a file, create it (folder 0700, file 0600) or bring it to the newest schema.

        `lock_timeout_s`: how long a write waits for another program, twice. Raises StoreDamaged (the file is
        left as it is: `salvage`), StoreLocked, StoreFull, StoreError; NotFound for a missing file that is to
        be read only; InputError for a URL that names no store of ours.
        """
        location = parse(where)
        opened = opening.open_lanes(location, now=clock(), read_only=read_only, timeout_s=lock_timeout_s)
        return cls(location, opened, clock)

    @property
    def url(self) -> str:
        """What opens this store again."""
        return self._location.url

    @property
    def writable(self) -> bool:
        """Whether changes can be applied at all (a session may still be somebody else's)."""
        return self._lane is not None

    @property
    def read_only(self) -> bool:
        """The opposite of `writable`."""
        return not self.writable

    async def _change(self, work: Callable[[SqliteDatabase], T]) -> T:
        lane = self._lane
        if lane is None:
            why = "it was written by a newer program" if self.newer else "it is open for reading only"
            raise StoreReadOnly(f"the store is not changed: {why}")

        def whole(database: SqliteDatabase) -> T:
            with transaction(database):
                return work(database)

        try:
            return await lane.run(whole)
        except StoreDamaged:
            files.mark_suspect(self._location.path)
            raise

    async def apply(self, changes: Sequence[Change]) -> None:
        """Write all changes in order, or none. Handing them over twice is harmless.

        Raises StoreFull and StoreLocked (try again later; nothing was written), SessionBusy if another live
        process holds a session's lease, StoreReadOnly, StoreDamaged, StoreError.
        """
        listed = tuple(changes)
        if listed:
            await self._change(lambda database: self._apply(database, listed))

    def _apply(self, database: SqliteDatabase, changes: Sequence[Change]) -> None:
        assert self._write is not None
        try:
            owners = write.sessions_of(changes)
            lease.refuse_others(database, owners, self._mine, self._clock(), self._here)
            self._write.apply(changes)
        except BaseException:
            self._write.forget()
            raise

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it; raises NotFound, or SessionBusy (see `apply`)."""

        def work(database: SqliteDatabase) -> None:
            lease.refuse_others(database, [session_id], self._mine, self._clock(), self._here)
            write.delete_session(database, session_id)

        if self._write is not None:
            self._write.forget()
        await self._change(work)

    async def version(self, session_id: str | None = None) -> int:
        """A number that rises with every change of content, whoever makes it; of one session, or of all.
        A heartbeat is no change. Cheap: nothing is read while `PRAGMA data_version` stands still."""
        return await self._read(lambda database: self._version(database, session_id or ""))

    def _version(self, database: SqliteDatabase, key: str) -> int:
        mark = int(database.data_version)
        if self._seen[0] != mark:
            self._seen = (mark, {})
        known = self._seen[1]
        if key not in known:
            known[key] = read.revision(database, key) if key else read.counter(database, write.REVISION)
        return known[key]

    async def changed_since(self, version: int, session_id: str | None = None) -> bool:
        """Whether content changed after `version` was asked for, by this process or another one."""
        return await self.version(session_id) != version

    async def acquire(self, session_id: str, owner: str) -> bool:
        """Become the one who writes a session, or go on being it; False while another one is live.
        `owner` names the worker, uniquely; renew with `beat` every `lease.BEAT_MS`."""
        now, here = self._clock(), self._here
        got = await self._change(lambda database: lease.take(database, session_id, owner, now, here))
        if got:
            self._mine[session_id] = owner
        return got

    async def beat(self, session_id: str, owner: str) -> bool:
        """Renew a lease; False if somebody else has taken it: stop writing."""
        now = self._clock()
        return await self._change(lambda database: lease.renew(database, session_id, owner, now))

    async def release(self, session_id: str, owner: str) -> None:
        """Give a lease back; nothing happens if it is not `owner`'s."""
        await self._change(lambda database: lease.drop(database, session_id, owner))
        self._mine.pop(session_id, None)

    async def lease(self, session_id: str) -> lease.Lease | None:
        """Who writes a session now; None if nobody is live."""
        found = await self._read(lambda database: lease.read(database, session_id))
        return found if found and lease.is_live(found, self._clock(), self._here) else None

    def close(self) -> None:
        """Finish what was handed over, give the leases back, close the file."""
        self._reader.close()
        if self._lane is not None:
            self._lane.finish()
            self._lane.call(self._release_all)
            self._lane.close()

    def _release_all(self, database: SqliteDatabase) -> None:
        for session_id, owner in self._mine.items():
            lease.drop(database, session_id, owner)
