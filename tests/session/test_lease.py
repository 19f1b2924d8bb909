"""Two processes and one session (`data.md` 5, C-112): one writes, the other follows and may take over."""

import asyncio
import signal
from contextlib import asynccontextmanager

import pytest

from qiming_tui import runtime as composition
from qiming_tui.model import events as e
from qiming_tui.model.changes import PutSession
from qiming_tui.model.errors import SessionBusy
from qiming_tui.model.stream import TextDelta
from qiming_tui.runtime import Runtime
from qiming_tui.store.lease import EXPIRES_MS
from qiming_tui.store.store import Store
from tests.session.harness import REF, Rig, Setup, Ticks, session
from tests.session.killing import Death, Victims
from tests.session.ordered import order, settled
from tests.session.test_abort import Titled, goes_on, reached


@pytest.fixture(scope="module")
def victims():
    process = Victims()
    yield process
    process.close()


def talking(_, kind, value):
    return isinstance(value, e.PartDelta) and value.text == "word 50 "


def at_work(victims, folder, *prompts):
    """A live process in the middle of an answer."""
    victim = Death(victims.start(folder, "chatter", *(prompts or ("talk",))), False)
    victim.until(talking)
    return victim


@asynccontextmanager
async def beside(folder, model=None):
    """A runtime of this process on the same store, whose time is about that of the other one."""
    clock = Ticks()
    clock.now = 2_005_000
    wiring = Setup(seed=7).wiring(folder, model or Titled(), clock, [])
    runtime = Runtime(Store.open(str(folder / "store.db"), clock=clock), wiring)
    runtime.ticks = clock
    try:
        yield runtime
    finally:
        await runtime.close()


async def opened(runtime, victim, **options):
    """Open the victim's session here."""
    worker = await runtime.open_session(victim.session, None, **options)
    return Rig(runtime, worker, worker.ctx.profile.gateway, [])


async def test_a_second_process_follows_cannot_write_and_takes_over_from_a_dead_one(tmp_path, victims):
    victim = at_work(victims, tmp_path, "talk", "and then")
    async with beside(tmp_path) as runtime:
        with pytest.raises(SessionBusy):
            await runtime.open_session(victim.session, None)
        info = await runtime.store.session(victim.session)
        with pytest.raises(SessionBusy, match=f"process {victim.pid} on"):
            await runtime.store.apply([PutSession(info)])
        follower = runtime.follow(victim.session)
        followed = []
        follower.bus.listen(followed.append)
        await follower.open()
        assert (await follower.writer()).pid == victim.pid
        ends = asyncio.create_task(follower.until_free())
        async with asyncio.timeout(20):
            while len([event for event in followed if isinstance(event, e.PartDelta)]) < 2:
                await asyncio.sleep(0.01)
        assert not ends.done()
        victim.kill()
        async with asyncio.timeout(20):
            await ends
        deltas = [event for event in followed if isinstance(event, e.PartDelta)]
        told = "".join(event.text for event in victim.of(e.PartDelta))
        assert all(event.text in told for event in deltas)
        rig = await opened(runtime, victim)
        kinds = [type(event) for event in rig.events]
        assert e.StepFinished in kinds
        assert e.TurnFinished in kinds
        await goes_on(rig, waiting=["and then"], told=victim.events)


async def test_taken_by_force_the_first_stops_and_writes_nothing_more(tmp_path, victims):
    victim = at_work(victims, tmp_path)
    async with beside(tmp_path) as runtime:
        rig = await opened(runtime, victim, take=True)
        half = rig.live.entries[-1]
        assert half.info.error is not None
        victim.until()
        assert "has taken over this session" in victim.lost
        (failed,) = [event for event in victim.of(e.Failed) if "Nothing more is written" in event.message]
        assert failed.hint
        assert order(victim.events) == []
        assert (await runtime.store.load(victim.session)).entries[-1] == half, "it has written nothing more"
        await goes_on(rig, told=())


async def test_the_one_who_is_robbed_hears_it_at_its_next_write(tmp_path, victims):
    gate = asyncio.Event()
    model = Titled([TextDelta("half "), gate, *(TextDelta(f"{n} ") for n in range(500))])
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("first")
        await reached(model)
        robber = Death(
            victims.start(tmp_path, "stream", session=rig.live.session.id, take=True, seed=1), False
        )
        robber.until(lambda _, kind, value: kind == "session")
        gate.set()
        await robbed(rig)
        robber.kill()
        record = await rig.runtime.store.load(rig.live.session.id)
        assert "half ".startswith(record.entries[-1].text)
        assert record.entries[-1].info.error.name == "MessageAbortedError"


