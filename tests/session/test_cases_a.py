"""Overflow decided in the loop: part A of `cases.md`, preset `guarded`."""

from pathlib import Path

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.errors import InputError
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.stream import FaultKind
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import Settings, State
from tests.context import short
from tests.session.harness import call, fail, overflow, say, session, used
from tests.session.play import (
    CONTINUE,
    M,
    Play,
    answer,
    compact,
    ends,
    plant,
    real,
    reasons,
    said,
    size,
    spoken,
    summaries,
    words,
)


async def filled(folder, total):
    """U1 A1, of which the provider reported `total` tokens."""
    usage = Usage(input=total - 10, output=10, total=total)
    a1 = answer("a1", words(600), parent="u1", usage=usage)
    return await plant(folder, short.user("u1", "U1"), a1)


@pytest.mark.parametrize(
    ("limits", "reserved", "usable", "total"),
    [
        pytest.param(M(200_000, 32_000, 200_000), None, 168_000, 175_000, id="c_002"),
        pytest.param(M(400_000, 128_000, 272_000), None, 252_000, 252_000, id="c_002_large"),
        pytest.param(M(262_144, 32_768), 50_000, 212_144, 212_144, id="c_003"),
        pytest.param(M(200_000, 32_000), 32_000, 168_000, 168_000, id="c_004"),
        pytest.param(M(272_000, 128_000), None, 240_000, 240_000, id="c_005"),
    ],
)
async def test_c_002_to_c_005_the_line_at_which_a_session_is_compacted(
    tmp_path, limits, reserved, usable, total
):
    sid = await filled(tmp_path, total)
    options = {"window": limits, "settings": Settings(reserved=reserved), "tools": False}
    async with session(tmp_path, Play(), session_id=sid, **options) as rig:
        await rig.worker.show()
        await rig.idle()
        assert (rig.verdict.usable, rig.verdict.overflow, rig.verdict.basis) == (usable, True, "measured")
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]
        assert len(rig.model.sent()) == 1


async def test_c_004_one_token_below_the_line_nothing_is_compacted(tmp_path):
    sid = await filled(tmp_path, 167_999)
    settings = Settings(reserved=32_000)
    async with session(tmp_path, Play(), session_id=sid, window=M(200_000, 32_000), settings=settings) as rig:
        await rig.worker.show()
        await rig.idle()
        assert not rig.verdict.overflow
        assert "32,000" in rig.verdict.arithmetic


async def test_c_006_the_limits_of_the_next_requests_model_decide(tmp_path):
    sid = await filled(tmp_path, 125_000)
    async with session(tmp_path, Play(), session_id=sid, window=M(1_000_000, 32_000)) as rig:
        await rig.worker.show()
        await rig.idle()
        assert not rig.verdict.overflow
    async with session(tmp_path, Play(), session_id=sid, seed=2, window=M(128_000, 8_000)) as rig:
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]
        assert rig.of(e.Context)[0].verdict.usable == 120_000


async def test_c_006_an_overflow_that_was_not_foreseen_brings_one_compaction(tmp_path):
    model = Play(overflow(), real("A2"))
    sid = await filled(tmp_path, 5_000)
    async with session(tmp_path, model, session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]
        assert reasons(rig) == ["done"]
        assert (await said(rig))[-2:] == ["U2", "A2"]
        outcomes = [row.outcome for row in await rig.runtime.store.requests(sid)]
        assert outcomes == [Outcome.REFUSED, Outcome.OK, Outcome.OK]


async def test_c_007_a_large_result_is_stored_capped_with_a_pointer(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "big.txt").write_text("seventeen letters\n" * 95_000)
    model = Play(call("bash", {"command": "cat big.txt"}), real("A1"))
    sid = await plant(tmp_path, short.user("u1", words(15_000)), answer("a1", words(15_000)))
    async with session(tmp_path, model, session_id=sid, window=M(131_072, 8_000)) as rig:
        await rig.ask("U2")
        [part] = [p for entry in rig.live.entries for p in entry.parts if isinstance(p, ToolPart)]
        assert len(part.state.output) < 60_000
        assert "The full text" in part.state.output
        assert len(Path(part.state.metadata["outputPath"]).read_text()) > 1_600_000
        assert size(model.sent()[1]) < rig.verdict.usable
        assert not summaries(rig)


async def test_c_007_c_096_a_refused_request_updates_the_count(tmp_path):
    model = Play(overflow(tokens=21_000, limit=20_000))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.ask("U1")
        assert rig.verdict.state is State.FULL
        assert rig.verdict.count == 21_000
        assert reasons(rig) == ["needs_you"]


