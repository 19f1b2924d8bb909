"""Opening: private files, URLs, old and new schemas, journals (cases C-104, 106, 107, 113)."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from peewee import SqliteDatabase
from playhouse.schema_diff import diff_models

from qiming_tui.model.changes import PutPart
from qiming_tui.model.errors import InputError, NotFound, StoreError, StoreReadOnly
from qiming_tui.store import files, migrate, opening
from qiming_tui.store.schema import TABLES
from qiming_tui.store.store import Store
from qiming_tui.store.url import parse
from tests.store.conftest import Opener
from tests.store.values import NOW, Clock, S, talk, text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
async def test_c_113_nobody_else_can_read(tmp_path: Path, opener: Opener) -> None:
    old = os.umask(0)
    try:
        store = opener(tmp_path / "a" / "b" / "q.db")
        await store.apply(talk([text("prt_1", "x")]))
    finally:
        os.umask(old)
    found = {path.name: mode(path) for path in (tmp_path / "a" / "b").iterdir()}
    assert found == {"q.db": 0o600, "q.db-wal": 0o600, "q.db-shm": 0o600}
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700


async def test_c_113_a_file_that_was_open_to_others_is_closed(path: Path, opener: Opener) -> None:
    opener().close()
    path.chmod(0o644)
    await opener().apply(talk())
    assert mode(path) == 0o600
    assert mode(files.beside(path, "-wal")) == 0o600


async def test_a_url_opens_what_a_path_opens(path: Path, opener: Opener) -> None:
    store = opener()
    await store.apply(talk())
    assert store.url == f"sqlite:///{path}"
    assert await opener(store.url).find(S) == S
    assert parse(f"sqlite:///{path}?max_page_count=9").max_pages == 9
    assert parse(parse(f"sqlite:///{path}?max_page_count=9").url).max_pages == 9


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://h/db",
        "mysql://h/db",
        "sqlite://",
        "sqlite://host/x.db",
        "sqlite:///x.db?mode=ro",
        "sqlite:///x.db?max_page_count=-1",
        "sqlite:///x.db?max_page_count=²",
    ],
)
def test_other_urls_are_refused_in_words(where: str) -> None:
    with pytest.raises(InputError):
        parse(where)


async def test_a_store_opened_for_reading_writes_nothing(path: Path, opener: Opener) -> None:
    with pytest.raises(NotFound, match="there is no store"):
        opener(read_only=True)
    assert not path.exists()
    await opener().apply(talk())
    reading = opener(read_only=True)
    assert (reading.read_only, reading.writable, reading.newer) == (True, False, False)
    assert (await reading.load(S)).session.id == S
    for call in (reading.apply(talk()), reading.delete(S), reading.acquire(S, "me"), reading.recover(S)):
        with pytest.raises(StoreReadOnly):
            await call


async def test_what_cannot_be_created_is_said(tmp_path: Path, opener: Opener) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be created"):
        opener(tmp_path / "file" / "q.db")


async def test_the_database_of_another_program_is_left_alone(path: Path, opener: Opener) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id TEXT)")
    before = path.read_bytes()
    with pytest.raises(InputError, match="another program"):
        opener()
    assert path.read_bytes() == before


def test_the_models_say_what_the_migrations_made(path: Path, opener: Opener) -> None:
    opener()
    database = SqliteDatabase(path)
    with database.bind_ctx(list(TABLES)), database.connection_context():
        difference = diff_models(database, list(TABLES))
    assert not difference, str(difference)


async def test_c_107_a_newer_schema_is_opened_for_reading(path: Path, opener: Opener) -> None:
    store = opener()
    await store.apply(talk([text("prt_1", "still here")]))
    store.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO schema_migration(name, applied) VALUES ('9999_later', '2100-01-01')")
    before = path.read_bytes()
    newer = opener()
    assert (newer.newer, newer.writable) == (True, False)
    assert any("newer version (9999_later)" in notice for notice in newer.notices)
    assert (await newer.load(S)).entries[0].text == "still here"
    with pytest.raises(StoreReadOnly, match="newer program"):
        await newer.apply([PutPart(text("prt_2", "x"), 1)])
    newer.close()
    assert path.read_bytes() == before


def folder_with(tmp_path: Path, body: str) -> Path:
    """The real migrations and one more."""
    folder = tmp_path / "migrations"
    folder.mkdir(exist_ok=True)
    for script in migrate.FOLDER.glob("[0-9]*.py"):
        (folder / script.name).write_bytes(script.read_bytes())
    (folder / "0100_more.py").write_text(f"def up(migrator, db):\n{body}", encoding="utf-8")
    return folder


async def test_c_106_a_migration_is_whole_or_not_at_all(tmp_path: Path, path: Path, opener: Opener) -> None:
    store = opener()
    await store.apply(talk([text("prt_1", "kept")]))
    store.close()
    half = '    db.execute_sql("CREATE TABLE extra (id TEXT)")\n    db.execute_sql("broken")\n'
    with pytest.raises(StoreError):
        migrate.migrate(path, now=1, timeout_s=1, folder=folder_with(tmp_path, half))
    assert {"0001_initial"} <= names(path) == migrate.known()
    assert "extra" not in tables(path)
    good = '    db.execute_sql("CREATE TABLE extra (id TEXT)")\n    db.execute_sql("DROP TABLE rule")\n'
    copy = migrate.migrate(path, now=2, timeout_s=1, folder=folder_with(tmp_path, good))
    assert names(path) == migrate.known() | {"0100_more"}
    assert "extra" in tables(path)
    assert copy is not None
    assert mode(copy) == 0o600
    assert "rule" in tables(copy)
    assert (await opener(copy).load(S)).entries[0].text == "kept"


def names(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as database:
        return {row[0] for row in database.execute("SELECT name FROM schema_migration")}


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as database:
        return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home rw - nfs4 server:/home rw,vers=4.2
41 40 8:2 / /home/me/local rw - ext4 /dev/sdb1 rw
42 22 0:51 / /mnt/my\\040disk rw - fuse.sshfs me@host: rw
not a line
"""


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("/var/q.db", None),
        ("/home/me/q.db", "nfs4"),
        ("/home/me/local/q.db", None),
        ("/mnt/my disk/q.db", "fuse.sshfs"),
        ("/homes/q.db", None),
    ],
)
def test_c_104_network_disks_are_known(where: str, kind: str | None) -> None:
    assert files.network_type(Path(where), MOUNTS) == kind


