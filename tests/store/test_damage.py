"""Damaged files and full disks: said in words, nothing lost that can be read (cases C-103, C-105)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qiming_tui.model.changes import PutMessage, PutPart, PutRequest
from qiming_tui.model.errors import StoreDamaged, StoreError, StoreFull
from qiming_tui.store import files, opening
from qiming_tui.store.salvage import salvage
from qiming_tui.store.store import Store
from tests.store.conftest import Opener
from tests.store.values import S, answer, blob, item, request, talk, text, tool, user


async def test_c_105_what_is_no_database_is_kept(path: Path, opener: Opener) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but somebody's notes" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="not a database") as caught:
        opener()
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    found = salvage(path, now=5)
    assert (found.path, found.rows, found.kept.read_bytes()) == (path, 0, before)
    await opener().apply(talk())


async def fill(opener: Opener) -> None:
    store = opener()
    for number in range(40):
        name = f"ses_{number:02}"
        parts = [text(f"prt_{number}_{n}", f"word{number} " * 30, f"msg_{number}", name) for n in range(20)]
        await store.apply(talk(parts, id=name, message=f"msg_{number}"))
    await store.apply([PutRequest(request(1, [item("a")], "ses_00"), (blob("a"),))])
    store.close()


async def load_all(store: Store) -> None:
    for number in range(40):
        await store.load(f"ses_{number:02}")


def spoil(path: Path, table: str) -> None:
    """Overwrite a leaf page of a table in the middle of the file."""
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno"
        pages = [row[0] for row in database.execute(query, (table,))]
        size = database.execute("PRAGMA page_size").fetchone()[0]
    page = pages[len(pages) // 2]
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xfa" * size)


async def test_c_105_damage_is_noticed_kept_and_what_is_readable_is_saved(path: Path, opener: Opener) -> None:
    await fill(opener)
    spoil(path, "part")
    bad = path.read_bytes()
    store = opener()
    with pytest.raises(StoreDamaged):
        await load_all(store)
    store.close()
    assert files.suspect(path)
    with pytest.raises(StoreDamaged, match="damaged"):
        opener()
    found = salvage(path, now=5)
    assert found.kept.read_bytes() == bad
    assert not files.suspect(path)
    store = opener()
    whole = [
        line for line in await store.sessions() if len((await store.load(line.id)).entries[0].parts) == 20
    ]
    assert len(await store.sessions()) == 40
    assert 30 <= len(whole) < 40
    assert await store.search(f"word{whole[0].id[4:].lstrip('0') or '0'}", limit=3)
    assert (await store.requests("ses_00"))[0].manifest == (item("a"),)


async def test_a_salvaged_ledger_never_refers_to_what_is_gone(path: Path, opener: Opener) -> None:
    store = opener()
    rows = [item(f"i{n}") for n in range(5)]
    changes = [PutRequest(request(n + 1, rows[: n + 1])) for n in range(5)]
    await store.apply([*talk(), *changes])
    store.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM request WHERE step = 3")
    assert salvage(path, now=1).lost == 2
    assert [row.step for row in await opener().requests(S)] == [1, 2]


async def test_a_file_that_was_not_closed_is_checked(
    path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[object] = []
    real = opening.check
    monkeypatch.setattr(opening, "check", lambda database: (checked.append(1), real(database)))
    store = opener()
    await store.apply(talk())
    assert await store.acquire(S, "me")
    opener().close()
    assert not checked, "the one that has it open lives"
    await store.release(S, "me")
    opener()
    assert checked


async def fill_up(store: Store) -> None:
    for number in range(1, 300):
        await store.apply([PutPart(tool(f"prt_{number}", f"{number} " * 500), number)])


async def test_c_103_a_full_disk_is_said_and_loses_nothing(path: Path, opener: Opener) -> None:
    store = opener(f"sqlite:///{path}?max_page_count=80")
    await store.apply(talk([text("prt_0", "start")]))
    with pytest.raises(StoreFull, match="disk is full"):
        await fill_up(store)
    saved = len((await store.load(S)).entries[0].parts) - 1
    assert saved > 5
    both = [
        PutMessage(user("msg_2"), 1),
        PutMessage(answer(), 2),
        PutPart(tool("prt_x", "y" * 50_000, "msg_2"), 0),
    ]
    with pytest.raises(StoreFull):
        await store.apply(both)
    assert [entry.id for entry in (await store.load(S)).entries] == ["msg_u"], "no half message"
    store.close()
    store = opener()
    await store.apply([PutPart(tool(f"prt_{saved + 1}", "late"), saved + 1), *both])
    assert [entry.id for entry in (await store.load(S)).entries] == ["msg_u", "msg_2", "msg_s"]


async def test_a_request_that_was_not_saved_is_no_base(path: Path, opener: Opener) -> None:
    store = opener()
    rows = [item(f"i{n}") for n in range(4)]
    await store.apply([*talk(), PutRequest(request(1, rows[:1]))])
    with pytest.raises(StoreError):
        await store.apply([PutRequest(request(2, rows[:2])), PutPart(text("p", "x", "msg_none"), 0)])
    await store.apply([PutRequest(request(3, rows[:3]))])
    assert [row.manifest for row in await store.requests(S)] == [tuple(rows[:1]), tuple(rows[:3])]