async def test_c_008_a_tool_loop_is_judged_after_every_step(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("eight words of four letters and a space\n" * 200)
    steps = [real("", events=call("read", {"filePath": "a.txt"}, call_id=f"call_{i}")) for i in range(6)]
    async with session(tmp_path, Play(*steps, real("the end")), window=M(12_000, 3_000)) as rig:
        await rig.ask("read it six times")
        assert reasons(rig) == ["done"]
        assert set(ends(rig)) == {("finished", "finished")}
        assert all(size(body) < rig.verdict.usable for body in rig.model.sent())
        for body in [*rig.model.sent(), *summaries(rig)]:
            calls = [c["id"] for m in body["messages"] for c in m.get("tool_calls", ())]
            answered = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
            assert calls == answered
        assert any(CONTINUE in spoken(body) for body in rig.model.sent())


async def test_c_009_a_refused_request_beats_every_test_of_worth(tmp_path):
    model = Play(real("A1"), overflow(), real("A2"))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.ask(words(150))
        await compact(rig)
        assert ends(rig) == [("skipped", "nothing_to_compact")]
        await rig.ask("U2")
        assert ends(rig)[1] == ("finished", "finished")
        assert reasons(rig) == ["done", "done"]


@pytest.mark.parametrize(
    ("numbers", "most"), [({"tokens": 10_969, "limit": 65_536}, 54_567), ({}, 32_768)], ids=["told", "not"]
)
async def test_c_011_an_output_that_is_too_large_is_clamped_and_asked_again(tmp_path, numbers, most):
    too_large = fail(FaultKind.OUTPUT_TOO_LARGE, "max_tokens is too large: 65536", status=400, **numbers)
    settings = Settings(output_token_max=65_536)
    async with session(
        tmp_path, Play(too_large, say("A1")), window=M(65_536, 65_536), settings=settings, tools=False
    ) as rig:
        await rig.ask("U1")
        first, second = rig.model.sent()
        assert first["max_tokens"] > most
        assert 1 <= second["max_tokens"] <= most
        assert first["messages"] == second["messages"]
        assert rig.sleeps == []
        assert not rig.of(e.CompactionEnded)
        assert reasons(rig) == ["done"]


async def test_c_011_a_clamp_that_does_not_help_is_not_repeated(tmp_path):
    too_large = [fail(FaultKind.OUTPUT_TOO_LARGE, "max_tokens is too large", status=400) for _ in range(3)]
    async with session(tmp_path, Play(*too_large), tools=False) as rig:
        await rig.ask("U1")
        assert len(rig.model.sent()) == 2
        assert reasons(rig) == ["error"]


async def test_c_012_auto_off_is_shown_and_nothing_hidden_waits(tmp_path):
    settings = Settings(auto=False)
    model = Play(overflow(tokens=130_000, limit=128_000))
    sid = await filled(tmp_path, 125_000)
    options = {"session_id": sid, "settings": settings, "tools": False}
    async with session(tmp_path, model, window=M(128_000, 8_000), **options) as rig:
        await rig.ask("U2")
        assert reasons(rig) == ["error"]
        assert "compact, clear results, or take a larger model" in rig.of(e.Failed)[-1].hint
        assert not rig.of(e.CompactionEnded)
        assert await rig.runtime.store.attempts(sid) == ()
    async with session(tmp_path, Play(real("A3")), window=M(1_000_000, 8_000), seed=2, **options) as rig:
        await rig.ask("U3")
        assert reasons(rig) == ["done"]
        assert not rig.of(e.CompactionEnded)
        assert not summaries(rig)


async def test_c_014_usage_that_cannot_be_is_flagged_and_compacts_nothing(tmp_path):
    model = Play(*(say(f"A{i}", used(25_000, 10)) for i in range(3)))
    async with session(tmp_path, model, tools=False) as rig:
        for text in ("U1", "U2", "U3"):
            await rig.ask(text)
        assert not rig.of(e.CompactionEnded)
        assert rig.verdict.count < 1_000
        assert rig.verdict.basis == "estimated"
        assert "25,000 is above the window 20,000" in rig.verdict.flags[0]


async def test_c_016_an_unknown_window_compacts_nothing_and_says_so(tmp_path):
    async with session(tmp_path, Play(say("A1", used(900_000, 10))), window=M(0, 0), tools=False) as rig:
        await rig.ask("U1")
        assert (rig.verdict.state, rig.verdict.percent, rig.verdict.usable) == ("unknown", None, None)
        assert "window unknown" in rig.verdict.arithmetic
        assert not rig.of(e.CompactionEnded)


async def test_c_016_a_refusal_in_an_unknown_window_is_not_repeated_for_ever(tmp_path):
    model = Play(*(overflow() for _ in range(9)))
    sid = await filled(tmp_path, 5_000)
    async with session(tmp_path, model, window=M(0, 0), session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        assert len(model.sent()) == 2
        assert ends(rig)[0] == ("finished", "finished")
        assert reasons(rig) == ["needs_you"]
        assert rig.verdict.state is State.UNKNOWN
        assert rig.of(e.Failed)


@pytest.mark.parametrize("way", ["submit", "steer"])
async def test_c_019_a_message_larger_than_the_window_is_not_stored(tmp_path, way):
    async with session(tmp_path, Play(real("A1")), tools=False) as rig:
        text = words(20_001)
        with pytest.raises(InputError, match=r"20,001 tokens .* window of 20,000"):
            await getattr(rig.worker, way)(text)
        assert rig.live.entries == []
        assert rig.live.queue == []
        record = await rig.runtime.store.load(rig.live.session.id)
        assert (record.entries, record.queue) == ((), ())
        assert not rig.worker.busy
        await rig.ask("U1")
        assert reasons(rig) == ["done"]


async def test_c_019_a_message_that_fits_is_sent_although_it_fills_the_window(tmp_path):
    async with session(tmp_path, Play(real("A1")), window=M(20_000, 8_000), tools=False) as rig:
        await rig.ask(words(19_000))
        assert len(rig.model.sent()) == 1
        assert reasons(rig) == ["done"]
