"""Stopped at any moment, a session goes on (conformance facts 146, 147; cases C-036, C-050, C-056)."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model import events as e
from qiming_tui.model.codec import decode
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.parts import Failed, ToolPart
from qiming_tui.model.stream import (
    FaultKind,
    Finish,
    ReasoningDelta,
    RequestKind,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tests.context.legal import legal
from tests.session.harness import Model, call, fail, limits, say, session, used
from tests.session.ordered import boundaries, order, settled

READ = '{"filePath": "a.txt"}'
LONG = "many words about the ferry " * 300


class Titled(Model):
    """A model whose scripts are for turns; a title has scripts of its own."""

    def __init__(self, *scripts, titles=()):
        super().__init__(*scripts)
        self.titles = list(titles)

    def next_script(self, request):
        if request.kind is RequestKind.TITLE:
            return self.titles.pop(0) if self.titles else say("A title")
        return super().next_script(request)


async def reached(model):
    """Until the model's answer stands at its gate."""
    async with asyncio.timeout(20):
        await model.reached.wait()


async def goes_on(rig, *, waiting=(), told=None):
    """After a stop, or a crash of a process that had `told` these events: what was queued is held, a further
    prompt is answered, nothing is left open."""
    await rig.idle()
    assert [item.text for item in rig.live.queue] == list(waiting)
    assert not rig.worker.busy
    before = len(rig.of(e.TurnStarted))
    await rig.worker.show()
    await rig.idle()
    assert len(rig.of(e.TurnStarted)) == before, "held: nothing starts by itself"
    await rig.ask("and now?")
    assert rig.of(e.TurnFinished)[-1].reason == "done"
    assert rig.live.queue == []
    said = str(rig.model.sent())
    assert all(text in said for text in (*waiting, "and now?")), "the model was told"
    for body in rig.model.bodies:
        assert legal(decode(body)) == []
    assert order([*(told or ()), *rig.events], crash=None if told is None else len(told)) == []
    store, session_id = rig.runtime.store, rig.live.session.id
    assert await settled(store, session_id) == []
    record = await store.load(session_id)
    assert boundaries(record) == []
    assert [entry.id for entry in record.entries] == [entry.id for entry in rig.live.entries]


def points():
    """Where an answer waits to be stopped: (name, script up to and after the gate)."""

    def at(*before):
        return lambda gate: [*before, gate, TextDelta(" more"), Finish("stop")]

    start = ToolCallStart(0, "call_1", "read")
    return {
        "before the first token": at(),
        "in the text": at(TextDelta("half a sen")),
        "in the reasoning": at(ReasoningDelta("let me th")),
        "after a signed reasoning": at(ReasoningDelta("hm"), ReasoningDelta("", signature="sig")),
        "in the arguments of a call": at(start, ToolCallDelta(0, '{"file')),
        "between two calls": at(
            start, ToolCallEnd(0, "call_1", "read", READ), ToolCallStart(1, "call_2", "read")
        ),
        "after the calls": at(start, ToolCallEnd(0, "call_1", "read", READ)),
        "after the usage": at(TextDelta("done"), used(10, 1)),
    }


@pytest.mark.parametrize("name", points())
async def test_fact_146_stopped_in_the_answer(tmp_path, name):
    gate = asyncio.Event()
    model = Titled(points()[name](gate))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("first")
        await rig.worker.submit("second")
        await reached(model)
        assert rig.worker.abort()
        await goes_on(rig, waiting=["second"])
        assert rig.of(e.TurnFinished)[0].reason == "aborted"
        rows = await rig.runtime.store.requests(rig.live.session.id)
        assert rows[0].outcome is Outcome.ABORTED
        assert len(model.requests) == model.closed


