"""Summaries in the loop: part C of `cases.md`, preset `guarded`. What a summary that ends badly leaves is in
`test_compaction_failures.py`, endless compaction in `test_limits.py`, undo in `test_edits.py`."""

import asyncio

import msgspec
import pytest

from qiming_tui.model import events as e
from qiming_tui.model.codec import canonical
from qiming_tui.model.messages import AssistantMessage, Lifetime
from qiming_tui.model.parts import Attachment, Completed, Failed, FilePart, Span, ToolPart
from qiming_tui.model.stream import RequestKind, TextDelta
from tests.context import short
from tests.session.harness import REF, SMALL, SUMMARY, call, overflow, say, session, think
from tests.session.play import (
    ASKS,
    CONTINUE,
    M,
    Play,
    answer,
    compact,
    ends,
    next_body,
    next_messages,
    plant,
    real,
    reasons,
    said,
    size,
    spoken,
    summaries,
    undo,
    words,
)

LONG = words(2_200)
NARROW = M(6_000, 1_500)
"""Two long answers and the fixed prompt are over its 4,500 usable."""


async def talked(rig):
    """Two long answered turns; the second one ends over usable in a narrow window."""
    rig.model.scripts[:0] = [real("A1 " + LONG), real("A2 " + LONG)]
    await rig.ask("U1")
    await rig.ask("U2")


async def reached(model):
    """The model has come to its gate."""
    async with asyncio.timeout(5):
        await model.reached.wait()


