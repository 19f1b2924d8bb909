"""The worked sequences of `data.md` 3, each with the exact next body."""

from typing import Any

import pytest

from qiming_tui.context.assemble import assemble
from qiming_tui.context.edits import check_undo
from qiming_tui.context.forms import Order
from qiming_tui.context.outcome import Identity, needs_continue, replay_entry
from qiming_tui.context.summary import SummaryRequest, prepare
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.edits import EditKind, EditRecord
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import CONTINUE_TEXT, PLACEHOLDER
from qiming_tui.model.window import Preset, Settings
from tests.context.make import (
    MODEL,
    S,
    asks,
    assistant,
    edit,
    goes_on,
    state,
    summary,
    switch,
    tool,
    user,
)

SETTINGS = Settings(preset=Preset.OPENCODE)

WHAT = {"role": "user", "content": "What did we do so far?"}
SUMMARY = {"role": "assistant", "content": "the summary"}
CONTINUE = {"role": "user", "content": CONTINUE_TEXT}


def said(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def answered(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


def called(part: str, result: str) -> list[dict[str, Any]]:
    """The provider messages of `tool(...)`."""
    function = {"name": "read", "arguments": f'{{"path":"{part}"}}'}
    call = {"id": f"call_{part}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{part}", "content": result},
    ]


def sent(entries: list[Entry], log: list[EditRecord], settings: Settings = SETTINGS) -> list[Any]:
    view = build(state(*entries, edits=tuple(log)), settings, Tally())
    messages: list[Any] = assemble(view.params, view.items)["messages"]
    return messages


U1, U2, U3 = (user(f"u{n}", f"say {n}") for n in (1, 2, 3))
A1, A2, A3 = (assistant(f"a{n}", f"answer {n}") for n in (1, 2, 3))
COMPACT = edit(1, EditKind.COMPACT, "c1", "s1", "k1", group="C1")


def test_sequence_1_prune_restore_and_their_undos():
    history = [
        user("u", "go"),
        assistant("a1", tool("a1", "r1", "one")),
        assistant("a2", tool("a2", "r2", "two")),
    ]

    def body(first: str, second: str) -> list[Any]:
        return [said("go"), *called("r1", first), *called("r2", second)]

    log: list[EditRecord] = [edit(1, EditKind.CLEAR, "r1", "r2", group="prune")]
    assert sent(history, log) == body(PLACEHOLDER, PLACEHOLDER)
    log.append(edit(2, EditKind.RESTORE, "r1", group="restore"))
    assert sent(history, log) == body("one", PLACEHOLDER)
    log.append(switch(3, "restore", False))
    assert sent(history, log) == body(PLACEHOLDER, PLACEHOLDER)
    log.append(switch(4, "prune", False))
    assert sent(history, log) == body("one", "two")


def test_sequence_2_undo_and_redo_of_a_compaction():
    history = [U1, A1, U2, A2, asks("c1"), summary("s1", "c1"), goes_on("k1"), A3]
    compacted = [WHAT, SUMMARY, CONTINUE, answered("answer 3")]
    assert sent(history, [COMPACT]) == compacted
    undone = [COMPACT, switch(2, "C1", False)]
    whole = [said("say 1"), answered("answer 1"), said("say 2"), answered("answer 2"), answered("answer 3")]
    assert sent(history, undone) == whole
    assert sent(history, [*undone, switch(3, "C1", True)]) == compacted


def test_sequence_3_undo_hides_the_replayed_copy_and_its_answer_stays():
    copy = replay_entry(
        U2, Identity(session_id=S, message_id="copy", part_id=lambda: "prt_copy", now=1, model=MODEL)
    )
    history = [U1, A1, U2, asks("c1", overflow=True), summary("s1", "c1"), copy, A2]
    log: list[EditRecord] = [edit(1, EditKind.COMPACT, "c1", "s1", "copy", group="C1")]
    assert sent(history, log) == [WHAT, SUMMARY, said("say 2"), answered("answer 2")]
    log.append(switch(2, "C1", False))
    assert sent(history, log) == [said("say 1"), answered("answer 1"), said("say 2"), answered("answer 2")]


def test_sequence_4_the_older_of_two_compactions_cannot_be_undone_first():
    history = [U1, A1, asks("c1"), summary("s1", "c1"), U2, A2, asks("c2"), summary("s2", "c2", "newer"), U3]
    log: list[EditRecord] = [
        edit(1, EditKind.COMPACT, "c1", "s1", group="C1"),
        edit(2, EditKind.COMPACT, "c2", "s2", group="C2"),
    ]
    with pytest.raises(EditRefused, match="undo C2 first"):
        check_undo(log, "C1")
    assert sent(history, log) == [WHAT, answered("newer"), said("say 3")]
    log.append(switch(3, "C2", False))
    assert sent(history, log) == [WHAT, SUMMARY, said("say 2"), answered("answer 2"), said("say 3")]
    assert check_undo(log, "C1").id == "C1"


def test_sequence_5_pins_stand_after_the_summary_as_they_were():
    history = [U1, assistant("a1", tool("a1", "r1", "changed since")), asks("c1"), summary("s1", "c1")]
    history.append(goes_on("k1"))
    pin = edit(1, EditKind.PIN, "r1", text="the result", source="read r1")
    log: list[EditRecord] = [pin]
    live = sent(history[:2], log)
    assert live == [said("say 1"), *called("r1", "changed since")]
    log.append(edit(2, EditKind.COMPACT, "c1", "s1", "k1", group="C1"))
    pinned = said("[Pinned by the user, from read r1]\nthe result")
    assert sent(history, log) == [WHAT, SUMMARY, pinned, CONTINUE]
    log.append(edit(3, EditKind.PIN, "a9", text="another", source=""))
    two = sent(history, log)[2]["content"]
    assert [block["text"] for block in two] == [
        pinned["content"],
        "[Pinned by the user, from this session]\nanother",
    ]
    log += [edit(4, EditKind.UNPIN, "r1"), edit(5, EditKind.UNPIN, "a9")]
    assert sent(history, log) == [WHAT, SUMMARY, CONTINUE]


def test_sequence_5_what_the_tail_still_holds_is_not_said_twice():
    history = [
        U1,
        A1,
        U2,
        assistant("a2", tool("a2", "r2", "two")),
        asks("c1", tail="u2"),
        summary("s1", "c1"),
    ]
    log: list[EditRecord] = [edit(1, EditKind.PIN, "r2", text="two", source="read")]
    assert sent(history, log) == [WHAT, SUMMARY, said("say 2"), *called("r2", "two")]


def test_sequence_6_the_users_text_for_a_summary():
    history = [U1, A1, asks("c1"), summary("s1", "c1"), U2]
    log: list[EditRecord] = [edit(1, EditKind.SUMMARY_EDIT, "s1", group="mine", text="my words")]
    assert sent(history, log) == [WHAT, answered("my words"), said("say 2")]
    view = build(state(*history, edits=tuple(log)), SETTINGS, Tally())
    assert next(item for item in view.items if item.message_id == "s1").source == "edited"
    log.append(switch(2, "mine", False))
    assert sent(history, log) == [WHAT, SUMMARY, said("say 2")]


def test_sequence_7_a_clear_by_hand_is_applied_at_once():
    history = [U1, assistant("a1", tool("a1", "r1", "x")), U2]
    assert sent(history, [edit(1, EditKind.CLEAR, "r1")]) == [
        said("say 1"),
        *called("r1", PLACEHOLDER),
        said("say 2"),
    ]


def test_sequence_8_guarded_keeps_the_unanswered_message_and_needs_no_continue():
    guarded = Settings()
    turns = [user("u1", "say 1 " + "word " * 900), A1, user("u2", "say 2"), A2, U3]
    request = prepare(state(*turns), guarded, Tally(), Order(auto=True))
    assert isinstance(request, SummaryRequest)
    assert request.tail_start_id == "u2"
    assert request.head_ids == ("u1", "a1")
    assert not needs_continue(
        turns, preset=guarded.preset, auto=True, waiting=request.waiting, replayed=False
    )
    history = [*turns, asks("c1", tail=request.tail_start_id), summary("s1", "c1")]
    log: list[EditRecord] = [edit(1, EditKind.COMPACT, "c1", "s1", group="C1")]
    tail = [said("say 2"), answered("answer 2"), said("say 3")]
    assert sent(history, log, guarded) == [WHAT, SUMMARY, *tail]
    log.append(switch(2, "C1", False))
    first = said(turns[0].text)
    assert sent(history, log, guarded) == [first, answered("answer 1"), *tail]


def test_c_058_after_an_undo_the_messages_before_come_back_byte_for_byte():
    history = [U1, A1]
    before = sent(history, [])
    later = [*history, asks("c1"), summary("s1", "c1"), U2, A2]
    log: list[EditRecord] = [edit(1, EditKind.COMPACT, "c1", "s1", group="C1"), switch(2, "C1", False)]
    after = sent(later, log)
    assert after[: len(before)] == before
    assert after[len(before) :] == [said("say 2"), answered("answer 2")]
