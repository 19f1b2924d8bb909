"""A store that cannot take a write costs nothing but the time until it can (cases C-103)."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager, closing

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.changes import PutQueue
from qiming_tui.model.errors import StoreFull
from qiming_tui.model.ledger import QueueItem
from qiming_tui.model.stream import Finish, TextDelta
from qiming_tui.session.bus import Bus
from qiming_tui.session.journal import Journal
from qiming_tui.session.live import Live
from qiming_tui.store.database import sql
from tests.session.harness import call, say, session, used
from tests.session.ordered import boundaries, order, settled
from tests.session.test_abort import LONG, Titled, goes_on, reached

SECRET = "the secret of the ferry"


async def pages(store, limit=None):
    """Set how large the file may become; by default as large as it is: the disk is full."""

    def work(database):
        now = sql(database, "PRAGMA page_count").fetchone()[0]
        sql(database, f"PRAGMA max_page_count = {limit or now}")

    await store._hand.lane.run(work)


@asynccontextmanager
async def locked(folder):
    """Another program has the store locked."""
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


async def until_saved(rig):
    async with asyncio.timeout(20):
        while not rig.of(e.Saved):
            await asyncio.sleep(0.01)


async def same_as_memory(rig):
    """The store holds what memory holds."""
    record = await rig.runtime.store.load(rig.live.session.id)
    assert record.entries == tuple(rig.live.entries)
    assert record.edits == tuple(rig.live.edits)
    assert record.queue == tuple(rig.live.queue)
    assert record.session == rig.live.session
    assert await settled(rig.runtime.store, record.session.id) == []
    assert boundaries(record) == []
    return record


async def test_c_103_a_full_disk_in_a_turn(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha " * 4000)
    model = Titled(call("read", {"filePath": "a.txt"}, used(100, 20)), say(LONG, used(150, 5)))
    async with session(tmp_path, model) as rig:
        await pages(rig.runtime.store)
        await rig.ask(SECRET)
        assert rig.of(e.TurnFinished)[-1].reason == "done"
        unsaved = rig.of(e.Unsaved)
        assert "the disk is full" in unsaved[0].reason
        assert not any(SECRET in event.reason for event in unsaved)
        assert rig.of(e.Saved) == []
        assert rig.worker.ctx.journal.unsaved > 5
        stored = await rig.runtime.store.load(rig.live.session.id)
        assert len(stored.entries) < len(rig.live.entries)
        await pages(rig.runtime.store, 100_000)
        await until_saved(rig)
        await same_as_memory(rig)
        assert len(rig.of(e.Saved)) == 1
        assert order(rig.events) == []
        await goes_on(rig)


async def test_c_103_no_half_boundary_on_a_full_disk(tmp_path):
    model = Titled(say(LONG * 3, used(1000, 6200)), say("short", used(2000, 10)), say("on", used(300, 10)))
    async with session(tmp_path, model) as rig:
        await rig.ask("first")
        await rig.ask("second")
        await pages(rig.runtime.store)
        model.summaries = [say("## Goal\n" + "The ferry sails at noon. " * 150)]
        await rig.worker.compact()
        await rig.idle()
        assert rig.of(e.CompactionEnded)[-1].phase == "finished"
        await rig.ask("and on")
        stored = await rig.runtime.store.load(rig.live.session.id)
        assert boundaries(stored) == []
        assert not any(entry.compaction for entry in stored.entries), "all of it or nothing"
        await pages(rig.runtime.store, 100_000)
        await until_saved(rig)
        record = await same_as_memory(rig)
        assert any(entry.compaction for entry in record.entries)


async def test_what_a_full_disk_held_up_is_saved_at_the_close(tmp_path):
    never = asyncio.Event()
    async with session(tmp_path, Titled(say(LONG))) as rig:
        rig.worker.ctx.journal._sleep = lambda _: never.wait()
        await pages(rig.runtime.store)
        await rig.ask("first " * 2000)
        assert rig.of(e.Unsaved)
        await pages(rig.runtime.store, 100_000)
        await rig.worker.close()
        assert len(rig.of(e.Saved)) == 1
        await same_as_memory(rig)


async def test_a_close_that_cannot_save_says_what_is_at_stake(tmp_path):
    async with session(tmp_path, Titled(say(LONG))) as rig:
        await pages(rig.runtime.store)
        await rig.ask("first " * 2000)
        with pytest.raises(StoreFull, match=r"\d+ changes are lost, the disk is full"):
            await rig.runtime.leave(rig.worker)
        assert await rig.runtime.store.lease(rig.live.session.id) is None, "given back all the same"
        assert rig.of(e.Saved) == []
        await pages(rig.runtime.store, 100_000)


async def test_a_lock_of_three_seconds_in_a_turn(tmp_path):
    """The turn goes on after a moment; what it did is saved when the other program lets go."""
    holder = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(3); c.execute('ROLLBACK')"
    )
    model = Titled([TextDelta("a"), TextDelta("b"), used(10, 2), Finish("stop")])
    async with session(tmp_path, model) as rig:
        command = [sys.executable, "-c", holder, str(tmp_path / "store.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"locked\n"
            await rig.ask("first")
            assert process.poll() is None, "the turn did not wait for the lock"
            assert rig.of(e.Unsaved)
            assert rig.of(e.Saved) == []
            await until_saved(rig)
        await same_as_memory(rig)
        assert order(rig.events) == []
        assert len(rig.of(e.Saved)) == 1


async def test_a_lock_while_closing_is_waited_for(tmp_path):
    async with session(tmp_path, Titled(say("hello"))) as rig:
        async with locked(tmp_path):
            await rig.ask("first")
            assert rig.worker.ctx.journal.unsaved
            closing_ = asyncio.create_task(rig.worker.close())
            await asyncio.sleep(0)
            assert not closing_.done()
        await closing_
        await same_as_memory(rig)


async def test_c_056_a_stop_is_obeyed_within_a_second_though_the_store_is_locked(tmp_path):
    gate = asyncio.Event()
    async with session(tmp_path, Titled([TextDelta("half"), gate])) as rig:
        await rig.worker.submit("first")
        await reached(rig.model)
        loop = asyncio.get_running_loop()
        async with locked(tmp_path):
            begun = loop.time()
            rig.worker.abort()
            await rig.idle()
            assert loop.time() - begun < 3  # 0.8 s, on a machine that is busy with other things
        await until_saved(rig)
        await goes_on(rig)


# -- the journal alone --


class FakeStore:
    """Takes what it is told to take."""

    def __init__(self):
        self.taken = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error = None

    async def apply(self, changes):
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.taken.extend(changes)


@asynccontextmanager
async def journal(tmp_path):
    async with session(tmp_path, Titled()) as rig:
        record = await rig.runtime.store.load(rig.live.session.id)
        store, bus, heard = FakeStore(), Bus(), []
        bus.listen(heard.append)
        made = Journal(store, Live(record), bus, asyncio.sleep, patience_s=60)
        yield made, store, heard


def queued(number):
    return PutQueue(QueueItem(id=f"que_{number}", session_id="ses_x", seq=number, text="x", at=1))


async def test_a_cancel_waits_for_the_write_and_comes_at_the_next_pause(tmp_path):
    async with journal(tmp_path) as (made, store, _):
        told = []

        async def work():
            await made.commit(queued(1))
            told.append("the state that was stored")
            await made.checkpoint()
            told.append("never")

        store.gate.clear()
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        assert told == []
        store.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert told == ["the state that was stored"]
        assert store.taken == [queued(1)]


async def test_changes_keep_their_order_through_failures(tmp_path):
    async with journal(tmp_path) as (made, store, heard):
        made._sleep = lambda _: pause.wait()
        pause = asyncio.Event()
        store.error = StoreFull("the disk is full")
        for number in range(5):
            await made.commit(queued(number))
        assert [type(event) for event in heard] == [e.Unsaved], "said once"
        store.error = None
        pause.set()
        async with asyncio.timeout(5):
            while made.unsaved:
                await asyncio.sleep(0)
        assert store.taken == [queued(number) for number in range(5)]
        assert [type(event) for event in heard] == [e.Unsaved, e.Saved]


async def test_a_fault_of_the_program_in_a_write_is_not_swallowed(tmp_path):
    async with journal(tmp_path) as (made, store, _):
        store.error = TypeError("no such change")
        with pytest.raises(TypeError):
            await made.commit(queued(1))
        store.error = None
        await made.commit(queued(2))
        assert store.taken == [queued(1), queued(2)]
