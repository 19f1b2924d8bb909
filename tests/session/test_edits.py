"""The worked sequences of `data.md` 3, driven through the worker: the exact next request after each."""

import pytest

from qiming_tui.model.codec import canonical
from qiming_tui.model.edits import EditKind
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.parts import PLACEHOLDER
from qiming_tui.model.window import Preset, Settings
from tests.context import short
from tests.session.harness import SUMMARY, overflow, say, session, used
from tests.session.play import (
    ASKS,
    CONTINUE,
    OPENCODE,
    M,
    Play,
    answer,
    compact,
    do,
    edit,
    ends,
    next_body,
    next_messages,
    plant,
    redo,
    said,
    spoken,
    turns,
    undo,
    words,
)

PRUNING = Settings(preset=Preset.OPENCODE, protect=100, minimum=50)
R1, R2 = "alpha " * 100, "beta " * 100


async def two_results(folder):
    """U1, a step that read r1 and r2, A1; then U2 A2 U3 A3."""
    return await plant(
        folder,
        short.user("u1", "U1"),
        answer("a1", "", finish="tool-calls"),
        short.assistant(
            "a2",
            short.tool("r1", R1, message="a2"),
            short.tool("r2", R2, message="a2"),
            model=short.MODEL,
            finish="tool-calls",
        ),
        answer("a3", "A1"),
        short.user("u2", "U2"),
        answer("a4", "A2", parent="u2"),
        short.user("u3", "U3"),
        answer("a5", "A3", parent="u3"),
    )


def user(text):
    return {"role": "user", "content": text}


def spoke(text):
    return {"role": "assistant", "content": text}