async def test_and_at_its_next_heartbeat_when_it_writes_nothing(tmp_path, victims, monkeypatch):
    monkeypatch.setattr(composition, "BEAT_MS", 20)
    gate = asyncio.Event()
    model = Titled([TextDelta("half "), gate])
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("first")
        await reached(model)
        robber = Death(victims.start(tmp_path, "stream", session=rig.live.session.id, take=True), False)
        robber.until(lambda _, kind, value: kind == "session")
        await robbed(rig)
        robber.kill()


async def robbed(rig):
    """It says so once, stops, ends what it had begun, and refuses to go on."""
    async with asyncio.timeout(20):
        await rig.worker.gone.wait()
    await rig.idle()
    assert len([event for event in rig.of(e.Failed) if "Nothing more is written" in event.message]) == 1
    assert order(rig.events) == []
    assert rig.of(e.TurnFinished)[-1].reason == "aborted"
    for attempt in (rig.worker.submit("more"), rig.worker.compact(), rig.worker.show()):
        with pytest.raises(SessionBusy):
            await attempt


async def test_c_112_a_process_that_slept_overwrites_nothing(tmp_path, victims):
    victim = at_work(victims, tmp_path)
    victim.signal(signal.SIGSTOP)
    async with beside(tmp_path) as runtime:
        with pytest.raises(SessionBusy):
            await runtime.open_session(victim.session, None)
        runtime.ticks.now += EXPIRES_MS
        rig = await opened(runtime, victim)
        await rig.ask("hello again")
        here = (await runtime.store.load(victim.session)).entries
    victim.signal(signal.SIGCONT)  # nobody holds the session now, but it was somebody else's meanwhile
    victim.until()
    assert "has taken over this session and left it again" in victim.lost
    async with beside(tmp_path) as runtime:
        assert (await runtime.store.load(victim.session)).entries == here
        assert await settled(runtime.store, victim.session) == []


async def test_sessions_of_two_processes_do_not_hold_each_other_up(tmp_path, victims):
    victim = at_work(victims, tmp_path)
    async with beside(tmp_path) as runtime:
        worker = await runtime.new_session(tmp_path / "project", REF)
        rig = Rig(runtime, worker, worker.ctx.profile.gateway, [])
        for number in range(10):
            await rig.ask(f"question {number}")
        assert rig.of(e.Unsaved) == []
        assert [event.reason for event in rig.of(e.TurnFinished)] == ["done"] * 10
    victim.kill()
    assert victim.of(e.Unsaved) == []
    assert not victim.of(e.TurnFinished)


async def test_one_program_opens_a_session_once(tmp_path):
    async with session(tmp_path, Titled()) as rig:
        with pytest.raises(SessionBusy, match="open in this program"):
            await rig.runtime.open_session(rig.live.session.id, None)
        await rig.ask("hello")
        await rig.runtime.leave(rig.worker)
        again = await rig.runtime.open_session(rig.live.session.id, None)
        assert again.ctx.session_id == rig.live.session.id


async def test_a_session_in_which_nothing_was_said_is_not_kept(tmp_path):
    async with session(tmp_path, Titled()) as rig:
        runtime, store = rig.runtime, rig.runtime.store
        directory = rig.live.session.directory
        assert await store.latest(directory) is None, "nothing to go on with yet"
        await rig.ask("hello")
        kept = rig.live.session.id
        other = await runtime.new_session(tmp_path / "project", rig.worker.ctx.profile.info.ref)
        assert await store.latest(directory) == kept, "an empty one does not count"
        await runtime.leave(other)
        assert [line.id for line in await store.sessions()] == [kept]


async def test_a_session_that_cannot_be_opened_is_given_back(tmp_path):
    async with session(tmp_path, Titled()) as rig:
        session_id = rig.live.session.id
        await rig.ask("hello")
        await rig.runtime.leave(rig.worker)

        async def unknown(ref):
            raise LookupError(ref)

        rig.runtime.wiring = composition.msgspec.structs.replace(rig.runtime.wiring, resolve=unknown)
        with pytest.raises(LookupError):
            await rig.runtime.open_session(session_id, None)
        assert await rig.runtime.store.lease(session_id) is None
