"""What a follower tells: the same session as its writer tells it, however seldom it looks (`data.md` 5)."""

import asyncio
import io
import random
from itertools import pairwise

import pytest

from qiming_tui.cli import plain as front
from qiming_tui.cli.start import Start
from qiming_tui.model import events as e
from qiming_tui.model.parts import TextPart
from qiming_tui.model.stream import TextDelta
from qiming_tui.session.differences import differences
from tests.session.harness import limits, session
from tests.session.ordered import order
from tests.session.test_abort import LONG, Titled, reached, stories
from tests.session.test_lease import at_work, beside, victims  # noqa: F401 (a fixture)


async def states(folder, story):
    """Every state that the store went through, and what the session itself told."""
    scripts, summaries, options = stories()[story]
    model = Titled(*scripts)
    model.summaries = list(summaries)
    (folder / "project").mkdir()
    (folder / "project" / "a.txt").write_text("alpha\n")
    async with session(folder, model, **options) as rig:
        store, session_id = rig.runtime.store, rig.live.session.id
        seen = [await store.load(session_id)]
        apply = store.apply

        async def noted(changes):
            await apply(changes)
            seen.append(await store.load(session_id))

        def answer(event):
            if isinstance(event, e.PermissionAsked):
                asyncio.get_running_loop().call_soon(rig.worker.answer, event.request_id, "once")

        store.apply = noted
        rig.worker.ctx.bus.listen(answer)
        await rig.ask("turn one")
        await rig.worker.submit("turn two")
        await rig.ask("turn three")
        return seen, rig.events


def followed(seen):
    return [event for old, new in pairwise(seen) for event in differences(old, new)]


def finished(events):
    return {event.part.id: event.part for event in events if isinstance(event, e.PartFinished)}


@pytest.mark.parametrize("story", stories())
async def test_who_looks_always_sees_what_the_writer_tells(tmp_path, story):
    seen, told = await states(tmp_path, story)
    events = followed(seen)
    assert order(events) == []
    for kind in (e.TurnStarted, e.TurnFinished, e.StepStarted, e.StepFinished):
        assert [getattr(event, "text", getattr(event, "reason", "")) for event in of(events, kind)] == [
            getattr(event, "text", getattr(event, "reason", "")) for event in of(told, kind)
        ]
    assert [(event.phase, event.reason) for event in of(events, e.CompactionEnded)] == [
        (event.phase, event.reason) for event in of(told, e.CompactionEnded)
    ]
    said = [event.verdict for event in of(told, e.Context)]
    assert all(event.verdict in said for event in of(events, e.Context)), "no verdict but the writer's"
    stored = {part.id for entry in seen[-1].entries for part in entry.parts}
    shown = {part_id: part for part_id, part in finished(told).items() if part_id in stored}
    assert {part_id: part for part_id, part in finished(events).items() if part_id in shown} == shown


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("story", stories())
async def test_who_looks_seldom_misses_no_message_and_keeps_the_order(tmp_path, story):
    seen, _ = await states(tmp_path, story)
    chance = random.Random(story)
    for share in (0.5, 0.2, 0.05, 0.0):
        some = [seen[0], *(state for state in seen[1:-1] if chance.random() < share), seen[-1]]
        events = followed(some)
        assert order(events) == []
        last = {event.info.id: event.info for event in of(events, e.MessageUpdated)}
        assert list(last.values()) == [entry.info for entry in seen[-1].entries]
        texts = {}
        for event in of(events, e.PartDelta):
            texts[event.part_id] = texts.get(event.part_id, "") + event.text
        for part_id, part in finished(events).items():
            if isinstance(part, TextPart) and part_id in texts:
                assert texts[part_id] == part.text


async def test_nothing_new_is_nothing_told(tmp_path):
    async with session(tmp_path, Titled()) as rig:
        follower = rig.runtime.follow(rig.live.session.id)
        heard = []
        follower.bus.listen(heard.append)
        await follower.open()
        assert not await follower.poll()
        await rig.ask("hello")
        assert await follower.poll()
        assert not await follower.poll()
        assert isinstance(heard[-1], e.Context)
        assert heard[-1].verdict == rig.verdict, "the same line as the writer's"
        (line,) = await rig.runtime.store.sessions()
        assert (line.count, line.basis) == (rig.verdict.count, rig.verdict.basis)
        text = [event.part.text for event in of(heard, e.PartFinished)]
        assert text == ["hello", "done"]


# -- the plain terminal --------------------------------------------------------------------------------------


class Typed:
    """Lines as a test types them."""

    tty = False

    def __init__(self):
        self.queue = asyncio.Queue()

    def type(self, text):
        self.queue.put_nowait(text)


class Screen(io.StringIO):
    """What was written, and waiting for it."""

    async def shows(self, text):
        async with asyncio.timeout(20):
            while text not in self.getvalue():
                await asyncio.sleep(0.01)


async def test_plain_watches_a_busy_session_and_goes_on_when_its_writer_is_killed(tmp_path, victims):  # noqa: F811
    victim = at_work(victims, tmp_path)
    async with beside(tmp_path) as runtime:
        lines, out = Typed(), Screen()
        start = Start(directory=tmp_path / "project", session=victim.session)
        talk = asyncio.create_task(front.PlainTalk(runtime, start, lines, out).run("hello"))
        await out.shows(f"is written by process {victim.pid} on")
        await out.shows("word ")
        lines.type("may I?")
        await out.shows("nothing was sent: the session is read-only here")
        victim.kill()
        await out.shows("the other program has ended; this one goes on")
        await out.shows("the last turn was interrupted when the program ended")
        await out.shows("agent: done")
        lines.type("/quit")
        await talk
        texts = [entry.text for entry in (await runtime.store.load(victim.session)).entries if entry.user]
        assert texts == ["talk", "hello"]


async def test_plain_takes_a_session_over_and_says_when_it_loses_it(tmp_path, victims):  # noqa: F811
    victim = at_work(victims, tmp_path)
    async with beside(tmp_path) as runtime:
        lines, out = Typed(), Screen()
        start = Start(directory=tmp_path / "project", session=victim.session)
        talk = asyncio.create_task(front.PlainTalk(runtime, start, lines, out).run(None))
        await out.shows("/take takes it over")
        lines.type("/take")
        await out.shows("with test/model")
        victim.until()
        assert "has taken over" in victim.lost
        assert await runtime.store.acquire(victim.session, "somebody else", force=True)
        lines.type("hello")
        await out.shows("Nothing more is written here: another program has taken over this session")
        await out.shows("read-only here\n")
        lines.type("/quit")
        await talk
        assert out.getvalue().count("/take takes it over") == 2


async def test_plain_can_leave_a_session_that_it_only_watches(tmp_path):
    gate = asyncio.Event()
    model = Titled([TextDelta("half"), gate])
    async with session(tmp_path, model, window=limits(20_000)) as rig:
        await rig.worker.submit(LONG)
        await reached(model)
        async with beside(tmp_path) as runtime:
            runtime.ticks.now = 2_000_100
            lines, out = Typed(), Screen()
            start = Start(directory=tmp_path / "project", session=rig.live.session.id)
            talk = asyncio.create_task(front.PlainTalk(runtime, start, lines, out).run(None))
            await out.shows("read-only here")
            lines.type(None)
            await talk
        assert rig.worker.busy
