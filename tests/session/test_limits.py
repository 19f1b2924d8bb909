"""When compaction cannot help: at most two in a row, then a sentence and no more calls (cases C-038, C-039,
C-041, C-062; `data.md` 4)."""

from itertools import pairwise

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import Preset, Settings, State
from tests.context import short
from tests.session.harness import SUMMARY, call, overflow, say, session, used
from tests.session.play import (
    ASKS,
    OPENCODE,
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
    summaries,
    turns,
    words,
)

PRESETS = list(Preset)


async def history(folder):
    """Three turns of 600 tokens each."""
    entries = []
    for number in (1, 2, 3):
        entries += [short.user(f"u{number}", f"U{number}"), answer(f"a{number}", words(600))]
    return await plant(folder, *entries)


@pytest.mark.parametrize("preset", PRESETS)
async def test_c_038_a_provider_that_always_refuses_gets_two_compactions_and_no_more(tmp_path, preset):
    model = Play(*(overflow() for _ in range(9)))
    sid = await history(tmp_path)
    settings = Settings(preset=preset)
    async with session(tmp_path, model, session_id=sid, settings=settings, tools=False) as rig:
        await rig.ask("U4")
        assert 1 <= ends(rig).count(("finished", "finished")) <= 2
        assert len(summaries(rig)) <= 3
        assert len(model.sent()) <= 3
        assert reasons(rig) == ["needs_you"]
        assert rig.verdict.refused
        assert rig.of(e.Failed)[-1].hint
        calls = len(model.requests)
        await rig.ask("U5")
        assert len(summaries(rig)) <= 3
        assert reasons(rig)[-1] == "needs_you"
        assert len(model.requests) <= calls + 2


@pytest.mark.parametrize("preset", [Preset.OPENCODE, Preset.QIMING])
async def test_c_038_usage_that_never_falls_gets_two_compactions_and_no_more(tmp_path, preset):
    model = Play(*turns(*((f"A{i}", 9_900) for i in range(9))))
    settings = Settings(preset=preset)
    async with session(tmp_path, model, window=M(10_000), settings=settings, tools=False) as rig:
        await rig.ask("U1")
        assert ends(rig) == [("finished", "finished")] * 2 + [("skipped", "floor")]
        assert len(model.sent()) == 3
        assert "after 2 compactions in a row" in rig.of(e.CompactionEnded)[-1].words
        assert "9,900 tokens of 9,500 usable" in rig.of(e.Failed)[-1].message


async def test_a_restart_does_not_begin_the_row_anew(tmp_path):
    settings = Settings(preset=Preset.OPENCODE)
    options = {"window": M(10_000), "settings": settings, "tools": False}
    async with session(tmp_path, Play(*turns(*((f"A{i}", 9_900) for i in range(9)))), **options) as rig:
        await rig.ask("U1")
        assert ends(rig)[-1] == ("skipped", "floor")
        sid = rig.live.session.id
    model = Play(*turns(*((f"B{i}", 100) for i in range(9))))
    async with session(tmp_path, model, session_id=sid, seed=2, **options) as rig:
        await rig.ask("U2")
        assert model.requests == [], "no summary and no request: it stopped before"
        assert reasons(rig) == ["needs_you"]
        await compact(rig)
        assert ends(rig)[-1] == ("finished", "finished"), "by hand it may be tried again"
        await rig.ask("U3")
        assert reasons(rig)[-1] == "done"


async def test_idle_is_told_once_each_time_the_session_comes_to_rest(tmp_path):
    async with session(tmp_path, Play(*turns(("A1", 100), ("A2", 100))), tools=False) as rig:
        await rig.worker.submit("U1")
        await rig.worker.submit("U2")
        await rig.idle()
        await rig.worker.show()
        await rig.idle()
        assert reasons(rig) == ["done", "done"]
        rested = [
            type(event) for event in rig.events if isinstance(event, (e.Idle, e.TurnStarted, e.Context))
        ]
        assert e.Idle in rested
        assert all(pair != (e.Idle, e.Idle) for pair in pairwise(rested)), "never twice without work between"


async def test_c_038_usage_that_never_falls_under_guarded(tmp_path):
    """The provider counts 4,000 tokens more than there are: plausible, and never below usable."""
    steps = [real("", events=call("list", {"path": "."}, call_id=f"c{i}"), more=3_900) for i in range(9)]
    async with session(tmp_path, Play(*steps), window=M(6_000)) as rig:
        await rig.ask(words(500))
        assert ends(rig).count(("finished", "finished")) == 2
        assert ends(rig)[-1] == ("skipped", "floor")
        assert len(rig.model.sent()) <= 4
        assert reasons(rig) == ["needs_you"]
        assert "after 2 compactions in a row" in rig.of(e.Failed)[-1].message


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_successful_step_below_usable_ends_the_row(tmp_path, preset):
    texts = []
    for number in range(4):
        texts += [real(words(4_600)), real(f"small {number}")]
    settings = Settings(preset=preset)
    async with session(tmp_path, Play(*texts), window=M(5_000), settings=settings, tools=False) as rig:
        for number in range(4):
            await rig.ask(f"long {number}")
            await rig.ask(f"short {number}")
        assert ends(rig).count(("finished", "finished")) >= 3
        assert set(ends(rig)) <= {("finished", "finished"), ("skipped", "nothing_to_compact")}
        assert set(reasons(rig)) == {"done"}


