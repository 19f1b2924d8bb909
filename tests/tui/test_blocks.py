"""Messages, parts and events as blocks: nothing hostile, everything once, live and reloaded alike."""

from datetime import UTC

import msgspec

from qiming_tui.context.edits import fold
from qiming_tui.model import events as e
from qiming_tui.model.edits import EditKind
from qiming_tui.model.messages import ABORTED, MessageError
from qiming_tui.model.parts import (
    Completed,
    Failed,
    Pending,
    ReasoningPart,
    RetryPart,
    Running,
    Span,
    StoredOutput,
    ToolPart,
    UnknownPart,
)
from qiming_tui.model.window import ItemState
from qiming_tui.tui.blocks import Block, Kind, block_of, blocks_of, costs_of
from qiming_tui.tui.book import Book
from qiming_tui.tui.toolrow import Phase
from tests.context import short
from tests.session.harness import Model, call, say, session


def tool(state, name="bash", **more):
    return ToolPart(id="t", session_id=short.SES, message_id="m", call_id="c", tool=name, state=state, **more)


def row_of(state, name="bash", **more):
    block = block_of(tool(state, name), order=(0, 0), zone=UTC, **more)
    assert block is not None
    assert block.tool is not None
    return block.tool


def done(output="", *, arguments=None, **more):
    return Completed(input=arguments or {}, output=output, time=Span(start=1_000, end=3_300), **more)


def test_a_call_says_what_it_is_about_and_how_it_ended():
    row = row_of(done("F", arguments={"command": "pytest -x"}, metadata={"exit": 1}))
    assert (row.subject, row.outcome, row.phase, row.bad) == ("pytest -x", "exit 1", Phase.FAILED, True)
    assert row.took_ms == 2_300
    assert row_of(done("", metadata={"exit": -15})).outcome == "signal 15"
    assert row_of(done("", metadata={"timed_out": True, "exit": -9})).outcome == "timed out"
    found = row_of(done("x", arguments={"pattern": "a b", "path": "src"}, metadata={"count": 3}), "grep")
    assert (found.subject, found.outcome) == ("a b src", "3 hits")
    assert row_of(done("x", metadata={"count": 100, "truncated": True}), "glob").outcome == "100+ files"
    change = row_of(
        done("ok", arguments={"filePath": "a.py"}, metadata={"diff": "@@ -1 +1 @@\n-a\n+b"}), "edit"
    )
    assert (change.subject, change.outcome) == ("a.py", "+1 -1")
    assert row_of(done("a\nb")).outcome == "2 lines"


def test_a_call_under_way_and_one_that_failed():
    assert row_of(Pending(raw='{"command": "l')).phase is Phase.STREAMING
    running = block_of(
        tool(Running(input={"command": "make"}, time=Span(start=7))), order=(0, 0), progress="cc \x1b[31ma.c"
    )
    assert running is not None
    assert (running.live, running.text) == (True, "cc a.c")
    refused = row_of(Failed(input={}, error="The user refused this call.", metadata={"refused": True}))
    assert (refused.outcome, refused.phase) == ("refused", Phase.FAILED)
    stopped = Failed(input={}, error="stopped", metadata={"interrupted": True, "output": "half"})
    block = block_of(tool(stopped), order=(0, 0))
    assert block is not None
    assert block.text == "half\n\nstopped"


def test_a_cleared_result_keeps_its_row_and_says_when_and_how_large_it_was():
    kept = StoredOutput(bytes=24_400, units=24_400, sha256="0" * 64)
    time = Span(start=1, end=2, compacted=50_520_000)
    state = Completed(input={"filePath": "a.py"}, output="", time=time, stored=kept)
    row = row_of(state, "read")
    assert (row.cleared, row.was, row.was_rough, row.loaded) == ("14:02", 6_100, True, False)
    assert row_of(done("x"), cleared={"t"}).cleared == "now"


def test_hostile_text_is_harmless_in_every_place():
    nasty = "a\x1b]0;title\x07\x1b[2J[stage] x [/\u202e"
    state = done(
        nasty, arguments={"command": nasty}, title=nasty, metadata={"diff": f"@@ -1 +1 @@\n+{nasty}"}
    )
    block = block_of(tool(state, nasty), order=(0, 0))
    assert block is not None
    assert block.tool is not None
    texts = [block.text, *(str(value) for value in msgspec.structs.asdict(block.tool).values())]
    texts += [b.text for b in blocks_of(short.user("m1", nasty))]
    for text in texts:
        assert not any(char in text for char in "\x1b\x07\u202e")
    assert block.text == "a[stage] x [/"
    assert block.tool.outcome.endswith("3 control sequences removed")
    [said] = blocks_of(short.assistant("m2", words=nasty))
    assert said.removed == 3


def test_parts_that_are_nothing_to_see_are_left_out_and_odd_ones_are_told():
    unknown = UnknownPart(id="p", session_id="s", message_id="m", raw={"type": "hologram"})
    retry = RetryPart(id="p", session_id="s", message_id="m", attempt=2, error=None)
    assert "hologram" in block_of(unknown, order=(0, 0)).text
    assert "2" in block_of(retry, order=(0, 0)).text
    thought = ReasoningPart(id="p", session_id="s", message_id="m", text="hm", time=Span(start=1))
    assert block_of(thought, order=(0, 0)).live


