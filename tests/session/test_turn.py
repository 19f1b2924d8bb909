"""One turn: text, tools, errors, retries (conformance 2.11, facts 137 to 163 where they concern the loop)."""

import asyncio

from qiming_tui.model import events as e
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Completed, Failed, ReasoningPart, TextPart, ToolPart
from qiming_tui.model.stream import FaultKind, RequestKind, TextDelta
from tests.session.harness import Model, call, fail, say, session, think, used


def parts(rig, kind):
    return [part for entry in rig.live.entries for part in entry.parts if isinstance(part, kind)]


async def test_fact_137_a_text_reply_is_stored_with_its_times(tmp_path):
    async with session(tmp_path, Model(say("hello", used(100, 5)))) as rig:
        await rig.ask("hi")
        assert len(rig.model.sent()) == 1
        text = parts(rig, TextPart)[-1]
        assert text.text == "hello"
        assert text.time.start < text.time.end
        record = await rig.runtime.store.load(rig.live.session.id)
        assert [entry.text for entry in record.entries] == ["hi", "hello"]
        assert record.entries[-1].info.finish == "stop"
        assert rig.of(e.TurnFinished)[-1].reason == "done"
        assert rig.verdict.count == 105
        assert rig.verdict.basis == "measured"


async def test_fact_145_a_tool_result_goes_to_the_model_in_the_next_request(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha\n")
    model = Model(call("read", {"filePath": "a.txt"}, used(100, 20)), say("it says alpha", used(150, 5)))
    async with session(tmp_path, model) as rig:
        await rig.ask("read a.txt")
        part = parts(rig, ToolPart)[0]
        assert isinstance(part.state, Completed)
        assert "alpha" in part.state.output
        second = rig.model.sent()[1]["messages"]
        assert [message["role"] for message in second][-2:] == ["assistant", "tool"]
        assert "alpha" in second[-1]["content"]
        assert rig.verdict.count == 155


async def test_fact_139_reasoning_and_text_are_stored(tmp_path):
    async with session(tmp_path, Model(think("hmm", "yes", signature="sig"))) as rig:
        await rig.ask("really?")
        assert parts(rig, ReasoningPart)[0].text == "hmm"
        assert parts(rig, ReasoningPart)[0].metadata == {"qiming": {"signature": "sig"}}
        assert parts(rig, TextPart)[-1].text == "yes"


async def test_fact_139_after_a_reset_in_mid_stream_the_retry_starts_anew(tmp_path):
    broken = [TextDelta("xyzzy"), *fail(FaultKind.NETWORK, "reset", retryable=True)]
    async with session(tmp_path, Model(broken, say("two"))) as rig:
        await rig.ask("count")
        assert [part.text for part in parts(rig, TextPart)] == ["count", "xyzzy", "two"]
        sent = [entry for entry in rig.live.entries if isinstance(entry.info, AssistantMessage)]
        assert [bool(entry.info.error) for entry in sent] == [True, False]
        await rig.ask("again")
        assert "xyzzy" not in str(rig.model.sent()[-1])


async def test_fact_140_a_fault_that_repeating_cannot_cure_is_not_repeated(tmp_path):
    async with session(tmp_path, Model(fail(FaultKind.INVALID, "no_kv_space"))) as rig:
        await rig.ask("hi")
        assert len(rig.model.sent()) == 1
        assert rig.of(e.TurnFinished)[-1].reason == "error"
        assert rig.of(e.Failed)[-1].message == "no_kv_space"


async def test_fact_141_a_rate_limit_is_repeated_and_leaves_no_error(tmp_path):
    limited = fail(FaultKind.RATE_LIMIT, "Too Many Requests", retryable=True, retry_after_ms=700)
    async with session(tmp_path, Model(limited, say("ok"))) as rig:
        await rig.ask("hi")
        assert len(rig.model.sent()) == 2
        assert rig.sleeps == [0.7]
        assert rig.of(e.RetryScheduled)[0].attempt == 1
        assert not any(
            entry.info.error for entry in rig.live.entries if isinstance(entry.info, AssistantMessage)
        )


async def test_fact_136_five_retries_and_no_more(tmp_path):
    limited = [fail(FaultKind.RATE_LIMIT, "slow down", retryable=True) for _ in range(9)]
    async with session(tmp_path, Model(*limited)) as rig:
        await rig.ask("hi")
        assert len(rig.model.sent()) == 6
        assert rig.sleeps == [2.0, 4.0, 8.0, 16.0, 30.0]


async def test_fact_146_147_an_interrupt_ends_a_running_tool_and_the_message(tmp_path):
    model = Model(call("bash", {"command": "sleep 30"}))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("wait")
        await rig.wait(e.PartUpdated)
        assert rig.worker.abort()
        await rig.idle()
        part = parts(rig, ToolPart)[0]
        assert isinstance(part.state, Failed)
        assert part.state.error == "Tool execution aborted"
        assert part.state.metadata["interrupted"] is True
        assert part.state.time.end
        assert rig.live.last_assistant.error.name == "MessageAbortedError"
        assert rig.of(e.TurnFinished)[-1].reason == "aborted"
        await rig.ask("go on")
        assert rig.of(e.TurnFinished)[-1].reason == "done"


async def test_fact_149_a_failure_keeps_the_text_that_came(tmp_path):
    broken = [TextDelta("half an ans"), *fail(FaultKind.INVALID, "broken")]
    async with session(tmp_path, Model(broken)) as rig:
        await rig.ask("hi")
        assert parts(rig, TextPart)[-1].text == "half an ans"
        assert rig.live.last_assistant.error.text == "broken"


async def test_fact_151_finish_stop_with_tool_calls_goes_on(tmp_path):
    events = call("list", {"path": "."})
    events[-1] = type(events[-1])("stop")
    async with session(tmp_path, Model(events, say("empty"))) as rig:
        await rig.ask("look")
        assert len(rig.model.sent()) == 2


async def test_fact_152_a_content_filter_ends_the_turn_with_its_text_kept(tmp_path):
    async with session(tmp_path, Model(say("I can", finish="content-filter"))) as rig:
        await rig.ask("hi")
        assert len(rig.model.sent()) == 1
        assert rig.live.last_assistant.error.name == "ContentFilterError"
        assert rig.of(e.Failed)
        assert parts(rig, TextPart)[-1].text == "I can"


async def test_fact_153_auto_off_shows_the_overflow_and_compacts_nothing(tmp_path):
    from qiming_tui.model.window import Settings

    refused = fail(FaultKind.OVERFLOW, "too long", status=413)
    async with session(tmp_path, Model(refused), settings=Settings(auto=False)) as rig:
        await rig.ask("hi")
        assert rig.live.last_assistant.error.name == "ContextOverflowError"
        assert rig.live.last_assistant.finish == "error"
        assert not any(entry.compaction for entry in rig.live.entries)
        assert rig.verdict.state == "full"
        assert rig.verdict.auto is False


async def test_fact_156_an_abort_before_the_first_token_leaves_no_unfinished_message(tmp_path):
    gate = asyncio.Event()
    async with session(tmp_path, Model([gate])) as rig:
        await rig.worker.submit("hi")
        async with asyncio.timeout(5):
            await rig.model.reached.wait()
        rig.worker.abort()
        await rig.idle()
        last = rig.live.last_assistant
        assert last.time.completed
        assert last.error.name == "MessageAbortedError"
        assert rig.model.closed == 1


async def test_fact_157_steering_joins_the_next_request_of_the_turn(tmp_path):
    gate = asyncio.Event()
    model = Model([gate, *call("list", {"path": "."})], say("as you wish"))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("look")
        async with asyncio.timeout(5):
            await rig.model.reached.wait()
        await rig.worker.steer("be quick")
        gate.set()
        await rig.idle()
        assert rig.model.sent()[1]["messages"][-1] == {"role": "user", "content": "be quick"}
        assert len(rig.of(e.TurnFinished)) == 1


async def test_prompts_sent_during_a_turn_are_answered_in_order_after_it(tmp_path):
    gate = asyncio.Event()
    async with session(tmp_path, Model([gate, *say("one")], say("two"), say("three"))) as rig:
        await rig.worker.submit("1")
        async with asyncio.timeout(5):
            await rig.model.reached.wait()
        await rig.worker.submit("2")
        await rig.worker.submit("3")
        assert [item.text for item in (await rig.runtime.store.load(rig.live.session.id)).queue] == ["2", "3"]
        gate.set()
        await rig.idle()
        assert [entry.text for entry in rig.live.entries] == ["1", "one", "2", "two", "3", "three"]


async def test_title_is_asked_once_and_cut_at_100_characters(tmp_path):
    async with session(tmp_path, Model(say("hello"), say("T" * 200))) as rig:
        await rig.ask("hi")
        assert rig.live.session.title == "T" * 97 + "..."
        await rig.ask("more")
        assert len(rig.model.sent(RequestKind.TITLE)) == 1
