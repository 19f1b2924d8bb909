"""The store: what is written is safe when the call returns, what is read is of one moment.

One thread owns the connection that writes, another one that only reads; the caller awaits both.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from peewee import SqliteDatabase

from qiming_tui.model.changes import Change
from qiming_tui.model.errors import StoreReadOnly
from qiming_tui.model.ids import Clock
from qiming_tui.store import lease, opening, read, read_ledger, recover, write
from qiming_tui.store.database import Lane, transaction
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
        self._here = lease.here()
        self._mine: dict[str, str] = {}
        self._seen: tuple[int, dict[str, int]] = (-1, {})
        self._hand = _Hand(opened.writer, self._here) if opened.writer else None
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
        return self._hand is not None

    @property
    def read_only(self) -> bool:
        """The opposite of `writable`."""
        return not self.writable

    async def _change(self, work: Callable[["_Hand"], T]) -> T:
        hand = self._hand
        if hand is None:
            why = "it was written by a newer program" if self.newer else "it is open for reading only"
            raise StoreReadOnly(f"the store is not changed: {why}")
        return await hand.lane.run(lambda _: hand.whole(work))

    async def apply(self, changes: Sequence[Change]) -> None:
        """Write all changes in order, or none. Handing them over twice is harmless.

        Raises StoreFull and StoreLocked (try again later; nothing was written), SessionBusy if another live
        process holds a session's lease, StoreReadOnly, StoreDamaged, StoreError.
        """
        listed = tuple(changes)
        if not listed:
            return

        def work(hand: "_Hand") -> None:
            hand.guard.refuse_others(write.sessions_of(listed), self._mine, self._clock())
            hand.writer.apply(listed)

        await self._change(work)

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it; raises NotFound, or SessionBusy (see `apply`)."""

        def work(hand: "_Hand") -> None:
            hand.guard.refuse_others([session_id], self._mine, self._clock())
            hand.writer.forget()
            write.delete_session(hand.lane.database, session_id)

        await self._change(work)
        self._mine.pop(session_id, None)

    async def recover(self, session_id: str) -> tuple[Change, ...]:
        """End what a dead process left open in a session (running tools, half answers and summaries, open
        requests) and return those ends. For the holder of the lease only, before its first turn."""
        now = self._clock()

        def work(hand: "_Hand") -> tuple[Change, ...]:
            hand.guard.refuse_others([session_id], self._mine, now)
            database = hand.lane.database
            found = recover.endings(
                read.unfinished(database, session_id),
                read.attempts(database, session_id),
                read_ledger.open_requests(database, session_id),
                now,
            )
            if found:
                hand.writer.apply(found)
            return found

        return await self._change(work)

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

    async def acquire(self, session_id: str, owner: str, *, force: bool = False) -> bool:
        """Become the one who writes a session, or go on being it; False while another one is live.
        `owner` names the worker, uniquely; renew with `beat` every `lease.BEAT_MS`. By `force` the session is
        taken from who has it: the store refuses what that one still wants to write."""
        now, here = self._clock(), self._here
        got = await self._change(
            lambda hand: lease.take(hand.lane.database, session_id, owner, now, here, force=force)
        )
        if got:
            self._mine[session_id] = owner
        return got

    async def beat(self, session_id: str, owner: str) -> bool:
        """Renew a lease; False if somebody else has taken it: stop writing."""
        now = self._clock()
        return await self._change(lambda hand: lease.renew(hand.lane.database, session_id, owner, now))

    async def release(self, session_id: str, owner: str) -> None:
        """Give a lease back; nothing happens if it is not `owner`'s."""
        await self._change(lambda hand: lease.drop(hand.lane.database, session_id, owner))
        self._mine.pop(session_id, None)

    async def lease(self, session_id: str) -> lease.Lease | None:
        """Who writes a session now; None if nobody is live."""
        found = await self._read(lambda database: lease.read(database, session_id))
        return found if found and lease.is_live(found, self._clock(), self._here) else None

    def close(self) -> None:
        """Finish what was handed over, give the leases back, close the file."""
        self._reader.close()
        hand = self._hand
        if hand is not None:
            hand.lane.finish()
            hand.lane.call(self._release_all)
            hand.lane.close()

    def _release_all(self, database: SqliteDatabase) -> None:
        for session_id, owner in self._mine.items():
            lease.drop(database, session_id, owner)
        self._mine.clear()


class _Hand:
    """What writes: the connection, the statements on it, and the guard against other writers."""

    def __init__(self, lane: Lane, me: lease.Here) -> None:
        self.lane = lane
        self.writer = write.Writer(lane.database)
        self.guard = lease.Guard(lane.database, me)

    def whole(self, work: Callable[[Self], T]) -> T:
        """Do `work` in one transaction, in the writer's thread."""
        try:
            with transaction(self.lane.database):
                return work(self)
        except BaseException:
            self.writer.forget()
            raise