def test_turns_are_numbered_and_notes_end_what_went_wrong():
    entries = [
        short.user("m1", "one"),
        short.assistant("m2", short.text("m2.t", "m2", "yes")),
        short.user("m3", "two"),
        short.assistant("m4", short.text("m4.t", "m4", "no")),
    ]
    broken = msgspec.structs.replace(
        entries[3].info, error=MessageError(name="APIError", data={"message": "boom"})
    )
    stopped = msgspec.structs.replace(entries[1].info, error=MessageError(name=ABORTED))
    entries[3] = msgspec.structs.replace(entries[3], info=broken)
    entries[1] = msgspec.structs.replace(entries[1], info=stopped)
    blocks = Book(entries).blocks
    assert [b.turn for b in blocks if b.kind is Kind.USER] == [1, 2]
    notes = [b for b in blocks if b.kind is Kind.NOTE]
    assert [(b.text, b.failed) for b in notes] == [("stopped", False), ("boom", True)]


async def test_the_costs_are_those_of_the_next_request_and_add_up(tmp_path):
    model = Model(call("list", {}), say("there is nothing"))
    async with session(tmp_path, model) as rig:
        await rig.ask("look")
        view = await rig.worker.ctx.engine.view(rig.worker.ctx.profile)
        costs = costs_of(view)
        blocks = Book(rig.live.entries).blocks
    ours = {part for block in blocks for part in (block.id, *block.parts)}
    assert set(costs) <= ours
    parts = sum(item.tokens for item in view.items if item.part_id is not None)
    assert sum(cost.tokens for cost in costs.values()) == parts > 0
    assert {cost.state for cost in costs.values()} == {ItemState.SENT}


def as_shown(blocks):
    """What of blocks is to be the same live and after a reload: order is compared by sorting."""
    found = sorted(blocks, key=lambda block: block.order)
    return [
        (b.id, b.message_id, b.kind, b.text, b.turn, b.tool, b.live) for b in found if b.kind is not Kind.NOTE
    ]


def played(book: Book, events) -> dict[str, Block]:
    """The conversation after events."""
    held: dict[str, Block] = {}
    for event in events:
        change = book.take(event)
        for block_id in change.drop:
            held.pop(block_id, None)
        for block in change.put:
            held[block.id] = block
    return held


async def test_what_was_seen_live_is_what_a_reload_shows(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha\n" * 40)
    model = Model(call("read", {"filePath": "a.txt"}), say("read it " * 50), say("second"), say("third"))
    async with session(tmp_path, model) as rig:
        await rig.ask("read a.txt")
        await rig.ask("again")
        await rig.worker.compact("keep the names")
        await rig.idle()
        await rig.ask("go on")
        live = played(book := Book(), rig.events)
        entries, edits = rig.live.entries, rig.live.edits
    again = Book(entries, edits=edits)
    assert as_shown(live.values()) == as_shown(again.blocks)
    assert [b.kind for b in again.blocks].count(Kind.BOUNDARY) == 1
    rule = next(b.id for b in again.blocks if b.kind is Kind.BOUNDARY)
    assert book.facts[rule].number == again.facts[rule].number == 1
    assert book.facts[rule].archived == again.facts[rule].archived > 0
    assert book.facts[rule].before == again.facts[rule].before
    assert not book.facts[rule].auto


async def test_a_compaction_that_fails_leaves_a_sentence_and_nothing_else(tmp_path):
    model = Model(say("one " * 400), say("two " * 400))
    model.summaries = [say("   "), say("   ")]
    async with session(tmp_path, model) as rig:
        await rig.ask("a " * 200)
        await rig.ask("b " * 200)
        await rig.worker.compact(None)
        await rig.idle()
        live = played(Book(), rig.events)
    ended = [event for event in rig.events if isinstance(event, e.CompactionEnded)]
    assert ended[-1].phase == "failed"
    assert not [b for b in live.values() if b.kind in {Kind.BOUNDARY, Kind.SUMMARY}]
    note = next(b for b in live.values() if b.kind is Kind.NOTE)
    assert note.failed
    assert ended[-1].words in note.text


async def test_a_call_that_waits_for_the_user_says_so_until_it_is_answered(tmp_path):
    model = Model(call("bash", {"command": "echo hi"}), say("done"))
    async with session(tmp_path, model, allow=()) as rig:
        await rig.worker.submit("run it")
        asked = await rig.wait(e.PermissionAsked)
        book = Book()
        before = played(book, rig.events)
        phases = [b.tool.phase for b in before.values() if b.tool is not None]
        rig.worker.answer(asked.request_id, "once")
        await rig.idle()
        after = played(Book(), rig.events)
    assert phases == [Phase.WAITING]
    assert [b.tool.phase for b in after.values() if b.tool is not None] == [Phase.OK]


async def test_an_undone_compaction_shows_what_was_before(tmp_path):
    model = Model(say("one " * 400), say("two"))
    async with session(tmp_path, model) as rig:
        await rig.ask("a " * 200)
        await rig.worker.compact(None)
        await rig.idle()
        group = next(edit.group for edit in rig.live.edits if edit.kind is EditKind.COMPACT)
        entries, edits = rig.live.entries, rig.live.edits
    assert group
    hidden = {target for edit in edits for target in edit.targets}
    book = Book(entries, edits=edits, hidden=hidden, cleared=fold(edits).cleared)
    assert not [b for b in book.blocks if b.kind is Kind.BOUNDARY]
    assert book.blocks