async def test_fact_147_stopped_in_a_running_tool(tmp_path):
    model = Titled(call("bash", {"command": "touch begun; sleep 60", "description": "wait"}))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("wait")
        async with asyncio.timeout(20):
            while not (tmp_path / "project" / "begun").exists():
                await asyncio.sleep(0)
        rig.worker.abort()
        await goes_on(rig)
        (part,) = [p for entry in rig.live.entries for p in entry.parts if isinstance(part := p, ToolPart)]
        assert isinstance(part.state, Failed)
        assert part.state.metadata["interrupted"] is True


async def test_stopped_while_a_permission_is_open(tmp_path):
    write = call("write", {"filePath": "b.txt", "content": "b"})
    async with session(tmp_path, Titled(write), allow=()) as rig:
        await rig.worker.submit("write b")
        await rig.wait(e.PermissionAsked)
        rig.worker.abort()
        await goes_on(rig)
        assert rig.of(e.PermissionAnswered)[0].reply == "no"
        assert rig.worker.gate.open_requests == {}
        assert not (tmp_path / "project" / "b.txt").exists()


async def test_stopped_in_the_pause_before_a_retry(tmp_path):
    model = Titled(fail(FaultKind.RATE_LIMIT, "slow down", retryable=True, retry_after_ms=60_000))
    async with session(tmp_path, model) as rig:
        rig.worker.ctx.bus.listen(
            lambda event: rig.worker.abort() if isinstance(event, e.RetryScheduled) else None
        )
        await rig.worker.submit("hello")
        await goes_on(rig)
        assert len(model.sent()) == 2, "the retry was never sent"


async def test_c_056_stopped_in_a_summary_the_history_is_as_before(tmp_path):
    gate = asyncio.Event()
    model = Titled(say(LONG, used(1000, 2000)), say("second", used(2000, 10)))
    model.summaries = [[TextDelta("## Goal"), gate, TextDelta("x"), Finish("stop")]]
    async with session(tmp_path, model) as rig:
        await rig.ask("first")
        await rig.ask("again")
        before = [entry.id for entry in rig.live.entries]
        await rig.worker.compact("the ferry")
        await rig.worker.submit("third")
        await reached(model)
        rig.worker.abort()
        await rig.idle()
        assert [entry.id for entry in rig.live.entries] == before
        (attempt,) = rig.live.attempts
        assert attempt.end == "aborted"
        await goes_on(rig, waiting=["third"])
        assert len(model.sent(RequestKind.SUMMARY)) == 1, "a stopped compaction does not run again"


async def test_c_040_stopped_between_the_passes_of_a_summary(tmp_path):
    asked = asyncio.Event()
    model = Titled(*(say(LONG, used(1000, 2000)) for _ in range(4)))
    small = Model()
    small.summaries = [say("## Goal\nThe first half."), [asked, TextDelta("x"), Finish("stop")]]
    async with session(tmp_path, model, window=limits(40_000), small=(small, limits(5_000))) as rig:
        for turn in range(4):
            await rig.ask(f"turn {turn}")
        await rig.worker.compact()
        await reached(small)
        assert len(small.requests) == 2
        rig.worker.abort()
        await goes_on(rig)
        assert rig.live.attempts[-1].end == "aborted"
        assert small.closed == 2


async def test_stopped_in_the_title(tmp_path):
    gate = asyncio.Event()
    model = Titled(say("hello"), titles=[[TextDelta("A ti"), gate, TextDelta("tle"), Finish("stop")]])
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("hi")
        await reached(model)
        rig.worker.abort()
        await rig.idle()
        assert rig.live.session.title == ""
        await goes_on(rig)
        assert rig.live.session.title == "A title"
        assert [event.reason for event in rig.of(e.TurnFinished)] == ["done", "done"]


async def test_a_second_stop_does_not_cut_off_the_ends_of_the_first(tmp_path):
    gate = asyncio.Event()
    model = Titled([TextDelta("half"), gate])
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("first")
        await reached(model)
        rig.worker.ctx.bus.listen(lambda _: rig.worker.abort())
        for _ in range(3):
            rig.worker.abort()
        await rig.idle()
        assert order(rig.events) == []
        assert rig.of(e.StepFinished)[-1].finish == "aborted"