def results(first, second):
    """The next request of `two_results` with these results."""
    calls = [
        {"id": f"call_{name}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        for name in ("r1", "r2")
    ]
    return [
        user("U1"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_r1", "content": first},
        {"role": "tool", "tool_call_id": "call_r2", "content": second},
        *[spoke("A1"), user("U2"), spoke("A2"), user("U3"), spoke("A3")],
    ]


async def test_sequence_1_a_prune_and_a_restore_are_undone_one_by_one(tmp_path):
    sid = await two_results(tmp_path)
    async with session(tmp_path, Play(), settings=PRUNING, session_id=sid, tools=False) as rig:
        assert await next_messages(rig) == results(R1, R2)
        await rig.worker.prune()
        await rig.idle()
        assert await next_messages(rig) == results(PLACEHOLDER, PLACEHOLDER)
        assert rig.live.entry("a2").parts[0].state.output == ""
        await edit(rig, EditKind.RESTORE, "r1")
        assert await next_messages(rig) == results(R1, PLACEHOLDER)
        await undo(rig)
        assert await next_messages(rig) == results(PLACEHOLDER, PLACEHOLDER)
        await undo(rig)
        assert await next_messages(rig) == results(R1, R2)
        await redo(rig)
        assert await next_messages(rig) == results(PLACEHOLDER, PLACEHOLDER)
    async with session(tmp_path, Play(), settings=PRUNING, session_id=sid, tools=False, seed=2) as rig:
        assert await next_messages(rig) == results(PLACEHOLDER, PLACEHOLDER)
        await undo(rig)
        assert await next_messages(rig) == results(R1, R2)


async def test_sequence_2_c_058_an_undone_compaction_gives_back_every_turn(tmp_path):
    model = Play(*turns(("A1", 2_000), ("A2", 9_600), ("A3", 3_000)))
    async with session(tmp_path, model, window=M(10_000), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        compacted = [user(ASKS), spoke(SUMMARY), user(CONTINUE), spoke("A3")]
        assert await next_messages(rig) == compacted
        body = await next_body(rig)
        assert ends(rig) == [("finished", "finished")]
        await undo(rig)
        assert await next_messages(rig) == [user("U1"), spoke("A1"), user("U2"), spoke("A2"), spoke("A3")]
        assert rig.live.session.latched
        await redo(rig)
        assert canonical(await next_body(rig)) == canonical(body)


async def test_sequence_3_the_copy_of_a_refused_message_goes_with_the_compaction(tmp_path):
    model = Play(*turns(("A1", 2_000)), overflow(), *turns(("A2", 3_000)))
    async with session(tmp_path, model, window=M(10_000), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        assert await next_messages(rig) == [user(ASKS), spoke(SUMMARY), user("U2"), spoke("A2")]
        assert len([entry for entry in rig.live.entries if entry.text == "U2"]) == 2
        await undo(rig)
        assert await next_messages(rig) == [user("U1"), spoke("A1"), user("U2"), spoke("A2")]


async def test_sequence_4_an_earlier_compaction_waits_for_the_later_one(tmp_path):
    model = Play(*turns(("A1", 2_000), ("A2", 2_000)))
    async with session(tmp_path, model, settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await compact(rig)
        await rig.ask("U2")
        await compact(rig)
        first, second = [record.group for record in rig.live.edits]
        with pytest.raises(EditRefused, match="undo C2 first"):
            await undo(rig, first)
        assert (await undo(rig)).id == second
        assert await said(rig) == [ASKS, SUMMARY, "U2", "A2"]
        await undo(rig)
        assert await said(rig) == ["U1", "A1", "U2", "A2"]
        with pytest.raises(EditRefused):
            await redo(rig, second)
        await redo(rig, first)
        await redo(rig, second)
        assert await said(rig) == [ASKS, SUMMARY]


async def test_sequence_5_a_pinned_result_follows_the_summary(tmp_path):
    sid = await two_results(tmp_path)
    model = Play(*turns(("A4", 9_600), ("A5", 2_000)))
    async with session(
        tmp_path, model, settings=OPENCODE, session_id=sid, tools=False, window=M(10_000)
    ) as rig:
        await edit(rig, EditKind.PIN, "r1", text=R1, source="read alpha.txt")
        assert await next_messages(rig) == results(R1, R2)
        await rig.ask("U4")
        messages = await next_messages(rig)
        assert messages[:2] == [user(ASKS), spoke(SUMMARY)]
        assert R1.strip() in messages[2]["content"]
        assert "read alpha.txt" in messages[2]["content"]
        assert messages[2]["role"] == "user"
        assert CONTINUE in str(messages[2:4])
        assert messages[-1] == spoke("A5")
        await edit(rig, EditKind.UNPIN, "r1")
        assert await next_messages(rig) == [user(ASKS), spoke(SUMMARY), user(CONTINUE), spoke("A5")]


async def test_sequence_6_an_edited_summary_is_sent_and_undo_gives_back_the_models(tmp_path):
    async with session(tmp_path, Play(*turns(("A1", 2_000))), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await compact(rig)
        before = canonical(await next_body(rig))
        await edit(rig, EditKind.SUMMARY_EDIT, rig.live.last_assistant.id, text="what I say it was")
        assert await next_messages(rig) == [user(ASKS), spoke("what I say it was")]
        await undo(rig)
        assert canonical(await next_body(rig)) == before


async def test_sequence_7_a_result_is_cleared_by_hand(tmp_path):
    sid = await two_results(tmp_path)
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        before = rig.worker.ctx
        count = (await before.engine.view(before.profile)).count
        await edit(rig, EditKind.CLEAR, "r2")
        assert await next_messages(rig) == results(R1, PLACEHOLDER)
        assert rig.verdict.count == count - (len(R2) + 2) // 4 + (len(PLACEHOLDER) + 2) // 4
        record = await rig.runtime.store.load(sid)
        part = record.entries[2].parts[1]
        assert part.state.time.compacted
        assert (await rig.runtime.store.outputs(["r2"])) == {"r2": R2}


async def test_sequence_8_guarded_keeps_the_tail_and_adds_nothing(tmp_path):
    long = words(7_000)
    model = Play(*turns((long, 7_300), ("A2", 7_400)), overflow(tokens=10_100, limit=10_000))
    model.scripts.append(say("A3", used(500, 5)))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        await rig.ask("U3")
        asked = [ASKS, SUMMARY, "U2", "A2", "U3"]
        assert spoken(model.sent()[3]) == asked
        assert await said(rig) == [*asked, "A3"]
        await undo(rig)
        assert await said(rig) == ["U1", long, "U2", "A2", "U3", "A3"]


async def test_edits_survive_a_restart_and_so_does_the_latch(tmp_path):
    async with session(tmp_path, Play(*turns(("A1", 2_000))), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await compact(rig)
        body = canonical(await next_body(rig))
        await undo(rig)
        sid = rig.live.session.id
    async with session(tmp_path, Play(), settings=OPENCODE, tools=False, session_id=sid, seed=2) as rig:
        assert await said(rig) == ["U1", "A1"]
        assert rig.live.session.latched
        await redo(rig)
        assert canonical(await next_body(rig)) == body


async def test_nothing_to_undo_and_nothing_to_redo_are_refused_in_words(tmp_path):
    async with session(tmp_path, Play(), tools=False) as rig:
        for job in (rig.worker.editor.undo, rig.worker.editor.redo):
            with pytest.raises(EditRefused, match="nothing to"):
                await do(rig, job)
