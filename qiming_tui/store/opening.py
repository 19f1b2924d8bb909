"""Opening a file: private, of the newest schema, checked when there is reason, with a journal that works."""

import os
import time
from pathlib import Path

import msgspec
from peewee import SqliteDatabase

from qiming_tui.model.errors import InputError, NotFound, StoreDamaged, StoreError, StoreFull, StoreLocked
from qiming_tui.store import files, lease, migrate
from qiming_tui.store.database import Lane, connect, in_our_words, sql
from qiming_tui.store.url import Location

CHECK_BYTES = 128 * 1024 * 1024
"""A file that was not closed cleanly is checked at the start if it is no larger than this."""


JOURNAL_TRIES = 40
JOURNAL_WAIT_S = 0.05
"""How often, and how far apart, the journal is asked for while another program opens the file."""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The connections of a store; no writer: read-only."""

    reader: Lane
    writer: Lane | None
    newer: bool
    notices: tuple[str, ...]


def open_lanes(location: Location, *, now: int, read_only: bool, timeout_s: float) -> Opened:
    """Connect for reading and, unless that cannot or shall not be, for writing; see `Store.open`."""
    path = location.path
    fresh = not path.exists()
    if fresh and read_only:
        raise NotFound(f"there is no store at {path}")
    writes = not read_only and (fresh or os.access(path, os.W_OK))
    if writes:
        _prepare(path)
    try:
        if writes and not fresh and files.network_type(path):
            leave_log(path, timeout_s)
        return _connect(location, writes=writes, asked=not read_only, now=now, timeout_s=timeout_s)
    except StoreDamaged as error:
        files.mark_suspect(path)
        raise StoreDamaged(f"{error}: {path}", error.hint) from None


def _connect(location: Location, *, writes: bool, asked: bool, now: int, timeout_s: float) -> Opened:
    path = location.path
    reader = _reader(path, timeout_s)
    try:
        done = migrate.applied(reader)
        ahead, behind = done - migrate.known(), migrate.known() - done
        if not done and not migrate.is_empty(reader):
            raise InputError(f"{path} is the database of another program", "name another file")
        notices = [_newer(ahead)] if ahead else []
        if not writes or ahead:
            if asked and not ahead:
                notices.append("the store's file cannot be written: it is open for reading only")
            if behind and not ahead:
                raise StoreError("the store is of an older version", "start the program once to renew it")
            return Opened(
                reader=Lane(reader, "read", path), writer=None, newer=bool(ahead), notices=tuple(notices)
            )
        return _for_writing(location, reader, now=now, timeout_s=timeout_s)
    except BaseException:
        reader.close()
        raise


def _prepare(path: Path) -> None:
    try:
        files.make_private(path)
    except OSError as error:
        raise StoreError(f"the store cannot be created: {error.strerror}: {path}") from None


def _reader(path: Path, timeout_s: float) -> SqliteDatabase:
    """A connection that cannot write, on a file that we may perhaps not write either."""
    mode = "query" if os.access(path, os.W_OK) else "ro"
    return connect(path, mode=mode, timeout_s=timeout_s)


def _newer(ahead: set[str]) -> str:
    return f"the store was written by a newer version ({max(ahead)}): it is open for reading only"


def _for_writing(location: Location, reader: SqliteDatabase, *, now: int, timeout_s: float) -> Opened:
    path = location.path
    if suspicious(path, reader, now):
        check(reader)
        files.mark_suspect(path, on=False)
    notices = []
    if migrate.known() - migrate.applied(reader):
        copy = migrate.migrate(path, now=now, timeout_s=timeout_s)
        if copy is not None:
            notices.append(f"the store was brought to a newer form; a copy of the old one is {copy.name}")
    writer = connect(path, mode="rw", timeout_s=timeout_s, max_pages=location.max_pages)
    slow = set_journal(writer, path)
    if slow:
        notices.append(slow)
    lanes = Lane(reader, "read", path), Lane(writer, "write", path)
    return Opened(reader=lanes[0], writer=lanes[1], newer=False, notices=tuple(notices))


def suspicious(path: Path, database: SqliteDatabase, now: int) -> bool:
    """Whether the file should be checked: damage was seen before, or the last writer did not close it."""
    if files.suspect(path):
        return True
    if not files.left_open(path) or path.stat().st_size > CHECK_BYTES:
        return False
    with in_our_words():
        if not database.table_exists("lease"):
            return True
        me = lease.here()
        return not any(lease.is_live(found, now, me) for found in lease.leases(database))


def check(database: SqliteDatabase) -> None:
    """Raise StoreDamaged unless SQLite finds the file in order (cases C-105)."""
    with in_our_words():
        found = sql(database, "PRAGMA quick_check(1)").fetchone()
    if not found or found[0] != "ok":
        raise StoreDamaged("the store's file is damaged", "run: qiming doctor")


def set_journal(database: SqliteDatabase, path: Path) -> str:
    """Choose the write-ahead log, or the old journal where shared memory does not work (cases C-104);
    a sentence for people in that case."""
    network = files.network_type(path)
    where = f"a network file system ({network})"
    if not network:
        try:
            got = journal(database, "wal")
        except (StoreDamaged, StoreFull, StoreLocked):
            raise
        except StoreError:  # a file system that has no shared memory says so in one of several ways
            got = journal(database, "delete")
        if got == "wal":
            return ""
        where = "a file system without shared memory"
    return f"the store lies on {where}: programs that use it wait for each other longer"


def journal(database: SqliteDatabase, mode: str) -> str:
    """Ask for a journal mode; what SQLite made of it. To change it, SQLite wants the file for itself and does
    not wait: others that open the file in the same moment are given time."""
    left = JOURNAL_TRIES
    while True:
        try:
            with in_our_words():
                return str(database.pragma("journal_mode", mode)).lower()
        except StoreLocked:
            left -= 1
            if not left:
                raise
            time.sleep(JOURNAL_WAIT_S)


def leave_log(path: Path, timeout_s: float) -> None:
    """Take a file that came to a network disk with a write-ahead log back to the old journal, before
    anything else has it open; while another program has, it stays."""
    database = connect(path, mode="rw", timeout_s=timeout_s)
    try:
        journal(database, "delete")
    except StoreLocked:
        return
    finally:
        database.close()