async def test_c_036_half_a_summary_in_the_store_is_no_boundary(tmp_path):
    asks = short.asks_summary("c1")
    half = answer("s1", "half a", parent="c1", finish=None, summary=True)
    begun = msgspec.structs.replace(half.info, time=Lifetime(created=1))
    half = msgspec.structs.replace(half, info=begun)
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", "A1"), asks, half)
    async with session(tmp_path, Play(real("A2")), session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        assert "U1" in await said(rig)
        assert SUMMARY not in await said(rig)
        assert rig.live.entry("s1").info.error.name == "MessageAbortedError"


async def test_c_040_a_history_larger_than_the_window_takes_two_passes_and_one_boundary(tmp_path):
    entries = []
    for number in range(20):
        entries += [short.user(f"u{number}", f"U{number}"), answer(f"a{number}", words(5_000))]
    sid = await plant(tmp_path, *entries)
    model = Play()
    model.summaries += [say("summary of the first half"), say("summary of it all")]
    async with session(tmp_path, model, session_id=sid, window=M(64_000, 4_000), tools=False) as rig:
        await compact(rig)
        first, second = summaries(rig)
        assert all(size(body) + body["max_tokens"] <= 64_000 for body in (first, second))
        assert "summary of the first half" in second["messages"][1]["content"]
        boundaries = [entry for entry in rig.live.entries if entry.compaction]
        assert len(boundaries) == 1
        assert (await said(rig))[:2] == [ASKS, "summary of it all"]
        assert "2 passes" in rig.of(e.CompactionStarted)[0].reason
        assert (await rig.runtime.store.requests(sid))[0].kind is RequestKind.SUMMARY


async def test_c_042_the_output_asked_of_a_summary_is_what_the_window_leaves(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", words(180_225)))
    async with session(tmp_path, Play(), session_id=sid, window=M(196_608, 65_536), tools=False) as rig:
        await compact(rig)
        for body in summaries(rig):
            assert 1 <= body["max_tokens"] <= 16_383
            assert size(body) + body["max_tokens"] < 196_608


async def test_c_045_a_compaction_waits_for_the_tool_that_runs(tmp_path):
    model = Play(call("bash", {"command": "sleep 30"}))
    async with session(tmp_path, model) as rig:
        await rig.worker.submit("U1 " + words(6_000))
        await rig.wait(e.PartUpdated)
        await rig.worker.compact()
        assert rig.worker.busy
        assert not rig.of(e.CompactionStarted)
        rig.worker.abort()
        await rig.idle()
        [part] = [part for entry in rig.live.entries for part in entry.parts if isinstance(part, ToolPart)]
        assert isinstance(part.state, Failed)
        order = [type(event).__name__ for event in rig.events]
        assert order.index("TurnFinished") < order.index("CompactionStarted")
        assert ends(rig) == [("finished", "finished")]
        [summary] = summaries(rig)
        assert spoken(summary)[1:3] == ["call bash", "result Tool execution aborted"]


async def test_c_046_reasoning_is_in_the_prefix_for_its_model_only(tmp_path):
    model = Play(think("x" * 40, "A1", signature="sig"), real("A2 " + LONG))
    async with session(tmp_path, model, dialect="anthropic", tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        assert '"signature":"sig"' in canonical(await next_body(rig)).decode()
        await compact(rig)
        [prefix] = summaries(rig)
        assert '"signature":"sig"' in canonical(prefix).decode()


async def test_c_046_c_053_another_model_for_summaries_gets_no_reasoning_and_does_not_go_on(tmp_path):
    small = Play()
    (tmp_path / "project").mkdir()
    steps = [think("x" * 40, "A1 " + LONG, signature="sig"), real("", events=call("list", {"path": "."}))]
    model = Play(*steps, real("the end"))
    model.scripts[1] = real("A2 " + LONG, events=[TextDelta("A2 " + LONG), *call("list", {"path": "."})])
    options = {"small": (small, M(50_000)), "window": M(7_400, 1_500), "dialect": "anthropic"}
    async with session(tmp_path, model, **options) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        [body] = [request.body for request in small.requests]
        assert "signature" not in str(body)
        assert "xxxx" not in str(body)
        assert body["model"] == str(SMALL)
        assert model.sent(RequestKind.SUMMARY) == []
        following = next(entry for entry in rig.live.entries if entry.text == CONTINUE)
        assert following.info.model.model_id == REF.model
        assert following.info.agent == "build"
        assert [request.model for request in model.requests if request.kind is RequestKind.TURN] == [REF] * 3
        answers = [entry.info for entry in rig.live.entries if isinstance(entry.info, AssistantMessage)]
        assert [info.model for info in answers if info.summary] == [SMALL]
        assert reasons(rig) == ["done", "done"]


async def test_c_047_an_aborted_first_token_leaves_no_blank_block(tmp_path):
    gate = asyncio.Event()
    model = Play([TextDelta(""), gate], real("A2"))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.worker.submit("U1")
        await reached(model)
        rig.worker.abort()
        await rig.idle()
        await rig.ask("U2")
        body = model.sent()[-1]
        roles = [message["role"] for message in body["messages"][1:]]
        assert "" not in [message["content"] for message in body["messages"]]
        assert roles in (["user"], ["user", "user"], ["user", "assistant", "user"])
        assert all("U2" in str(body) and "U1" in str(body) for _ in roles)


async def test_c_048_a_summary_after_a_refusal_holds_no_media(tmp_path):
    picture = Attachment(mime="image/png", url="data:image/png;base64," + "QUJD" * 500, filename="shot.png")
    shot = FilePart(
        id="u1.f",
        session_id=short.SES,
        message_id="u1",
        mime="image/png",
        url=picture.url,
        filename="shot.png",
    )
    state = Completed(input={}, output=words(400), time=Span(start=1, end=2), attachments=(picture,))
    part = ToolPart(id="r1", session_id=short.SES, message_id="s1", call_id="c1", tool="read", state=state)
    sid = await plant(
        tmp_path,
        msgspec.structs.replace(short.user("u1", "U1"), parts=(shot,)),
        short.assistant("s1", part, finish="tool-calls"),
        answer("a1", "A1"),
    )
    model = Play(overflow(), real("A2"))
    async with session(tmp_path, model, session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        [body] = summaries(rig)
        assert "QUJD" not in str(body)
        assert "[Attached image/png: shot.png]" in str(body)
        assert reasons(rig) == ["done"]


async def test_c_050_c_060_what_is_said_during_a_compaction_follows_it_in_order(tmp_path):
    gate = asyncio.Event()
    model = Play(real("A3"), real("A4"))
    async with session(tmp_path, model, tools=False) as rig:
        await talked(rig)
        model.summaries.append([gate, *say(SUMMARY)])
        await rig.worker.compact()
        await reached(model)
        first = await rig.worker.submit("a")
        second = await rig.worker.submit("b")
        shown = rig.of(e.QueueChanged)[-1].items
        assert [(item.id, item.text) for item in shown] == [(first, "a"), (second, "b")]
        gate.set()
        await rig.idle()
        assert (await said(rig))[-5:] == [SUMMARY, "a", "A3", "b", "A4"]
        queued = [entry.info.queued_id for entry in rig.live.entries if entry.text in ("a", "b")]
        assert queued == [first, second]


async def test_c_050_a_failed_compaction_loses_nothing_of_the_queue(tmp_path):
    gate = asyncio.Event()
    model = Play(real("A3"))
    async with session(tmp_path, model, tools=False) as rig:
        await talked(rig)
        model.summaries.append([gate, *say("")])
        await rig.worker.compact()
        await reached(model)
        await rig.worker.submit("a")
        gate.set()
        await rig.idle()
        assert ends(rig) == [("failed", "blank")]
        assert (await said(rig))[-2:] == ["a", "A3"]


async def test_c_060_steering_during_an_automatic_compaction_is_not_summarised(tmp_path):
    gate = asyncio.Event()
    model = Play(
        real("A1 " + LONG, events=[TextDelta("A1 " + LONG), *call("list", {"path": "."}, call_id="c1")]),
        real("A2 " + LONG, events=[TextDelta("A2 " + LONG), *call("list", {"path": "."}, call_id="c2")]),
        real("A3"),
    )
    model.summaries.append([gate, *say(SUMMARY)])
    async with session(tmp_path, model, window=M(8_000, 2_000)) as rig:
        await rig.worker.submit("U1")
        await reached(model)
        await rig.worker.steer("wait, one more thing")
        gate.set()
        await rig.idle()
        assert "one more thing" not in str(summaries(rig))
        assert await said(rig) == [ASKS, SUMMARY, CONTINUE, "wait, one more thing", "A3"]


async def test_c_051_an_unanswered_message_is_kept_word_for_word(tmp_path):
    model = Play(real("A1 " + LONG), real("A2 " + LONG), overflow(), real("A3"))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        await rig.ask("U3, word for word")
        assert "U3, word for word" not in str(summaries(rig))
        assert spoken(model.sent()[-1])[:2] == [ASKS, SUMMARY]
        assert spoken(model.sent()[-1])[-1] == "U3, word for word"
        assert CONTINUE not in await said(rig)
        assert [entry.text for entry in rig.live.entries].count("U3, word for word") == 1


async def test_c_052_by_hand_the_agent_stays_idle(tmp_path):
    async with session(tmp_path, Play(), tools=False) as rig:
        await talked(rig)
        sent = len(rig.model.sent())
        await compact(rig)
        assert len(rig.model.sent()) == sent
        assert CONTINUE not in await said(rig)
        assert isinstance(rig.events[-1], e.Idle)


async def test_c_052_after_a_finished_answer_it_waits_and_in_mid_work_it_goes_on(tmp_path):
    async with session(tmp_path, Play(), window=NARROW, tools=False) as rig:
        await talked(rig)
        assert ends(rig) == [("finished", "finished")]
        assert await said(rig) == [ASKS, SUMMARY]
        assert len(rig.model.sent()) == 2


async def test_c_055_instructions_are_read_anew_and_never_summarised(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "AGENTS.md").write_text("Be brief, says the old file.")
    settings = {"user_folder": home, "tools": False}
    model = Play(real("A3"))
    async with session(tmp_path, model, **settings) as rig:
        await talked(rig)
        assert "says the old file" in rig.model.sent()[-1]["messages"][0]["content"]
        (home / "AGENTS.md").write_text("Be thorough, says the new file.")
        model.summaries.append(overflow())
        await compact(rig)
        quoted = summaries(rig)[-1]
        assert "<conversation>" in quoted["messages"][1]["content"]
        assert "says the" not in str(quoted)
        await rig.ask("U3")
        system = model.sent()[-1]["messages"][0]["content"]
        assert "says the new file" in system
        assert "says the old file" not in str(model.sent()[-1])


async def test_c_058_turns_after_the_boundary_stay_when_it_is_undone(tmp_path):
    async with session(tmp_path, Play(), tools=False) as rig:
        rig.model.scripts += [real("A1 " + LONG)]
        await rig.ask("U1")
        before = await next_messages(rig)
        count = rig.verdict.count
        await compact(rig)
        rig.model.scripts += [real("A2")]
        await rig.ask("U2")
        await undo(rig)
        after = await next_messages(rig)
        assert canonical(after[:2]) == canonical(before)
        assert [message["content"] for message in after[2:]] == ["U2", "A2"]
        assert rig.verdict.count > count
        assert rig.verdict.basis == "predicted"
        assert "user" not in [m["role"] for m in after if m["content"] == SUMMARY]


async def test_c_059_a_turn_is_finished_by_stored_order_not_by_ids(tmp_path):
    sid = await plant(
        tmp_path,
        short.user("msg_e55166ef", "U1"),
        answer("msg_e55166ed", "A1", parent="msg_e55166ef"),
    )
    async with session(tmp_path, Play(real("A2")), session_id=sid, tools=False) as rig:
        assert rig.worker.turn.answered()
        await rig.ask("U2")
        assert len(rig.model.sent()) == 1
        assert await said(rig) == ["U1", "A1", "U2", "A2"]


async def test_c_063_the_summary_request_is_the_last_request_with_the_instruction_appended(tmp_path):
    async with session(tmp_path, Play()) as rig:
        await talked(rig)
        last = await next_body(rig)
        await compact(rig)
        [prefix] = summaries(rig)
        assert prefix["tools"] == last["tools"]
        assert canonical(prefix["messages"][:-1]) == canonical(last["messages"])
        assert prefix["messages"][-1]["role"] == "user"
        rows = await rig.runtime.store.requests(rig.live.session.id)
        assert [row.kind for row in rows if row.kind is RequestKind.SUMMARY] == [RequestKind.SUMMARY]


async def test_c_065_earlier_prompts_are_not_summarised_again(tmp_path):
    async with session(tmp_path, Play(), tools=False) as rig:
        await talked(rig)
        rig.model.summaries += [say("first summary"), overflow(), say("second summary")]
        await compact(rig)
        await talked(rig)
        await compact(rig)
        text = summaries(rig)[-1]["messages"][1]["content"]
        assert text.count("first summary") == 1
        assert "<prior-summary>" in text
        assert ASKS not in text
        assert CONTINUE not in text


@pytest.mark.parametrize("text", ["", "# a short talk"])
async def test_c_070_a_short_session_has_nothing_to_compact_and_that_is_no_error(tmp_path, text):
    async with session(tmp_path, Play(real("A1")), tools=False) as rig:
        if text:
            await rig.ask(text)
        before = len(rig.live.entries)
        await compact(rig)
        [ended] = rig.of(e.CompactionEnded)
        assert (ended.phase, ended.reason) == ("skipped", "nothing_to_compact")
        assert ended.words.startswith("nothing to compact (")
        assert "tokens)" in ended.words
        assert len(rig.live.entries) == before
        assert summaries(rig) == []
        assert not rig.of(e.Failed)


async def test_c_071_instructions_of_the_user_are_in_the_prompt_and_the_history_stays_to_be_read(tmp_path):
    async with session(tmp_path, Play(), tools=False) as rig:
        await talked(rig)
        await compact(rig, "the names of the ferries")
        [body] = summaries(rig)
        assert "the names of the ferries" in body["messages"][-1]["content"]
        boundary = next(entry.compaction for entry in rig.live.entries if entry.compaction)
        assert boundary.focus == "the names of the ferries"
        assert [entry.text for entry in rig.live.entries][:4] == ["U1", "A1 " + LONG, "U2", "A2 " + LONG]
        assert "the names of the ferries" not in str(await next_body(rig))