def journal(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA journal_mode").fetchone()[0]


async def test_c_104_no_shared_memory_on_a_network_disk(
    path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "network_type", lambda _: "nfs4")
    store = opener()
    await store.apply(talk([text("prt_1", "x")]))
    assert not files.beside(path, "-wal").exists()
    assert any("network file system (nfs4)" in notice for notice in store.notices)
    other = opener()
    assert (await other.load(S)).entries[0].text == "x"
    await other.apply([PutPart(text("prt_1", "y"), 0)])
    assert (await store.load(S)).entries[0].text == "y"
    store.close()
    other.close()
    monkeypatch.undo()
    assert journal(path) == "delete"
    store = opener()
    assert store.notices == ()
    assert journal(path) == "wal"


async def test_c_104_a_log_that_came_to_a_network_disk_is_left(
    path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opener()
    await store.apply(talk([text("prt_1", "x")]))
    monkeypatch.setattr(files, "network_type", lambda _: "nfs4")
    second = opener(lock_timeout_s=0.05)
    assert second.notices, "the first has it open: the log stays, and it is said"
    second.close()
    store.close()
    assert (await opener().load(S)).entries[0].text == "x"
    assert journal(path) == "delete"


async def test_c_104_a_disk_without_shared_memory_is_no_obstacle(
    path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = opening.journal

    def refuses(database: SqliteDatabase, mode: str) -> str:
        if mode == "wal":
            raise StoreError("the file system cannot lock files (SQLITE_PROTOCOL)")
        return real(database, mode)

    monkeypatch.setattr(opening, "journal", refuses)
    store = opener()
    await store.apply(talk())
    assert any("without shared memory" in notice for notice in store.notices)
    assert not files.beside(path, "-wal").exists()


async def test_a_clean_end_leaves_one_file(path: Path, clock: Clock) -> None:
    store = Store.open(path, clock=clock)
    await store.apply(talk([text("prt_1", "x")]))
    assert await store.acquire(S, "me")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.load(S)
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert clock() == NOW
