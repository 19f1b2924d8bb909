"""The store against sqlite3 that keeps the same values in two plain tables and a search index.

The floor runs in one thread without anything around it; ours goes to the thread of the connection and back,
guards the lease, counts revisions and makes values of ours out of what it reads.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from qiming_tui.model.changes import Change, PutEdit, PutMessage, PutPart, PutSession
from qiming_tui.model.codec import decode, to_raw
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Part, Span, ToolPart
from qiming_tui.store.rows import encode
from qiming_tui.store.store import Store
from tests.bench import history
from tests.bench.measure import Row
from tests.context import make
from tests.store.values import Clock, session

WRITES = 100
"""Parts written for one sample."""
MESSAGES = 5_000
"""Of the session that is opened; four parts each."""
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE message (id TEXT PRIMARY KEY, seq INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message TEXT, seq INTEGER, data TEXT);
CREATE TABLE output (part TEXT PRIMARY KEY, text TEXT);
CREATE VIRTUAL TABLE search USING fts5(text, content='');
"""
_PUT_PART = """INSERT INTO part VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data"""


class Plain:
    """The floor."""

    def __init__(self, path: Path, *, fresh: bool = True) -> None:
        self.sql = sqlite3.connect(path, isolation_level=None)
        self.sql.executescript(_SCHEMA if fresh else "PRAGMA synchronous = NORMAL;")

    def write(self, parts: Iterable[tuple[Part, int]]) -> None:
        """Parts in one transaction; the output of a tool in a table of its own, and searchable."""
        sql = self.sql
        sql.execute("BEGIN IMMEDIATE")
        for part, seq in parts:
            raw = to_raw(part)
            output = raw["state"].pop("output", None) if "state" in raw else None
            sql.execute(_PUT_PART, (part.id, part.message_id, seq, encode(raw)))
            if output is not None:
                sql.execute("INSERT OR REPLACE INTO output VALUES (?, ?)", (part.id, output))
                sql.execute("INSERT INTO search (text) VALUES (?)", (output,))
        sql.execute("COMMIT")

    def fill(self, entries: Iterable[Entry]) -> None:
        """Messages with all their parts."""
        for entry in entries:
            values = (entry.id, entry.seq, encode(to_raw(entry.info)))
            self.sql.execute("INSERT INTO message VALUES (?, ?, ?)", values)
            self.write((part, seq) for seq, part in enumerate(entry.parts))

    def load(self) -> list[object]:
        """Everything, decoded."""
        outputs = dict(self.sql.execute("SELECT part, text FROM output"))
        found: list[object] = [
            decode(row[0]) for row in self.sql.execute("SELECT data FROM message ORDER BY seq")
        ]
        parts = self.sql.execute("SELECT id, data FROM part ORDER BY message, seq")
        found += [(decode(data), outputs.get(id)) for id, data in parts]
        return found


async def _took(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def _took_plain(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _streamed(number: int) -> Part:
    """An answer that grows and has not ended."""
    return make.text("u0", "streamed", "and so the answer goes on. " * (1 + number), time=Span(start=1))


def _tool(number: int) -> Part:
    """A new result of twenty thousand characters."""
    part = make.tool("u0", f"t{number}", f"line of number {number}\n" * 1000)
    assert isinstance(part, ToolPart)
    assert isinstance(part.state, Completed)
    return part


async def _writes(store: Store, plain: Plain, made: Callable[[int], Part], first: int) -> tuple[float, float]:
    """Milliseconds a part, ours and the floor's, in turn."""
    ours = floor = 0.0
    for number in range(first, first + WRITES):
        part = made(number)
        change = PutPart(part, number)
        ours += await _took(lambda change=change: store.apply([change]))
        floor += _took_plain(lambda part=part, number=number: plain.write([(part, number)]))
    return ours / WRITES, floor / WRITES


def _changes(entries: Iterable[Entry]) -> list[Change]:
    changes: list[Change] = [PutSession(session(make.S))]
    for entry in entries:
        changes.append(PutMessage(entry.info, entry.seq))
        changes += [PutPart(part, seq) for seq, part in enumerate(entry.parts)]
    return changes


async def _written(folder: Path, runs: int) -> list[Row]:
    store = Store.open(folder / "small.db", clock=Clock())
    plain = Plain(folder / "small.plain")
    await store.apply(_changes(history.entries(history.PARTS_A_TURN)))
    kinds = (("a streamed text", _streamed, 40.0), ("a new result of 20 kB", _tool, 12.0))
    out = []
    for name, made, most in kinds:
        pairs = [await _writes(store, plain, made, run * WRITES) for run in range(runs)]
        out.append(_row(f"write {name}", pairs, "the same rows written by sqlite3", most))
    store.close()
    plain.sql.close()
    return out


async def _read(folder: Path, runs: int, messages: int) -> list[Row]:
    """Opening and loading a session of many messages."""
    path, floor = folder / "large.db", folder / "large.plain"
    entries = history.entries(messages // history.MESSAGES_A_TURN * history.PARTS_A_TURN)
    store = Store.open(path, clock=Clock())
    await store.apply([*_changes(entries), *map(PutEdit, history.clears(entries))])
    store.close()
    plain = Plain(floor)
    plain.fill(entries)
    plain.sql.close()
    opened, loaded = [], []
    for _ in range(runs):
        began = time.perf_counter()
        store = Store.open(path, clock=Clock())
        await store.session(make.S)
        ours = (time.perf_counter() - began) * 1000
        began = time.perf_counter()
        plain = Plain(floor, fresh=False)
        plain.sql.execute("SELECT data FROM message LIMIT 1").fetchone()
        opened.append((ours, (time.perf_counter() - began) * 1000))
        loaded.append((await _took(lambda store=store: store.load(make.S)), _took_plain(plain.load)))
        store.close()
        plain.sql.close()
    return [
        _row("open, read one row", opened, "sqlite3 opens the file and reads a row", 400.0),
        _row(f"load {len(entries):,} messages", loaded, "sqlite3 reads the same, msgspec decodes it", 8.0),
    ]


def _row(name: str, pairs: list[tuple[float, float]], against: str, most: float) -> Row:
    ours, floor = zip(*pairs, strict=True)
    return Row(area="store", name=name, ours=ours, floor=floor, against=against, most=most)


async def _all(runs: int, messages: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*await _written(folder, runs), *await _read(folder, runs, messages)]


def rows(runs: int, messages: int = MESSAGES) -> list[Row]:
    """The table's lines."""
    return asyncio.run(_all(runs, messages))
