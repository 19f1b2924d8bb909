"""Prune in the loop: part B of `cases.md`, preset `guarded`."""

import base64

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.codec import canonical
from qiming_tui.model.edits import EditKind
from qiming_tui.model.parts import PLACEHOLDER, Completed, ToolPart
from qiming_tui.model.window import Keep, Preset, Settings
from tests.context import short
from tests.session.harness import call, overflow, session
from tests.session.play import (
    M,
    Play,
    answer,
    compact,
    edit,
    ends,
    next_body,
    plant,
    real,
    reasons,
    said,
    spoken,
    stored,
    summaries,
    turns,
    undo,
    words,
)

SOON = Settings(protect=1_000, minimum=500)
RESULT = words(900)
GONE = f"result {PLACEHOLDER}"


def step(number, text=RESULT, **more):
    part = short.tool(f"r{number}", text, message=f"s{number}", name="read", **more)
    return short.assistant(f"s{number}", part, model=short.MODEL, finish="tool-calls")


async def read_a_lot(folder, results=5):
    """A turn that read `results` files of 900 tokens, then two turns of talk."""
    return await plant(
        folder,
        short.user("u1", "U1"),
        *(step(number) for number in range(1, results + 1)),
        answer("a1", "A1"),
        short.user("u2", "U2"),
        answer("a2", "A2", parent="u2"),
        short.user("u3", "U3"),
        answer("a3", "A3", parent="u3"),
    )


def cleared(rig):
    """Ids of the results that the model does not see."""
    parts = [part for entry in rig.live.entries for part in entry.parts if isinstance(part, ToolPart)]
    return [p.id for p in parts if isinstance(p.state, Completed) and p.state.time.compacted]


async def test_c_021_prune_runs_at_the_end_of_a_turn_unless_switched_off(tmp_path):
    sid = await read_a_lot(tmp_path)
    off = Settings(protect=1_000, minimum=500, prune=False)
    async with session(tmp_path, Play(real("A4")), session_id=sid, settings=off, tools=False) as rig:
        await rig.ask("U4")
        assert cleared(rig) == []
    async with session(tmp_path, Play(real("A5")), session_id=sid, settings=SOON, tools=False, seed=2) as rig:
        await rig.ask("U5")
        assert cleared(rig) == ["r1", "r2", "r3", "r4"]
        planned, applied = rig.of(e.Prune)
        assert (planned.phase, applied.phase) == ("planned", "applied")
        assert planned.plan == applied.plan
        assert applied.plan.tokens == 3_600
        assert applied.group
        assert rig.of(e.Context)[-1].verdict.basis == "predicted"


async def test_c_024_the_last_two_turns_are_never_pruned(tmp_path):
    sid = await plant(
        tmp_path, short.user("u1", "U1"), step(1), answer("a1", "A1"), short.user("u2", "U2"), step(2),
        answer("a2", "A2"),
    )  # fmt: skip
    settings = Settings(protect=100, minimum=50)
    async with session(tmp_path, Play(real("A3")), session_id=sid, settings=settings, tools=False) as rig:
        await rig.ask("U3")
        assert cleared(rig) == ["r1"]
        plan = rig.of(e.Prune)[-1].plan
        assert {fate.part_id: fate.reason for fate in plan.fates}["r2"] is Keep.PROTECTED_TURN