async def test_closing_in_mid_answer_ends_everything_that_was_told(tmp_path):
    gate = asyncio.Event()
    model = Titled([TextDelta("half"), gate])
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("first")
        await rig.worker.submit("second")
        await reached(model)
        await rig.worker.close()
        assert order(rig.events) == []
        assert rig.of(e.TurnFinished)[-1].reason == "aborted"
        session_id = rig.live.session.id
        assert await settled(rig.runtime.store, session_id) == []
    async with session(tmp_path, model, session_id=session_id, seed=2) as rig:
        assert rig.events == []
        await goes_on(rig, waiting=["second"])


# -- a stop at any moment ------------------------------------------------------------------------------------


def stories():
    """Sessions with everything that can be stopped: (scripts, summaries, options, prompts)."""
    two_calls = [
        ReasoningDelta("hm"),
        TextDelta("I look"),
        ToolCallStart(0, "call_1", "read"),
        ToolCallDelta(0, READ),
        ToolCallEnd(0, "call_1", "read", READ),
        ToolCallStart(1, "call_2", "glob"),
        ToolCallEnd(1, "call_2", "glob", '{"pattern": "*"}'),
        used(900, 50),
        Finish("tool-calls"),
    ]
    limited = fail(FaultKind.RATE_LIMIT, "slow down", retryable=True)
    broken = [TextDelta("bro"), *fail(FaultKind.NETWORK, "reset", retryable=True)]
    return {
        "tools": ([two_calls, say("both read", used(1000, 10))], [], {}),
        "permission": ([call("write", {"filePath": "b.txt", "content": "b"}), say("ok")], [], {"allow": ()}),
        "retry": ([limited, broken, say("third time")], [], {}),
        "compaction": (
            [say(LONG, used(3000, 1900)), say("short", used(3000, 1900)), say("on", used(500, 20))],
            [[TextDelta("## Goal"), TextDelta("\nThe ferry."), Finish("stop")], say("")],
            {"window": limits(5_000)},
        ),
    }


async def told(folder, story, kind, place, queued):
    """Play a story, stop it at the `place`-th event or write, and see that it goes on."""
    scripts, summaries, options = stories()[story]
    (folder / "project").mkdir()
    (folder / "project" / "a.txt").write_text("alpha\n")
    model = Titled(*scripts)
    model.summaries = list(summaries)
    async with session(folder, model, **options) as rig:
        seen = 0

        def count(what):
            nonlocal seen
            seen += what == kind
            if what == kind and seen == place:
                rig.worker.abort()

        def listen(event):
            if isinstance(event, e.PermissionAsked):
                asyncio.get_running_loop().call_soon(answer, event.request_id)
            count("event")

        def answer(request_id):
            if request_id in rig.worker.gate.open_requests:
                rig.worker.answer(request_id, "once")

        apply = rig.runtime.store.apply

        async def counted(changes):
            count("before a write")
            await apply(changes)
            count("after a write")

        rig.runtime.store.apply = counted
        rig.worker.ctx.bus.listen(listen)
        texts = ["turn one", "turn two", *(f"waits {number}" for number in range(queued))]
        for text in texts:
            await rig.worker.submit(text)
        await rig.idle()
        begun = [event.text for event in rig.of(e.TurnStarted)]
        assert begun == texts[: len(begun)], "in order, each once"
        kind = ""
        await goes_on(rig, waiting=texts[len(begun) :])
        spoken = [entry.text for entry in rig.live.entries if entry.real_user]
        assert spoken == [*texts, "and now?"], "nothing that was accepted is lost or said twice"


@given(
    story=st.sampled_from(sorted(stories())),
    kind=st.sampled_from(["event", "before a write", "after a write"]),
    place=st.integers(1, 60),
    queued=st.integers(0, 2),
)
def test_stopped_at_any_moment_a_session_goes_on(story, kind, place, queued):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(told(Path(folder), story, kind, place, queued))
