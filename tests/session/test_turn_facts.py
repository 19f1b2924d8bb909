"""The loop and its retries: facts 128 to 159 of `conformance.md` that `test_turn.py` leaves."""

import asyncio

import msgspec
import pytest

from qiming_tui.model import events as e
from qiming_tui.model.codec import canonical
from qiming_tui.model.parts import Completed, Failed, ReasoningPart, StepFinishPart, TextPart, ToolPart
from qiming_tui.model.stream import FaultKind, Finish, ReasoningDelta, TextDelta
from tests.context import short
from tests.session.harness import Model, call, fail, overflow, say, session, used
from tests.session.play import (
    OPENCODE,
    M,
    Play,
    answer,
    do,
    ends,
    plant,
    real,
    reasons,
    spoken,
    summaries,
    turns,
    until,
)


def parts(rig, kind):
    return [part for entry in rig.live.entries for part in entry.parts if isinstance(part, kind)]


def busy(**more):
    return fail(FaultKind.OVERLOADED, "Provider is overloaded", status=503, retryable=True, **more)


async def test_facts_128_143_a_503_schedules_attempt_1_and_says_when(tmp_path):
    async with session(tmp_path, Play(busy(), real("ok")), tools=False) as rig:
        await rig.ask("U1")
        [retry] = rig.of(e.RetryScheduled)
        assert (retry.attempt, retry.delay_ms, retry.fault.message) == (1, 2_000, "Provider is overloaded")
        assert retry.at > retry.delay_ms
        assert reasons(rig) == ["done"]


async def test_fact_128_attempts_are_numbered_and_each_has_its_ledger_row(tmp_path):
    async with session(tmp_path, Play(busy(), busy(retry_after_ms=1_500), real("ok")), tools=False) as rig:
        await rig.ask("U1")
        assert [each.attempt for each in rig.of(e.RetryScheduled)] == [1, 2]
        assert rig.sleeps == [2.0, 1.5]
        rows = [r for r in await rig.runtime.store.requests(rig.live.session.id) if r.kind == "turn"]
        assert [row.outcome for row in rows] == ["error", "error", "ok"]
        assert len({row.view_hash for row in rows}) == 1


async def test_fact_35_a_stop_in_the_pause_before_a_retry_is_obeyed_at_once(tmp_path):
    options = {"pause": asyncio.Event(), "tools": False}
    async with session(tmp_path, Play(busy(retry_after_ms=10_000)), **options) as rig:
        await rig.worker.submit("U1")
        await until(rig, lambda event: isinstance(event, e.RetryScheduled))
        assert rig.worker.abort()
        async with asyncio.timeout(1):  # 250 ms on a quiet machine
            await rig.worker.idle()
        assert reasons(rig) == ["aborted"]
        assert rig.sleeps == [10.0]
        assert len(rig.model.sent()) == 1


async def test_fact_142_a_server_error_in_mid_stream_is_repeated(tmp_path):
    broken = [TextDelta("half"), *fail(FaultKind.OVERLOADED, "server_error", retryable=True)]
    async with session(tmp_path, Play(broken, real("whole")), tools=False) as rig:
        await rig.ask("U1")
        assert len(rig.model.sent()) == 2
        assert parts(rig, TextPart)[-1].text == "whole"
        assert reasons(rig) == ["done"]


@pytest.mark.parametrize(
    ("kind", "status", "calls"),
    [(FaultKind.INVALID, 400, 1), (FaultKind.AUTH, 401, 1), (FaultKind.CONTENT_FILTER, 400, 1)],
)
async def test_fact_135_what_repeating_cannot_cure_is_asked_once(tmp_path, kind, status, calls):
    async with session(tmp_path, Play(fail(kind, "no", status=status)), tools=False) as rig:
        await rig.ask("U1")
        assert len(rig.model.sent()) == calls
        assert reasons(rig) == ["error"]
        assert rig.of(e.Failed)[-1].hint