async def test_c_024_a_result_that_is_read_again_soon_after_its_clearing_is_regretted(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha\n" * 300)
    again = {"filePath": "a.txt"}
    reads = [real("", events=call("read", again, call_id=f"c{i}")) for i in range(3)]
    model = Play(reads[0], real("A1"), real("A2"), real("A3"), reads[1], real("A4"), reads[2], real("A5"))
    async with session(tmp_path, model, settings=Settings(protect=100, minimum=50)) as rig:
        for number in range(1, 4):
            await rig.ask(f"U{number}")
        assert len(cleared(rig)) == 1
        await rig.ask("U4")
        [notice] = rig.of(e.Notice)
        assert notice.text == "prune regret: read again, 1 step after its result was cleared; 1 so far"
        parts = [part for entry in rig.live.entries for part in entry.parts if isinstance(part, ToolPart)]
        assert parts[1].metadata == {"qiming": {"regret": parts[0].id}}
        await rig.ask("U5")
        assert len(rig.of(e.Notice)) == 1


async def test_c_026_pruning_alone_is_enough_and_no_summary_is_made(tmp_path):
    sid = await read_a_lot(tmp_path)
    model = Play(real("A4"))
    async with session(tmp_path, model, session_id=sid, settings=SOON, tools=False, window=M(4_500)) as rig:
        await rig.ask("U4")
        assert summaries(rig) == []
        assert ends(rig) == []
        assert cleared(rig) == ["r1", "r2", "r3", "r4"]
        [body] = model.sent()
        assert spoken(body).count(GONE) == 4
        assert reasons(rig) == ["done"]


async def test_c_026_where_pruning_is_not_enough_the_summary_is_made_of_what_it_left(tmp_path):
    sid = await read_a_lot(tmp_path, results=6)
    async with session(
        tmp_path, Play(real("A4")), session_id=sid, settings=SOON, tools=False, window=M(4_500)
    ) as rig:
        await rig.ask(words(3_000, "many"))
        assert ends(rig) == [("finished", "finished")]
        [summary] = summaries(rig)
        assert spoken(summary).count(GONE) == 5
        assert spoken(summary).count(f"result {RESULT}") == 1
        phases = [
            type(event).__name__ for event in rig.events if isinstance(event, e.Prune | e.CompactionStarted)
        ]
        assert phases == ["Prune", "Prune", "CompactionStarted"]


@pytest.mark.parametrize("preset", [Preset.OPENCODE, Preset.QIMING])
async def test_c_026_the_articles_prune_at_the_end_of_the_loop_only(tmp_path, preset):
    sid = await read_a_lot(tmp_path)
    settings = Settings(preset=preset, protect=1_000, minimum=500)
    model = Play(*turns(("A4", 9_900), ("A5", 100)))
    async with session(
        tmp_path, model, session_id=sid, settings=settings, tools=False, window=M(10_000)
    ) as rig:
        await rig.ask("U4")
        [summary] = summaries(rig)
        assert GONE not in spoken(summary)


async def test_c_009_after_a_refusal_pruning_comes_first(tmp_path):
    sid = await read_a_lot(tmp_path)
    model = Play(overflow(tokens=20_500, limit=20_000), real("A4"))
    settings = Settings(protect=1_000, minimum=500)
    async with session(tmp_path, model, session_id=sid, settings=settings, tools=False) as rig:
        await rig.ask("U4")
        assert summaries(rig) == []
        assert len(model.sent()) == 2
        assert cleared(rig) == ["r1", "r2", "r3", "r4"]
        assert reasons(rig) == ["done"]


async def test_c_027_the_call_stays_where_its_result_is_cleared(tmp_path):
    sid = await read_a_lot(tmp_path)
    async with session(tmp_path, Play(), session_id=sid, settings=SOON, tools=False) as rig:
        await rig.worker.prune()
        await rig.idle()
        assert (await said(rig))[:5] == ["U1", "call read", GONE, "call read", GONE]
        assert f"{PLACEHOLDER!r}"[1:-1] in (await next_body(rig))["messages"][0]["content"]


async def test_c_030_what_was_restored_is_not_pruned_again_at_once(tmp_path):
    sid = await read_a_lot(tmp_path)
    model = Play(real("A4"), real("A5"))
    async with session(tmp_path, model, session_id=sid, settings=SOON, tools=False) as rig:
        await rig.ask("U4")
        assert len(cleared(rig)) == 4
        await edit(rig, EditKind.RESTORE, "r2")
        assert cleared(rig) == ["r1", "r3", "r4"]
        await rig.ask("U5")
        assert cleared(rig) == ["r1", "r3", "r4"]
        assert RESULT in str(await next_body(rig))


async def test_c_030_an_undone_prune_is_not_done_again_at_once(tmp_path):
    sid = await read_a_lot(tmp_path)
    model = Play(real("A4"), real("A5"))
    async with session(tmp_path, model, session_id=sid, settings=SOON, tools=False) as rig:
        await rig.ask("U4")
        await undo(rig)
        await rig.ask("U5")
        assert cleared(rig) == []


async def test_c_030_pinned_results_and_those_before_a_boundary_are_left_alone(tmp_path):
    sid = await read_a_lot(tmp_path)
    async with session(tmp_path, Play(), session_id=sid, settings=SOON, tools=False) as rig:
        await edit(rig, EditKind.PIN, "r3", text=RESULT, source="read")
        await rig.worker.prune()
        await rig.idle()
        assert cleared(rig) == ["r1", "r2", "r4"]
        await undo(rig)
        await compact(rig)
        before = await stored(rig)
        await rig.worker.prune()
        await rig.idle()
        assert "Nothing to clear" in rig.of(e.Notice)[-1].text
        assert await stored(rig) == before


async def test_c_032_a_cleared_picture_is_not_sent_and_comes_back_whole(tmp_path):
    picture = base64.b64encode(b"\x89PNG" + b"x" * 5_000).decode()
    part = short.tool("r1", RESULT, message="s1", images=1)
    shown = part.state.attachments[0]
    shown = type(shown)(mime="image/png", url=f"data:image/png;base64,{picture}", filename="shot.png")
    state = Completed(input={}, output=RESULT, time=part.state.time, attachments=(shown,))
    part = ToolPart(
        id="r1", session_id=short.SES, message_id="s1", call_id="call_r1", tool="read", state=state
    )
    sid = await plant(
        tmp_path, short.user("u1", "U1"), short.assistant("s1", part, finish="tool-calls"), answer("a1", "A1")
    )
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        whole = canonical(await next_body(rig))
        assert picture.encode() in whole
        await edit(rig, EditKind.CLEAR, "r1")
        body = canonical(await next_body(rig))
        assert b"base64" not in body
        assert picture.encode() not in body
        assert PLACEHOLDER.encode() in body
    async with session(tmp_path, Play(), session_id=sid, tools=False, seed=2) as rig:
        assert b"base64" not in canonical(await next_body(rig))
        await edit(rig, EditKind.RESTORE, "r1")
        assert canonical(await next_body(rig)) == whole


async def test_c_025_a_cleared_result_leaves_the_memory_and_stays_in_the_store(tmp_path):
    sid = await read_a_lot(tmp_path)
    async with session(tmp_path, Play(real("A4")), session_id=sid, settings=SOON, tools=False) as rig:
        await rig.ask("U4")
        gone = cleared(rig)
        assert gone
        parts = {p.id: p for entry in rig.live.entries for p in entry.parts if isinstance(p, ToolPart)}
        for part_id in gone:
            state = parts[part_id].state
            assert state.output == ""
            assert state.stored.units == len(RESULT)
        assert await rig.runtime.store.outputs(gone) == dict.fromkeys(gone, RESULT)
        record = await rig.runtime.store.load(sid)
        loaded = {p.id: p for entry in record.entries for p in entry.parts if isinstance(p, ToolPart)}
        assert [loaded[part_id].state.output for part_id in gone] == [""] * len(gone)
