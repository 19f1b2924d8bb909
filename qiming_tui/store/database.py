"""Connections: one thread each, errors in our own words, transactions that wait for a lock, not for ever."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from peewee import PeeweeException, Query, SqliteDatabase

from qiming_tui.model.errors import StoreDamaged, StoreError, StoreFull, StoreLocked, StoreReadOnly
from qiming_tui.store.files import mark_suspect

T = TypeVar("T")
PAGE = 500
"""Values at most in one list of a statement."""
TRIES = 2
"""How often a transaction waits for the lock, each time as long as the connection's timeout."""

_KINDS: dict[int, tuple[type[StoreError], str, str]] = {
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full: not saved", "free some space; saving is tried again"),
    sqlite3.SQLITE_BUSY: (StoreLocked, "the store is locked by another program", "saving is tried again"),
    sqlite3.SQLITE_LOCKED: (StoreLocked, "the store is locked by another program", "saving is tried again"),
    sqlite3.SQLITE_CORRUPT: (StoreDamaged, "the store's file is damaged", "run: qiming doctor"),
    sqlite3.SQLITE_NOTADB: (StoreDamaged, "the store's file is not a database", "run: qiming doctor"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the store cannot be written", "check the file's permissions"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "the store's file cannot be opened",
        "check the folder's permissions",
    ),
    sqlite3.SQLITE_CONSTRAINT: (StoreError, "a change refers to something that is not in the store", ""),
    sqlite3.SQLITE_PROTOCOL: (StoreError, "the file system cannot lock files", "use a local disk"),
    sqlite3.SQLITE_IOERR: (StoreError, "the disk reported an error", "check the disk"),
}


def translate(error: Exception) -> StoreError:
    """Our error for one of the database's. Never holds statements or bound values (cases C-141)."""
    inner = getattr(error, "orig", error)  # Peewee keeps what it wraps
    code = getattr(inner, "sqlite_errorcode", 0) & 0xFF
    kind, words, hint = _KINDS.get(code, (StoreError, "the store failed", ""))
    name = getattr(inner, "sqlite_errorname", type(inner).__name__)
    return kind(f"{words} ({name})", hint)


@contextmanager
def in_our_words() -> Iterator[None]:
    """Turn the database's errors into ours."""
    try:
        yield
    except (PeeweeException, sqlite3.Error) as error:
        raise translate(error) from None


def connect(path: Path, *, mode: str, timeout_s: float, max_pages: int | None = None) -> SqliteDatabase:
    """A connection that any one thread may use at a time.

    `mode`: `rw`; `query` (refuses to write); `ro` (a file that we may not write); `immutable` (no locks, no
    log: only for rescue). Raises StoreDamaged if the file is no database.
    """
    logging.getLogger("peewee").setLevel(logging.INFO)  # at DEBUG it would log bound values (cases C-141)
    suffix = {"ro": "?mode=ro", "immutable": "?mode=ro&immutable=1"}.get(mode, "?mode=rw")
    pragmas: list[tuple[str, int | str]] = [
        ("foreign_keys", 1),
        ("synchronous", "normal"),
        ("temp_store", "memory"),
        ("journal_size_limit", 16 * 1024 * 1024),
    ]
    if mode != "rw":
        pragmas.append(("query_only", 1))
    if max_pages is not None:
        pragmas.append(("max_page_count", max_pages))
    database = SqliteDatabase(
        path.as_uri() + suffix,
        pragmas=pragmas,
        thread_safe=False,
        timeout=timeout_s,
        uri=True,
        check_same_thread=False,
    )
    with in_our_words():
        database.connect()
    return database


def sql(database: SqliteDatabase, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
    """Execute one statement as it stands."""
    cursor: sqlite3.Cursor = database.execute_sql(statement, values)  # type: ignore[no-untyped-call]  # stubs
    return cursor


def fetch(database: SqliteDatabase, query: Query) -> list[tuple[Any, ...]]:
    """All rows of a select, as tuples."""
    return list(query.tuples().execute(database))


def first(database: SqliteDatabase, query: Query) -> tuple[Any, ...] | None:
    """The first row of a select, None if there is none."""
    return next(iter(query.tuples().execute(database)), None)


class Prepared:
    """A statement that Peewee builds once, for what is executed all the time: building costs more than the
    database does. Its values are given in the order in which they stand in the statement."""

    def __init__(self, database: SqliteDatabase, query: Query) -> None:
        context = database.get_sql_context()
        self._database = database
        self._sql: str = context.sql(query).query()[0]  # type: ignore[no-untyped-call]  # stubs

    def __call__(self, *values: object) -> sqlite3.Cursor:
        """Execute it."""
        return sql(self._database, self._sql, values)

    def first(self, *values: object) -> tuple[Any, ...] | None:
        """The first row of its result, None if there is none."""
        row: tuple[Any, ...] | None = self(*values).fetchone()
        return row


def _in_transaction(database: SqliteDatabase) -> bool:
    connection: sqlite3.Connection = database.connection()  # type: ignore[no-untyped-call]  # stubs
    return connection.in_transaction


@contextmanager
def transaction(database: SqliteDatabase) -> Iterator[None]:
    """`BEGIN IMMEDIATE` ... `COMMIT`; nothing is written if the block or the commit fails."""
    _begin(database)
    try:
        with in_our_words():
            yield
            sql(database, "COMMIT")
    except BaseException:
        if _in_transaction(database):
            sql(database, "ROLLBACK")
        raise


@contextmanager
def snapshot(database: SqliteDatabase) -> Iterator[None]:
    """Several reads of one moment."""
    sql(database, "BEGIN")
    try:
        yield
    finally:
        if _in_transaction(database):
            sql(database, "ROLLBACK")


def _begin(database: SqliteDatabase) -> None:
    for attempt in range(1, TRIES + 1):
        try:
            with in_our_words():
                sql(database, "BEGIN IMMEDIATE")
        except StoreLocked:
            if attempt == TRIES:
                raise
        else:
            return


class Lane:
    """A connection and the one thread that uses it. Damage that shows is noted: the next start checks."""

    def __init__(self, database: SqliteDatabase, name: str, path: Path) -> None:
        self.database = database
        self._path = path
        self._finished = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"store-{name}")

    async def run(self, work: Callable[[SqliteDatabase], T]) -> T:
        """Do `work` in the thread, after what was handed over before. Cancelling waits for nothing and
        undoes nothing: the work is done all the same."""
        if self._finished:
            raise StoreError("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.call, work)

    def call(self, work: Callable[[SqliteDatabase], T]) -> T:
        """Do `work` in the caller's thread; only while nothing else runs on the connection."""
        try:
            with in_our_words():
                return work(self.database)
        except StoreDamaged:
            mark_suspect(self._path)
            raise

    def finish(self) -> None:
        """Wait for what was handed over; nothing more is taken."""
        self._finished = True
        self._thread.shutdown(wait=True)

    def close(self) -> None:
        """Finish, then close the connection."""
        self.finish()
        with in_our_words():
            self.database.close()


def pages(items: Iterable[str]) -> Iterable[list[str]]:
    """The items once each, in lists short enough for a statement."""
    listed = list(dict.fromkeys(items))
    for start in range(0, len(listed), PAGE):
        yield listed[start : start + PAGE]
