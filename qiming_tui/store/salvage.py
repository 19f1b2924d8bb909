"""Rescue from a damaged file: every row that can still be read goes into a new one (cases C-105)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
from peewee import SqliteDatabase

from qiming_tui.store import files, migrate, search
from qiming_tui.store import schema as t
from qiming_tui.store.database import connect, sql, transaction

_LAST = 2**40
"""A row number above all that occur."""


class Salvaged(msgspec.Struct, frozen=True, kw_only=True):
    """What a rescue found."""

    path: Path
    """The new file, in the place of the damaged one."""
    kept: Path
    """The damaged file, as it was."""
    rows: int
    """Rows that were read."""
    lost: int
    """Rows that were read, but hang on others that were not; what could not be read is not counted."""


def salvage(path: Path, *, now: int) -> Salvaged:
    """Put a new database in the place of a damaged one, with all that could be read of it.

    The damaged file is kept beside it. No other program may have it open. Raises StoreError, and leaves
    everything as it was, if the new file cannot be written.
    """
    new = files.beside(path, f".salvaged-{now}")
    files.make_private(new)
    migrate.migrate(new, now=now, timeout_s=5.0)
    target = connect(new, mode="rw", timeout_s=5.0)
    try:
        rows = _copy_all(path, target)
        with transaction(target):
            lost = _drop_orphans(target)
            lost += _drop_torn_requests(target)
            search.rebuild(target)
    finally:
        target.close()
    kept = files.beside(path, f".damaged-{now}")
    for suffix in files.SUFFIXES:
        old = files.beside(path, suffix)
        if old.exists():
            old.rename(files.beside(kept, suffix))
    new.rename(path)
    files.mark_suspect(path, on=False)
    return Salvaged(path=path, kept=kept, rows=rows, lost=lost)


def _copy_all(path: Path, target: SqliteDatabase) -> int:
    count = 0
    sql(target, "PRAGMA foreign_keys = 0")
    for source in _sources(path):
        with closing(source), transaction(target):
            for table in t.TABLES:
                count += _copy(source, target, table)
        if count:
            break
    return count


def _sources(path: Path) -> Iterator[sqlite3.Connection]:
    """The damaged file with its log and, if nothing can be read so, without."""
    for query in ("?mode=ro", "?mode=ro&immutable=1"):
        yield sqlite3.connect(path.as_uri() + query, uri=True)


def _copy(source: sqlite3.Connection, target: SqliteDatabase, table: type[t.Base]) -> int:
    meta = table._meta
    names = [field.column_name for field in meta.sorted_fields]
    columns = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" for _ in names)
    count = 0
    for row in readable(source, meta.table_name, columns):
        cursor = sql(target, f'INSERT OR IGNORE INTO "{meta.table_name}" ({columns}) VALUES ({marks})', row)
        count += cursor.rowcount
    return count


def readable(source: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[object, ...]]:
    """All rows of a table that can be read; where a page cannot, the reading goes on after it."""
    query = f'SELECT rowid, {columns} FROM "{table}" WHERE rowid >= ? ORDER BY rowid'
    start = 1
    while start <= _LAST:
        try:
            for row in source.execute(query, (start,)):
                start = row[0] + 1
                yield row[1:]
        except sqlite3.DatabaseError:
            start = _after(source, query, start)
        else:
            return


def _after(source: sqlite3.Connection, query: str, bad: int) -> int:
    """The first row number after `bad` from which reading works, by doubling the step and then halving."""
    step = 1
    while not _reads(source, query, bad + step):
        step *= 2
        if bad + step > _LAST:
            return _LAST + 1
    low, high = bad + step // 2, bad + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reads(source, query, middle) else (middle, high)
    return high


def _reads(source: sqlite3.Connection, query: str, start: int) -> bool:
    try:
        source.execute(query, (start,)).fetchone()
    except sqlite3.DatabaseError:
        return False
    return True


def _drop_orphans(target: SqliteDatabase) -> int:
    """Delete rows that refer to what was not rescued, until none is left."""
    count = 0
    while True:
        found = sql(target, "PRAGMA foreign_key_check").fetchall()
        if not found:
            return count
        for table, row_id in {(row[0], row[1]) for row in found}:
            count += sql(target, f'DELETE FROM "{table}" WHERE rowid = ?', (row_id,)).rowcount


def _drop_torn_requests(target: SqliteDatabase) -> int:
    """Delete requests whose manifest is a difference to one that was not rescued, until none is left."""
    count = 0
    torn = "DELETE FROM request WHERE base IS NOT NULL AND base NOT IN (SELECT id FROM request)"
    while found := sql(target, torn).rowcount:
        count += found
    return count
