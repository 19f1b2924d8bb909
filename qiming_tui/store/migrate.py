"""Bringing a file to the newest schema: numbered scripts, one transaction, a copy before (C-106)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from peewee import SqliteDatabase
from playhouse.migrations import Runner  # type: ignore[import-untyped]  # playhouse has no stubs

from qiming_tui.store.database import connect, in_our_words, sql
from qiming_tui.store.files import beside, make_private

FOLDER = Path(__file__).with_name("migrations")
HISTORY = "schema_migration"


def known(folder: Path = FOLDER) -> set[str]:
    """Names of the migrations that this program has."""
    return {path.stem for path in folder.glob("[0-9]*.py")}


def applied(database: SqliteDatabase) -> set[str]:
    """Names of the migrations that the file has; empty for a new file."""
    with in_our_words():
        if not database.table_exists(HISTORY):
            return set()
        return {row[0] for row in sql(database, f"SELECT name FROM {HISTORY}").fetchall()}


def is_empty(database: SqliteDatabase) -> bool:
    """Whether the file holds no tables at all."""
    with in_our_words():
        return not database.get_tables()


def migrate(path: Path, *, now: int, timeout_s: float, folder: Path = FOLDER) -> Path | None:
    """Apply what is missing, all or nothing; returns the backup copy if one was made.

    Two processes may do this at once: the second waits for the first and finds nothing left to do.
    """
    database = connect(path, mode="rw", timeout_s=timeout_s)
    try:
        done = applied(database)
        copy = _backup(path, now) if done else None
        with in_our_words():
            database.pragma("foreign_keys", 0)  # rebuilding a table must not delete what refers to it
            with database.atomic("IMMEDIATE"):
                Runner(database, str(folder), HISTORY).up()
        return copy
    finally:
        database.close()


def _backup(path: Path, now: int) -> Path:
    copy = beside(path, f".backup-{now}")
    make_private(copy)
    with in_our_words(), closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy
