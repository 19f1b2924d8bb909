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
    """All rows of a table that can be read, by halving the ranges that cannot."""
    ranges = [(1, _LAST)]
    while ranges:
        low, high = ranges.pop()
        last = low - 1
        try:
            query = f'SELECT rowid, {columns} FROM "{table}" WHERE rowid BETWEEN ? AND ? ORDER BY rowid'
            for row in source.execute(query, (low, high)):
                last = row[0]
                yield row[1:]
        except sqlite3.DatabaseError:
            if last >= low:
                ranges.append((last + 1, high))
            elif low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


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
