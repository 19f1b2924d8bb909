"""Who writes a session: one row per session, kept alive by a heartbeat (`data.md` 5)."""

import os
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from peewee import SqliteDatabase

from qiming_tui.model.errors import SessionBusy
from qiming_tui.store.database import Prepared, fetch, first
from qiming_tui.store.schema import Lease as Row

BEAT_MS = 2_000
"""How often the holder renews its lease."""
EXPIRES_MS = 10_000
"""How long a lease lives without being renewed."""

_ALL = Row.select(Row.session, Row.owner, Row.pid, Row.boot, Row.host, Row.beat)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A holder, and when it was last heard of (milliseconds since the epoch)."""

    session_id: str
    owner: str
    pid: int
    boot: str
    host: str
    beat: int


class Here(msgspec.Struct, frozen=True):
    """This process on this machine since this start of it."""

    pid: int
    boot: str
    host: str


def here() -> Here:
    """The process that asks."""
    boot = _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else ""
    return Here(os.getpid(), boot, socket.gethostname())


def process_lives(pid: int) -> bool:
    """Whether a process of this machine exists and is not a zombie; true where it cannot be told."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if sys.platform.startswith("linux"):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return True
        return state.rpartition(")")[2].split()[:1] != ["Z"]
    return True


def is_live(lease: Lease, now: int, me: Here) -> bool:
    """Whether the holder may still be at work: a dead process of this host frees its lease at once, any
    other one by silence."""
    if lease.host == me.host:
        if lease.boot and me.boot and lease.boot != me.boot:
            return False
        if not process_lives(lease.pid):
            return False
    return now - lease.beat < EXPIRES_MS


def read(database: SqliteDatabase, session_id: str) -> Lease | None:
    """The lease of a session, live or not."""
    row = first(database, _ALL.where(Row.session == session_id))
    return _of(row) if row else None


def leases(database: SqliteDatabase) -> list[Lease]:
    """All leases, live or not."""
    return [_of(row) for row in fetch(database, _ALL)]


def _of(row: tuple[Any, ...]) -> Lease:
    session_id, owner, pid, boot, host, beat = row
    return Lease(session_id=session_id, owner=owner, pid=pid, boot=boot, host=host, beat=beat)


def take(
    database: SqliteDatabase, session_id: str, owner: str, now: int, me: Here, *, force: bool = False
) -> bool:
    """Take or renew a lease inside a transaction; False while another holder is live, unless by force."""
    old = read(database, session_id)
    if old is not None and old.owner != owner and is_live(old, now, me) and not force:
        return False
    Row.delete().where(Row.session == session_id).execute(database)
    values = {"owner": owner, "pid": me.pid, "boot": me.boot, "host": me.host, "beat": now}
    Row.insert(session=session_id, **values).execute(database)
    return True


def renew(database: SqliteDatabase, session_id: str, owner: str, now: int) -> bool:
    """The heartbeat; False when the lease is somebody else's by now."""
    query = Row.update(beat=now).where((Row.session == session_id) & (Row.owner == owner))
    return bool(query.execute(database))


def drop(database: SqliteDatabase, session_id: str, owner: str) -> None:
    """Give a lease back."""
    Row.delete().where((Row.session == session_id) & (Row.owner == owner)).execute(database)


class Guard:
    """Nobody overwrites what a process that took over has written, not even one that slept meanwhile
    (cases C-112)."""

    def __init__(self, database: SqliteDatabase, me: Here) -> None:
        self._one = Prepared(database, _ALL.where(Row.session == ""))
        self._me = me

    def refuse_others(self, session_ids: Iterable[str], mine: Mapping[str, str], now: int) -> None:
        """Raise SessionBusy if another live holder has one of these sessions, or had it since it was ours;
        `mine`: session -> owner."""
        for session_id in session_ids:
            row = self._one.first(session_id)
            found = _of(row) if row else None
            owner = mine.get(session_id)
            if owner is not None:
                if found is None or found.owner != owner:
                    raise SessionBusy(taken_over(found), "what it has written stands; open the session anew")
            elif found and is_live(found, now, self._me):
                raise SessionBusy(
                    f"another program writes this session (process {found.pid} on {found.host})",
                    "it is shown read-only here; close the other one to go on",
                )


def taken_over(holder: Lease | None) -> str:
    """The sentence for who had a lease and has lost it."""
    if holder is None:
        return "another program has taken over this session and left it again"
    return f"another program has taken over this session (process {holder.pid} on {holder.host})"