async def test_compact_by_hand_begins_a_new_row(tmp_path):
    model = Play(*turns(*((f"A{i}", 9_900) for i in range(3))))
    async with session(tmp_path, model, window=M(10_000), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        assert ends(rig)[-1] == ("skipped", "floor")
        await compact(rig)
        assert ends(rig)[-1] == ("finished", "finished")
        model.scripts += turns(("A4", 9_900), ("A5", 500))
        await rig.ask("U2")
        assert ends(rig)[-1] == ("finished", "finished")
        assert reasons(rig) == ["done", "done"]


async def test_c_039_a_fixed_prompt_above_usable_asks_for_no_summary(tmp_path):
    options = {"environment": words(10_000), "window": M(16_000, 8_000), "tools": False}
    async with session(tmp_path, Play(real("hi"), real("yes")), **options) as rig:
        await rig.ask("hi")
        await rig.ask("are you there?")
        assert rig.verdict.usable == 8_000
        assert summaries(rig) == []
        assert {reason for _, reason in ends(rig)} == {"floor"}
        told = rig.of(e.CompactionEnded)[-1].words
        assert "fixed prompt 10," in told
        assert ">= usable 8,000" in told
        assert "nothing to compact" in told
        assert reasons(rig) == ["done", "done"]


async def test_c_039_a_fixed_prompt_above_the_window_is_not_sent(tmp_path):
    options = {"environment": words(20_000), "window": M(16_000, 8_000), "tools": False}
    async with session(tmp_path, Play(), **options) as rig:
        await rig.ask("hi")
        assert rig.model.requests == []
        assert reasons(rig) == ["needs_you"]
        assert "does not fit" in rig.of(e.Failed)[-1].message


async def test_c_041_a_refused_request_is_sent_again_only_when_it_got_smaller(tmp_path):
    async with session(tmp_path, Play(*(overflow() for _ in range(9))), tools=False) as rig:
        await rig.ask("the only message")
        assert len(rig.model.sent()) == 1
        assert ends(rig) == [("skipped", "nothing_to_compact")]
        assert reasons(rig) == ["needs_you"]
        assert rig.verdict.state is State.FULL
        assert rig.live.entries[-1].text == "the only message"


async def test_c_062_what_is_kept_is_judged_against_usable(tmp_path):
    sizes = []
    texts = [real(words(700)) for _ in range(20)]
    async with session(tmp_path, Play(*texts), window=M(6_000, 1_500), tools=False) as rig:
        for number in range(20):
            await rig.ask(f"U{number}")
            sizes.append(rig.verdict.count)
        finished = [each for each in rig.of(e.CompactionEnded) if each.phase == "finished"]
        assert len(finished) >= 3
        assert all(each.after < rig.verdict.usable for each in finished)
        assert max(sizes) < rig.verdict.usable
        last = next(entry.compaction for entry in reversed(rig.live.entries) if entry.compaction)
        assert rig.live.entry(last.tail_start_id).real_user
        assert all(size(body) < 6_000 for body in rig.model.sent())


async def test_c_061_usage_from_before_a_compaction_never_decides_after_it(tmp_path):
    usage = used(189_990, 10, 190_000).usage
    sid = await plant(
        tmp_path,
        short.user("u1", "U1"),
        answer("a1", words(600), parent="u1"),
        short.user("u2", "U2"),
        answer("a2", "A2", parent="u2", usage=usage),
    )
    model = Play(real("A3"), real("A4"))
    async with session(tmp_path, model, session_id=sid, window=M(200_000, 20_000), tools=False) as rig:
        await rig.ask("U3")
        await rig.ask("U4")
        assert ends(rig) == [("finished", "finished")]
        assert await said(rig) == [ASKS, SUMMARY, "U2", "A2", "U3", "A3", "U4", "A4"]


async def test_the_summary_call_itself_never_triggers(tmp_path):
    model = Play(real(words(300)), real("A2"))
    model.summaries.append(say(SUMMARY, used(19_900, 90)))
    async with session(tmp_path, model, tools=False) as rig:
        await rig.ask("U1")
        await compact(rig)
        assert rig.verdict.count < 1_000
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]
        assert len(model.sent(RequestKind.SUMMARY)) == 1
