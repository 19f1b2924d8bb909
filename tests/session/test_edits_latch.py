"""After an undo of a compaction the program waits for the user (`data.md` 3)."""

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.edits import EditKind
from qiming_tui.model.window import State
from tests.context import short
from tests.session.harness import SUMMARY, overflow, session
from tests.session.play import (
    ASKS,
    OPENCODE,
    M,
    Play,
    answer,
    compact,
    edit,
    ends,
    plant,
    real,
    reasons,
    redo,
    said,
    undo,
    words,
)

LONG, REPLY = words(9_150), words(200, "reply")
"""With the fixed prompt more than the 9,500 that are usable of 10,000, once it is answered."""


async def undone(rig):
    """A long U1 and A1, over usable, compacted by the loop, and the compaction undone."""
    await rig.ask(LONG)
    assert ends(rig) == [("finished", "finished")]
    await undo(rig)
    assert rig.live.session.latched
    rig.events.clear()


async def test_a_latched_session_is_over_and_says_so_and_is_not_compacted(tmp_path):
    model = Play(real(REPLY), real("A2"))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        await undone(rig)
        await rig.ask("U2")
        assert reasons(rig) == ["done"]
        assert rig.verdict.state is State.OVER
        assert rig.verdict.auto is False
        assert ("skipped", "latched") in ends(rig)
        assert not rig.of(e.CompactionStarted)
        assert await said(rig) == [LONG, REPLY, "U2", "A2"]


@pytest.mark.parametrize("settings", [{}, {"settings": OPENCODE}], ids=["guarded", "opencode"])
async def test_a_request_that_would_not_fit_is_not_sent(tmp_path, settings):
    model = Play(real(REPLY))
    async with session(tmp_path, model, window=M(10_000), tools=False, **settings) as rig:
        await undone(rig)
        sent = len(model.sent())
        await rig.ask("U2 " + words(400))
        assert len(model.sent()) == sent
        assert reasons(rig) == ["needs_you"]
        assert "Not sent" in rig.of(e.Failed)[-1].message
        assert "10,000" in rig.of(e.Failed)[-1].message
        assert rig.live.entries[-1].text.startswith("U2")


async def test_a_refused_request_is_not_sent_again_while_latched(tmp_path):
    model = Play(real(REPLY), overflow(tokens=10_300, limit=10_000))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        await undone(rig)
        await rig.ask("U2")
        assert rig.verdict.state is State.FULL
        sent = len(model.sent())
        await rig.ask("U3")
        assert len(model.sent()) == sent
        assert reasons(rig)[-1] == "needs_you"
        assert not rig.of(e.CompactionStarted)


async def test_compact_is_a_choice(tmp_path):
    async with session(tmp_path, Play(real(REPLY)), window=M(10_000), tools=False) as rig:
        await undone(rig)
        await compact(rig)
        assert not rig.live.session.latched
        assert rig.verdict.auto is True
        assert await said(rig) == [ASKS, SUMMARY]


async def test_redo_is_a_choice(tmp_path):
    async with session(tmp_path, Play(real(REPLY)), window=M(10_000), tools=False) as rig:
        await undone(rig)
        await redo(rig)
        assert not rig.live.session.latched
        assert await said(rig) == [ASKS, SUMMARY]


async def test_clearing_a_result_by_hand_is_a_choice(tmp_path):
    sid = await plant(
        tmp_path,
        short.user("u1", "U1"),
        short.assistant("a1", short.tool("r1", words(600), message="a1"), finish="tool-calls"),
        answer("a2", "A1"),
    )
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        await compact(rig)
        await undo(rig)
        assert rig.live.session.latched
        await edit(rig, EditKind.CLEAR, "r1")
        assert not rig.live.session.latched
        assert rig.verdict.auto is True


async def test_undoing_a_prune_does_not_latch(tmp_path):
    sid = await plant(
        tmp_path,
        short.user("u1", "U1"),
        short.assistant("a1", short.tool("r1", words(600), message="a1"), finish="tool-calls"),
        answer("a2", "A1"),
    )
    async with session(tmp_path, Play(), session_id=sid, tools=False) as rig:
        await edit(rig, EditKind.CLEAR, "r1")
        await undo(rig)
        assert not rig.live.session.latched
