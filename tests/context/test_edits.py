"""The fold over the log of edits, undo and redo: data.md 3, cases C-030 and C-058."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.edits import check_redo, check_undo, fold, groups, is_cleared, redoable, undoable
from qiming_tui.context.state import Pin, WindowEdits
from qiming_tui.model.edits import EditKind
from qiming_tui.model.errors import EditRefused
from tests.context.short import edit, off, on, tool

CLEAR, RESTORE, PIN, UNPIN = EditKind.CLEAR, EditKind.RESTORE, EditKind.PIN, EditKind.UNPIN
COMPACT, CLIP, SUMMARY_EDIT = EditKind.COMPACT, EditKind.CLIP, EditKind.SUMMARY_EDIT


def test_an_empty_log_changes_nothing():
    assert fold(()) == WindowEdits()
    assert undoable(()) is None
    assert redoable(()) is None


def test_sequence_1_prune_restore_and_their_undos():
    log = [edit(1, "p", CLEAR, "r1", "r2"), edit(2, "r", RESTORE, "r1")]
    assert fold(log).cleared == {"r2"}
    assert fold(log).restored == {"r1"}
    assert undoable(log).id == "r"
    log.append(off(3, "r"))
    assert fold(log).cleared == {"r1", "r2"}
    assert undoable(log).id == "p"
    log.append(off(4, "p"))
    assert fold(log).cleared == frozenset()
    assert fold(log).inactive == {"p", "r"}
    assert undoable(log) is None
    assert redoable(log).id == "p"
    log.append(on(5, "p"))
    assert fold(log).cleared == {"r1", "r2"}
    assert redoable(log).id == "r"
    log.append(on(6, "r"))
    assert fold(log).cleared == {"r2"}
    assert redoable(log) is None


def test_c_030_what_an_undone_prune_took_is_left_alone():
    log = [edit(1, "p", CLEAR, "r1", "r2"), off(2, "p"), edit(3, "again", CLEAR, "r2")]
    assert fold(log).restored == {"r1"}
    assert fold(log).cleared == {"r2"}
    assert fold([*log, on(4, "p")]).restored == frozenset()


def test_sequence_2_an_undone_compaction_hides_its_messages():
    log = [edit(1, "c", COMPACT, "uc", "s", "k", by="prune+summary")]
    assert fold(log).hidden == frozenset()
    assert fold([*log, off(2, "c")]).hidden == {"uc", "s", "k"}
    assert fold([*log, off(2, "c"), on(3, "c")]).hidden == frozenset()


def test_sequence_4_an_older_compaction_waits_for_the_newer_one():
    log = [edit(1, "c1", COMPACT, "uc1", "s1"), edit(2, "c2", COMPACT, "uc2", "s2")]
    with pytest.raises(EditRefused, match="undo C2 first"):
        check_undo(log, "c1")
    assert check_undo(log, "c2").name == "C2"
    log.append(off(3, "c2"))
    assert check_undo(log, "c1").name == "C1"
    log.append(off(4, "c1"))
    assert fold(log).hidden == {"uc1", "s1", "uc2", "s2"}
    with pytest.raises(EditRefused, match="redo C1 first"):
        check_redo(log, "c2")
    assert redoable(log).id == "c1"
    log.append(on(5, "c1"))
    assert redoable(log).id == "c2"
    assert check_redo(log, "c2").id == "c2"


def test_a_compaction_made_after_an_undo_comes_back_without_the_undone_one():
    log = [edit(1, "c1", COMPACT, "s1"), off(2, "c1"), edit(3, "c2", COMPACT, "s2")]
    with pytest.raises(EditRefused, match="undo C2 first"):
        check_redo(log, "c1")
    log.append(off(4, "c2"))
    assert check_redo(log, "c2").id == "c2", "C1 was undone when C2 was made"
    assert check_redo(log, "c1").id == "c1"
    log.append(on(5, "c1"))
    with pytest.raises(EditRefused, match="undo C1 first"):
        check_redo(log, "c2")


def test_sequence_5_pins_are_snapshots_in_the_order_of_pinning():
    log = [
        edit(1, "a", PIN, "r1", text="one", source="read a.py"),
        edit(2, "b", PIN, "r2", text="two", source="bash"),
        edit(3, "c", PIN, "r1", text="one, later", source="read a.py"),
    ]
    later = Pin(target="r1", text="one, later", source="read a.py")
    second = Pin(target="r2", text="two", source="bash")
    assert fold(log).pins == (second, later)
    assert fold([*log, edit(4, "d", UNPIN, "r2")]).pins == (later,)
    assert fold([*log, off(4, "c")]).pins == (Pin(target="r1", text="one", source="read a.py"), second)
    assert fold([*log, edit(4, "d", UNPIN, "r2"), off(5, "d")]).pins == (second, later)


def test_sequence_6_the_users_summary_and_its_undo():
    log = [edit(1, "e", SUMMARY_EDIT, "s1", text="mine"), edit(2, "f", SUMMARY_EDIT, "s1", text="better")]
    assert fold(log).summaries == {"s1": "better"}
    assert fold([*log, off(3, "f")]).summaries == {"s1": "mine"}
    assert fold([*log, off(3, "f"), off(4, "e")]).summaries == {}


def test_clips_keep_so_many_characters_and_a_restore_ends_them():
    log = [edit(1, "a", CLIP, "r1", "r2", chars=200)]
    assert fold(log).clipped == {"r1": 200, "r2": 200}
    assert fold([*log, edit(2, "b", RESTORE, "r1")]).clipped == {"r2": 200}
    assert fold([edit(1, "a", CLIP, "r1", chars="lots")]).clipped == {}
    assert fold([edit(1, "a", CLIP, "r1", chars=-5)]).clipped == {"r1": 0}


def test_records_are_taken_in_their_order_whatever_the_order_they_come_in():
    log = [edit(2, "r", RESTORE, "r1"), edit(1, "p", CLEAR, "r1")]
    assert fold(log).cleared == frozenset()
    assert fold([off(3, "r"), *log]).cleared == {"r1"}


def test_a_switch_of_a_group_that_does_not_exist_changes_nothing():
    assert fold([off(1, "ghost")]) == WindowEdits()


@pytest.mark.parametrize(
    ("check", "log", "group", "why"),
    [
        (check_undo, [], "x", "no edit x"),
        (check_undo, [edit(1, "p", CLEAR, "r1"), off(2, "p")], "p", "undone already"),
        (check_redo, [edit(1, "p", CLEAR, "r1")], "p", "not undone"),
        (check_redo, [], "x", "no edit x"),
    ],
)
def test_what_cannot_be_undone_or_redone_says_why(check, log, group, why):
    with pytest.raises(EditRefused, match=why):
        check(log, group)


def test_any_other_edit_may_be_undone_out_of_order():
    log = [edit(1, "p", CLEAR, "r1"), edit(2, "c", COMPACT, "uc", "s"), edit(3, "q", PIN, "r2", text="x")]
    assert check_undo(log, "p").id == "p"
    assert check_undo(log, "c").id == "c"


def test_a_new_edit_ends_the_line_of_redos_but_not_the_way_by_name():
    log = [edit(1, "p", CLEAR, "r1"), off(2, "p"), edit(3, "q", CLEAR, "r2")]
    assert redoable(log) is None
    assert check_redo(log, "p").id == "p"


def test_groups_tell_what_they_are():
    log = [edit(1, "p", CLEAR, "r1"), edit(2, "p", CLEAR, "r2"), edit(3, "c", COMPACT, "s"), off(4, "p")]
    prune, compaction = groups(log)
    assert (prune.name, prune.active, prune.switched, prune.seq) == ("clear", False, 4, 2)
    assert (compaction.name, compaction.active, compaction.switched) == ("C1", True, None)
    assert compaction.compaction
    assert not prune.compaction


def test_the_stored_mark_decides_only_for_parts_that_no_edit_named():
    marked, plain = tool("r1", "x", cleared=True), tool("r2", "x")
    nothing = fold(())
    assert is_cleared(marked, nothing)
    assert not is_cleared(plain, nothing)
    undone = fold([edit(1, "p", CLEAR, "r1", "r2"), off(2, "p")])
    assert not is_cleared(marked, undone), "the mark is a projection that may lag behind"
    restored = [edit(1, "r", RESTORE, "r1")]
    assert not is_cleared(marked, fold(restored))
    assert is_cleared(marked, fold([*restored, off(2, "r")])), "it came cleared"


kinds = st.sampled_from([CLEAR, RESTORE, PIN, UNPIN, CLIP, SUMMARY_EDIT])


@st.composite
def logs(draw):
    """Random edits in groups, with undos and redos in any order."""
    records = []
    for seq in range(draw(st.integers(0, 14))):
        group = draw(st.sampled_from("abcd"))
        if records and draw(st.booleans()):
            records.append(draw(st.sampled_from([off, on]))(seq, group))
        else:
            target = draw(st.sampled_from(["r1", "r2", "r3"]))
            records.append(edit(seq, group, draw(kinds), target, text=str(seq), source="t", chars=seq))
    return records


@given(logs())
def test_undo_then_redo_of_any_group_gives_the_same_window(log):
    before = fold(log)
    for group in groups(log):
        if group.active:
            undone = [*log, off(100, group.id)]
            assert fold([*undone, on(101, group.id)]) == before


def came_cleared(log):
    first = {}
    for group in groups(log):
        for one in group.edits:
            for target in one.targets if one.kind in (CLEAR, RESTORE) else ():
                first[target] = min(first.get(target, one), one, key=lambda it: it.seq)
    return {target for target, one in first.items() if one.kind is RESTORE}


@given(logs())
def test_an_undone_group_is_as_if_it_had_never_been_but_for_what_is_left_alone(log):
    for group in groups(log):
        undone = fold([*log, off(100, group.id)])
        without = [r for r in log if r.group != group.id]
        never = fold(without)
        assert undone.pins == never.pins
        assert undone.clipped == never.clipped
        assert undone.summaries == never.summaries
        # A part whose first edit is a restore came cleared; leaving a group out may change what is first.
        came = came_cleared(log) | came_cleared(without)
        assert undone.cleared - came == never.cleared - came


@given(logs())
def test_nothing_is_both_cleared_and_restored(log):
    found = fold(log)
    assert not found.cleared & found.restored
    assert found.cleared | found.restored <= found.touched
