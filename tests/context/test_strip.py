"""The strip's steps: tenths that never flatter, events at the step where they happened, the live window."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.strip import live_range, marks_of, tenth, turns_of
from qiming_tui.context.strip_cells import (
    LINE,
    columns_of,
    next_event,
    next_turn,
    place_of,
    scrolled,
    stepped,
)
from qiming_tui.context.strip_words import facts, legend, spoken
from qiming_tui.model.edits import EditKind, Switch
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from tests.context.make import assistant, user
from tests.tui.strips import edit, edits, marks, row, rows, sized


def text(mark):
    return "  ".join("".join(part for _, part in fact) for fact in facts(mark))


@pytest.mark.parametrize(
    ("count", "usable", "digit"),
    [
        (0, 168_000, "0"),
        (16_799, 168_000, "0"),
        (16_800, 168_000, "1"),
        (167_999, 168_000, "9"),
        (168_000, 168_000, "!"),
        (500_000, 168_000, "!"),
        (0, 0, "!"),
        (5, None, "?"),
    ],
)
def test_a_digit_is_whole_tenths_and_a_mark_at_or_over(count, usable, digit):
    assert tenth(count, usable) == digit


@given(st.integers(0, 10**7), st.integers(1, 10**6))
def test_a_digit_is_never_more_than_there_is_and_grows_with_it(count, usable):
    digit = tenth(count, usable)
    if digit == "!":
        assert count >= usable
    else:
        assert int(digit) * usable <= 10 * count < (int(digit) + 1) * usable
    assert "0123456789!".index(tenth(count + 1, usable)) >= "0123456789!".index(digit)


def test_the_session_of_the_pictures():
    found = marks()
    assert "".join(mark.tenth for mark in found) == "123344556675567788967788999!Z112233444566755555"
    assert {mark.step: mark.letter for mark in found if mark.letter} == {
        12: "P",
        20: "P",
        28: "!",
        29: "C",
        43: "P",
    }
    assert live_range(found) == (30, 47)
    assert [mark.step for mark in found if not mark.live] == list(range(1, 30))
    assert found[28].grew is None
    assert found[29].grew is None, "the first step after a boundary did not shrink: it is another window"
    assert found[30].grew == 0
    assert found[1].grew == sized("2") - sized("1")


def test_an_undone_compaction_gives_the_window_back_and_stays_in_the_history():
    switch = Switch(id="swt", session_id="ses", seq=99, group="grp_29", on=False, at=47_600)
    found = marks_of(rows(), [*edits(), switch])
    assert all(mark.live for mark in found)
    assert found[28].letter == "C"
    assert found[28].events[0].words == "C1 auto 171.2k -> 24.3k, undone"
    assert [event.words for event in found[46].events] == ["undid C1"]
    assert LINE not in columns_of(found)


def test_by_hand_is_another_letter_and_pins_and_restores_are_told():
    found = marks_of(
        [row(1, 10), row(2, 20, kind=RequestKind.SUMMARY), row(3, 30)],
        [
            edit(EditKind.COMPACT, 2, "msg_a", "msg_2", by="user"),
            edit(EditKind.PIN, 3, "msg_1"),
        ],
    )
    assert found[1].events[0].letter == "c"
    assert found[2].events[0].letter == "i"
    restored = marks_of([row(1, 10)], [edit(EditKind.RESTORE, 1, "p1", "p2")])
    assert [(event.letter, event.words) for event in restored[0].events] == [("u", "restored 2 results")]


def test_a_failed_summary_is_no_boundary_and_no_size_of_the_window():
    failed = row(2, 150_000, kind=RequestKind.SUMMARY, outcome=Outcome.ERROR, fault="broke [/b] off\x1b[31m")
    found = marks_of([row(1, 100_000), failed, row(3, 101_000)], [])
    assert all(mark.live for mark in found)
    assert [mark.tenth for mark in found] == ["5", "Z", "6"]
    assert found[2].grew == 1_000
    assert found[1].events[0].letter == "x"
    assert found[1].events[0].words == "failed: broke [/b] off"


def test_what_was_sent_again_is_a_retry_what_was_not_is_an_error():
    same = {"view_hash": "a" * 64}
    found = marks_of(
        [
            row(1, 10, outcome=Outcome.ERROR, fault="429", **same),
            row(2, 10, outcome=Outcome.ERROR, fault="503", **same),
            row(3, 20),
        ],
        [],
    )
    assert [mark.letter for mark in found] == ["~", "x", ""]


def test_refused_is_an_event_although_the_digit_is_under():
    found = marks_of([row(1, 10_000, outcome=Outcome.REFUSED)], [])
    assert (found[0].tenth, found[0].letter) == ("0", "!")
    assert "refused by the provider" in text(found[0])


def test_a_model_switch_is_told_once_and_not_for_a_summary_by_another_model():
    found = marks_of(
        [
            row(1, 10),
            row(2, 10, kind=RequestKind.SUMMARY, model="p/small"),
            row(3, 10),
            row(4, 10, model="q/b"),
            row(5, 10, model="q/b"),
        ],
        [],
    )
    assert [mark.letter for mark in found] == ["", "", "", "m", ""]
    assert found[3].events[0].words == "model q/b"


def test_titles_are_no_steps():
    assert [mark.step for mark in marks_of([row(0, 5, kind=RequestKind.TITLE), row(1, 10)], [])] == [1]


def test_the_measured_answer_decides_where_it_is_believed():
    good = row(1, 50_000, usage=Usage(input=60_000, output=1_000), limits=_wide())
    absurd = row(2, 50_000, usage=Usage(input=900_000, output=1), limits=_wide())
    found = marks_of([good, absurd], [])
    assert (found[0].count, found[0].basis) == (61_000, Basis.MEASURED)
    assert (found[1].count, found[1].basis) == (50_000, Basis.PREDICTED)
    naive = marks_of([msgspec.structs.replace(absurd, preset="qiming")], [])
    assert naive[0].tenth == "!", "the articles' rules believe what is reported"


def _wide():
    limits = row(1, 1).limits
    return msgspec.structs.replace(limits, context=200_000)


def test_turns_come_from_what_a_person_wrote():
    entries = [user("u1", "hello"), assistant("a1"), user("u2", "more"), assistant("a2")]
    assert turns_of(entries) == {"u1": 1, "a1": 1, "u2": 2, "a2": 2}
    found = marks_of([row(1, 1, message_id="a1"), row(2, 1, message_id="gone")], [], turns_of(entries))
    assert [mark.turn for mark in found] == [1, 1], "a step without a message belongs to the turn before"


def test_the_line_has_a_cell_of_its_own():
    columns = columns_of(marks())
    assert columns.index(LINE) == 29
    assert [column for column in columns if column != LINE] == list(range(47))


@given(st.integers(0, 400), st.integers(1, 400), st.integers(1, 90), st.data())
def test_the_cursor_is_always_among_the_shown_cells(start, total, room, data):
    at = data.draw(st.integers(0, total - 1))
    first = scrolled(start, at=at, total=total, room=room)
    assert first <= at < first + room
    assert 0 <= first <= max(0, total - room)
    assert scrolled(first, at=at, total=total, room=room) == first, "it does not move by itself"


def test_cursor_moves():
    found = marks()
    assert (stepped(found, 0, -1), stepped(found, 46, 1), stepped(found, 5, 1)) == (0, 46, 6)
    assert next_event(found, 0, 1) == 11
    assert next_event(found, 11, -1) == 11, "there is none before the first"
    assert next_event(found, 46, -1) == 42
    assert next_turn(found, 0, 1) == 4
    assert next_turn(found, 5, -1) == 4
    assert next_turn(found, 4, -1) == 0
    assert (place_of(found, 29), place_of(found, 0), place_of(found, 999)) == (28, 0, 46)


def test_words_of_a_step():
    found = marks()
    assert text(found[27]) == (
        "step 28  T7  ~171.2k 102%  ! over by 3.2k  grew +11.6k  archived, kept  predicted"
    )
    assert text(found[28]).startswith("step 29  T8  C C1 auto 171.2k -> 24.3k  summary request ~160.0k")
    assert text(found[11]).startswith("step 12  T3  ~92.4k 55%  P cleared 2 results 110.0k -> 73.8k")
    assert spoken(found[27]) == (
        "step 28 of turn 7, 171,204 tokens of 168,000 usable (predicted), over by 3.2k"
    )
    assert "usable unknown" in text(msgspec.structs.replace(found[0], usable=None))
    assert "stopped by you" in text(msgspec.structs.replace(found[0], ended=Outcome.ABORTED))


def test_the_legend_explains_only_what_is_there_and_what_fits():
    found = marks()
    assert legend(found, 80) == "P prune  C compact  ! over"
    assert legend(found, 20) == "P prune  C compact"
    assert legend(found, 8) == "P prune"
    assert legend((), 80) == ""