async def test_fact_138_usage_above_the_window_compacts_and_keeps_the_answer(tmp_path):
    model = Play(*turns(("A1", 100), ("went on", 15)))
    async with session(tmp_path, model, window=M(20, 10), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        assert ends(rig)[0] == ("finished", "finished")
        first = rig.live.entries[1]
        assert [part.text for part in first.parts if isinstance(part, TextPart)] == ["A1"]
        assert [part.tokens.total for part in first.parts if isinstance(part, StepFinishPart)] == [100]


async def test_facts_133_144_an_overflow_is_not_repeated_and_leaves_no_error(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", "word " * 900))
    async with session(tmp_path, Play(overflow(), real("A2")), session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        assert rig.sleeps == []
        assert len(rig.model.sent()) == 2
        assert len(summaries(rig)) == 1
        assert [entry.info for entry in rig.live.entries if getattr(entry.info, "error", None)] == []
        assert not rig.of(e.Failed)


async def test_fact_37_reasoning_without_a_beginning_does_no_harm(tmp_path):
    stray = [ReasoningDelta("", block=3), TextDelta("hello"), Finish("stop")]
    async with session(tmp_path, Play(stray), tools=False) as rig:
        await rig.ask("U1")
        assert parts(rig, TextPart)[-1].text == "hello"
        assert [part.text for part in parts(rig, ReasoningPart)] in ([], [""])


async def test_fact_149_a_failure_keeps_the_text_and_the_reasoning_that_came(tmp_path):
    broken = [ReasoningDelta("hmm"), TextDelta("half"), *fail(FaultKind.INVALID, "broken")]
    async with session(tmp_path, Play(broken), tools=False) as rig:
        await rig.ask("U1")
        assert parts(rig, ReasoningPart)[0].text == "hmm"
        assert parts(rig, TextPart)[-1].text == "half"
        assert reasons(rig) == ["error"]


@pytest.mark.parametrize("name", ["plain", "mixed ids", "orphans"])
async def test_fact_150_a_finished_answer_brings_no_request(tmp_path, name):
    ids = ("msg_f0", "msg_a0") if name == "mixed ids" else ("msg_a0", "msg_f0")
    entry = answer(ids[1], "A1", parent=ids[0])
    if name == "orphans":
        part = short.tool("r1", message=ids[1])
        state = Failed(input={}, error="Tool execution aborted", metadata={"interrupted": True})
        entry = msgspec.structs.replace(
            entry, parts=(*entry.parts, msgspec.structs.replace(part, state=state))
        )
    sid = await plant(tmp_path, short.user(ids[0], "U1"), entry)
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        assert await do(rig, rig.worker.turn.run) == "done"
        assert rig.model.requests == []


async def test_fact_151_a_finished_answer_with_results_brings_the_next_request(tmp_path):
    part = short.tool("r1", "found it", message="a1")
    entry = short.assistant("a1", part, words="look", finish="stop")
    sid = await plant(tmp_path, short.user("u1", "U1"), entry)
    async with session(tmp_path, Play(real("A1")), session_id=sid, tools=False) as rig:
        assert await do(rig, rig.worker.turn.run) == "done"
        assert "result found it" in spoken(rig.model.sent()[0])


async def test_facts_77_159_what_a_stopped_command_printed_goes_to_the_model(tmp_path):
    model = Play(call("bash", {"command": "while :; do echo printed; sleep 0.1; done"}), real("A2"))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("U1")
        await until(rig, lambda event: isinstance(event, e.PartUpdated) and bool(event.progress))
        rig.worker.abort()
        await rig.idle()
        [part] = parts(rig, ToolPart)
        assert isinstance(part.state, Failed)
        assert part.state.metadata["interrupted"] is True
        await rig.ask("U2")
        [result] = [text for text in spoken(model.sent()[-1]) if text.startswith("result")]
        assert result.startswith("result printed\n")
        assert result.endswith("User aborted the command")


async def test_fact_157_what_was_said_last_is_the_last_message_of_the_next_request(tmp_path):
    async with session(tmp_path, Play(real("A1"), real("A2")), tools=False) as rig:
        await rig.worker.submit("U1")
        await rig.worker.submit("U2")
        await rig.idle()
        assert [spoken(body)[-1] for body in rig.model.sent()] == ["U1", "U2"]


async def test_a_failed_call_is_told_to_the_model_and_the_turn_goes_on(tmp_path):
    unknown = call("teleport", {"to": "Ushant"})
    torn = call("read", {})
    torn[1] = msgspec.structs.replace(torn[1], arguments='{"filePath": "a.t')
    async with session(tmp_path, Play(unknown, torn, real("A1"))) as rig:
        await rig.ask("U1")
        first, second = parts(rig, ToolPart)
        assert "there is no tool named 'teleport'; available: bash" in first.state.error
        assert "not a JSON object" in second.state.error
        assert not isinstance(second.state, Completed)
        assert reasons(rig) == ["done"]


@pytest.mark.parametrize("text", ["\x1b[0m\x07", "hello"])
async def test_a_session_that_cannot_be_titled_comes_to_rest(tmp_path, text):
    model = Model(real("A1"), say(" \n"))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.ask(text)
        assert rig.live.session.title == ("hello" if text == "hello" else "Untitled")
        assert len(model.requests) == 2


async def test_a_session_without_a_persons_message_is_not_titled(tmp_path):
    entries = (short.user("u1", "go on", synthetic=True), answer("a1", "A1"))
    sid = await plant(tmp_path, *entries, title="")
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        await rig.worker.show()
        await rig.idle()
        assert rig.model.requests == []


async def test_usage_in_several_reports_is_taken_once(tmp_path):
    answer_ = say("A1", used(200, 1))
    answer_[1:1] = [used(150, 0), used(200, 1)]
    async with session(tmp_path, Play(answer_), tools=False) as rig:
        await rig.ask("U1")
        assert rig.verdict.count == 201
        [row] = [r for r in await rig.runtime.store.requests(rig.live.session.id) if r.kind == "turn"]
        assert canonical(row.usage.total) == b"201"
