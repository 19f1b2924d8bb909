"""A compaction that does not end well leaves the history as it was, byte for byte (cases C-034 and on)."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.codec import canonical
from qiming_tui.model.stream import FaultKind, TextDelta
from tests.session.harness import SUMMARY, call, fail, overflow, say, session, think
from tests.session.play import (
    ASKS,
    OPENCODE,
    M,
    Play,
    compact,
    ends,
    next_body,
    real,
    reasons,
    said,
    stored,
    summaries,
    words,
)

LONG = words(2_200)
SMALL = M(6_000, 1_500)
"""Two such answers and the fixed prompt are over its 4,500 usable, and one request can summarise them."""
CALL_TEXT = '<tool_call>{"name": "read", "arguments": {"filePath": "a.txt"}}</tool_call>'
CALL_JSON = '{"name": "read", "arguments": {"filePath": "a.txt"}}'

BAD = {
    "blank": ([say("")], "blank"),
    "white": ([say(" \n\n\t ")], "blank"),
    "only thinking": ([think("a long thought", "")], "blank"),
    "thinking as text": ([say("<think>I should sum up</think>")], "blank"),
    "cut off twice": ([say("half a summ", finish="length")] * 2, "truncated"),
    "filtered twice": ([say("half a summ", finish="content-filter")] * 2, "truncated"),
    "a call": ([call("read", {"filePath": "a.txt"})], "tool_call"),
    "text and a call": ([[TextDelta(SUMMARY), *call("read", {})]], "tool_call"),
    "a call as text": ([say(CALL_TEXT)], "tool_call"),
    "a call as JSON": ([say(CALL_JSON)], "tool_call"),
    "longer than the history": ([say(words(4_500))], "not_smaller"),
    "refused in every form": ([overflow(), overflow()], "refused_by_provider"),
    "a fault": ([fail(FaultKind.INVALID, "no such model")], "failed"),
    "a fault in mid text": ([[TextDelta(SUMMARY), *fail(FaultKind.AUTH, "key expired")]], "failed"),
    "no end": ([[TextDelta(SUMMARY)]], "failed"),
}
"""Answers of the model to the summary requests, and how the compaction ends."""


@asynccontextmanager
async def talked(folder, *scripts, **options):
    """A session of two long answered turns."""
    model = Play(real("A1 " + LONG), real("A2 " + LONG), *scripts)
    async with session(folder, model, tools=False, **options) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        yield rig


@pytest.mark.parametrize("name", BAD)
async def test_c_034_c_036_c_037_c_043_c_069_a_bad_summary_leaves_every_byte(tmp_path, name):
    answers, reason = BAD[name]
    async with talked(tmp_path) as rig:
        rig.model.summaries += answers
        before, body = await stored(rig), canonical(await next_body(rig))
        await compact(rig)
        assert ends(rig) == [("failed", reason)]
        assert rig.model.summaries == []
        assert await stored(rig) == before
        assert canonical(await next_body(rig)) == body
        attempt = (await rig.runtime.store.attempts(rig.live.session.id))[-1]
        assert (attempt.end, bool(attempt.ended_at), bool(attempt.reason)) == (reason, True, True)
        await compact(rig)
        assert ends(rig)[-1] == ("finished", "finished")
        assert await said(rig) == [ASKS, SUMMARY]


@pytest.mark.parametrize("name", BAD)
async def test_c_034_c_035_a_bad_automatic_summary_adds_no_continue(tmp_path, name):
    answers, reason = BAD[name]
    model = Play(real("A1 " + LONG), real("A2 " + LONG))
    model.summaries += answers
    async with session(tmp_path, model, window=SMALL, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        assert ends(rig) == [("failed", reason)]
        assert await said(rig) == ["U1", "A1 " + LONG, "U2", "A2 " + LONG]
        assert len(rig.live.entries) == 4
        assert reasons(rig) == ["done", "done"]
        assert len(model.sent()) == 2


async def test_c_037_the_numbers_are_told_and_new_content_brings_one_more_try(tmp_path):
    model = Play(real("A1 " + LONG), real("A2 " + LONG), real("A3"))
    model.summaries.append(say(words(3_000)))
    async with session(tmp_path, model, window=SMALL, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        ended = rig.of(e.CompactionEnded)[-1]
        assert (ended.phase, ended.reason, ended.after) == ("failed", "not_smaller", None)
        assert "summary ~3,000 tokens for" in ended.words
        asked = len(summaries(rig))
        await rig.worker.show()
        await rig.idle()
        assert len(summaries(rig)) == asked
        await rig.ask("U3")
        assert ends(rig)[-1] == ("finished", "finished")
        assert (await said(rig))[-2:] == ["U3", "A3"]


async def test_c_043_a_cut_summary_is_asked_for_once_more_and_shorter(tmp_path):
    async with talked(tmp_path) as rig:
        rig.model.summaries += [say("half a summ", finish="length"), say("short and whole")]
        await compact(rig)
        assert ends(rig) == [("finished", "finished")]
        assert await said(rig) == [ASKS, "short and whole"]
        first, second = summaries(rig)
        assert "was cut off" not in str(first)
        assert "was cut off" in second["messages"][-1]["content"]


async def test_c_040_a_refused_prefix_is_quoted_instead(tmp_path):
    async with talked(tmp_path) as rig:
        rig.model.summaries.append(overflow())
        await compact(rig)
        assert ends(rig) == [("finished", "finished")]
        first, second = summaries(rig)
        assert len(first["messages"]) > 4
        assert [message["role"] for message in second["messages"]] == ["system", "user"]
        assert "<conversation>" in second["messages"][1]["content"]


async def test_fact_25_a_refused_summary_is_told_as_too_large_and_stops(tmp_path):
    model = Play(real("A1 " + LONG), real("A2 " + LONG))
    model.summaries.append(overflow())
    async with session(tmp_path, model, window=SMALL, tools=False, settings=OPENCODE) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        assert ends(rig) == [("failed", "refused_by_provider")]
        assert "Session too large to compact" in rig.of(e.CompactionEnded)[-1].words
        assert reasons(rig)[-1] == "done"
        assert len(summaries(rig)) == 1


async def test_c_056_a_stop_ends_a_compaction_and_it_does_not_begin_again(tmp_path):
    async with talked(tmp_path) as rig:
        gate = asyncio.Event()
        rig.model.summaries.append([TextDelta("half"), gate])
        before, body = await stored(rig), canonical(await next_body(rig))
        await rig.worker.compact()
        async with asyncio.timeout(5):
            await rig.model.reached.wait()
        assert rig.worker.abort()
        async with asyncio.timeout(1):
            await rig.worker.idle()
        assert ends(rig) == [("failed", "aborted")]
        assert "stopped by the user" in rig.of(e.CompactionEnded)[-1].words
        assert await stored(rig) == before
        assert canonical(await next_body(rig)) == body
        await rig.ask("U3")
        assert len(summaries(rig)) == 1
        sid = rig.live.session.id
    async with session(tmp_path, Play(), session_id=sid, seed=2, tools=False) as rig:
        await rig.ask("U4")
        assert summaries(rig) == []
        attempts = await rig.runtime.store.attempts(sid)
        assert [attempt.end for attempt in attempts] == ["aborted"]


async def test_c_056_an_automatic_compaction_is_stopped_with_its_turn(tmp_path):
    gate = asyncio.Event()
    model = Play(real("A1 " + LONG), real("A2 " + LONG))
    model.summaries.append([gate])
    async with session(tmp_path, model, window=SMALL, tools=False) as rig:
        await rig.ask("U1")
        await rig.worker.submit("U2")
        async with asyncio.timeout(5):
            await model.reached.wait()
        rig.worker.abort()
        await rig.idle()
        assert reasons(rig)[-1] == "aborted"
        assert ends(rig) == [("failed", "aborted")]
        assert await said(rig) == ["U1", "A1 " + LONG, "U2", "A2 " + LONG]


async def test_c_068_every_attempt_has_its_begin_and_its_end(tmp_path):
    async with talked(tmp_path) as rig:
        rig.model.summaries.append(say(""))
        await compact(rig)
        await compact(rig)
        await compact(rig)
        rows = await rig.runtime.store.attempts(rig.live.session.id)
        assert [row.end for row in rows] == ["blank", "finished", "nothing_to_compact"]
        assert all(row.started_at <= row.ended_at for row in rows)
        assert [row.after is not None for row in rows] == [False, True, False]
        assert len(rig.of(e.CompactionStarted)) == 2
