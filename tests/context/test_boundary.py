"""What is live: boundaries, order, tail (conformance 2.9 and 2.4; `data.md` 4)."""

import pytest

from qiming_tui.context.boundary import select_tail, unanswered, window
from qiming_tui.context.count import last_measured
from qiming_tui.context.edits import fold
from qiming_tui.context.state import WindowEdits
from qiming_tui.context.tokens import estimate
from qiming_tui.model.edits import EditKind
from qiming_tui.model.messages import Entry
from qiming_tui.model.window import Preset, Settings
from tests.context.make import asks, assistant, edit, goes_on, numbered, summary, switch, tool, user

PLAIN = WindowEdits()
U1, A1, U2, A2, U3, A3 = (
    (user if n % 2 == 0 else assistant)(f"{'ua'[n % 2]}{n // 2 + 1}", "x") for n in range(6)
)


def ids(*entries: Entry, preset: Preset = Preset.OPENCODE, edits: WindowEdits = PLAIN) -> list[str]:
    return [entry.id for entry in window(numbered(*entries), edits, preset).live]


@pytest.mark.parametrize("preset", list(Preset))
def test_facts_105_106_107_108_109_110_boundaries(preset):
    assert ids(U1, A1, U2, preset=preset) == ["u1", "a1", "u2"]
    assert ids(U1, A1, asks("c"), summary("s", "c"), U2, A2, preset=preset) == ["c", "s", "u2", "a2"]
    assert ids(preset=preset) == []
    assert ids(U1, A1, asks("c"), U2, preset=preset) == ["u1", "a1", "c", "u2"]
    failed = summary("s", "c", error="APIError")
    assert ids(U1, A1, asks("c"), failed, U2, preset=preset) == ["u1", "a1", "c", "s", "u2"]
    cut = summary("s", "c", finish=None)
    assert ids(U1, A1, asks("c"), cut, U2, preset=preset) == ["u1", "a1", "c", "s", "u2"]


def test_fact_111_a_tail_stands_between_summary_and_rest():
    made = (U1, A1, U2, A2, asks("c1", tail="u2"), summary("s1", "c1"), U3, A3)
    assert ids(*made) == ["c1", "s1", "u2", "a2", "u3", "a3"]


def test_fact_112_a_tail_may_start_at_an_assistant():
    made = (U1, A1, U2, A2, asks("c1", tail="a2"), summary("s1", "c1"), U3, A3)
    assert ids(*made) == ["c1", "s1", "a2", "u3", "a3"]


def test_a_tail_start_that_does_not_exist_is_no_tail():
    assert ids(U1, A1, asks("c1", tail="gone"), summary("s1", "c1"), U2) == ["c1", "s1", "u2"]


def test_facts_100_101_c_059_order_is_the_stored_one_never_that_of_ids():
    made = (user("z"), assistant("b", parent="z"), user("m"), assistant("a", parent="m"))
    live = window(numbered(*made), PLAIN, Preset.GUARDED)
    assert [entry.id for entry in live.live] == ["z", "b", "m", "a"]
    assert live.finished is not None
    assert live.finished.id == "a"


def test_facts_102_104_c_061_the_tail_never_counts():
    heavy = assistant("a2", "x", total=190_000)
    made = (U1, A1, U2, heavy, asks("c1", tail="u2"), summary("s1", "c1", total=136_000), goes_on("k"))
    live = window(numbered(*made), PLAIN, Preset.GUARDED)
    assert [entry.id for entry in live.live] == ["c1", "s1", "u2", "a2", "k"]
    assert last_measured(live) is None


def test_fact_42_a_second_boundary_leaves_the_first_out_of_its_tail():
    made = (U1, U2, U3, asks("c1", tail="u2"), summary("s1", "c1"), goes_on("k"), user("u4", "x"))
    again = (*made, asks("c2", tail="u3"), summary("s2", "c2"))
    assert ids(*again) == ["c2", "s2", "u3", "k", "u4"]
    live = window(numbered(*again), PLAIN, Preset.GUARDED)
    assert live.archived == ("u1", "u2", "c1", "s1")


@pytest.mark.parametrize(("finish", "words"), [("length", "x"), ("content-filter", "x"), ("stop", " \n ")])
def test_c_034_c_043_under_guarded_a_cut_or_blank_summary_is_no_boundary(finish, words):
    made = (U1, A1, asks("c"), summary("s", "c", words, finish=finish), U2)
    assert ids(*made, preset=Preset.GUARDED) == ["u1", "a1", "c", "s", "u2"]
    assert ids(*made, preset=Preset.OPENCODE) == ["c", "s", "u2"]


def test_c_036_an_unfinished_second_summary_leaves_the_first_in_force():
    made = (U1, asks("c1"), summary("s1", "c1"), U2, asks("c2"), summary("s2", "c2", finish=None))
    assert ids(*made, preset=Preset.GUARDED)[:3] == ["c1", "s1", "u2"]


def test_c_050_what_was_stored_while_the_summary_ran_follows_the_continue_message():
    made = (U1, A1, asks("c"), user("q1", "a"), summary("s", "c"), user("q2", "b"), goes_on("k"), A2)
    assert ids(*made, preset=Preset.GUARDED) == ["c", "s", "k", "q1", "q2", "a2"]


def test_an_undone_boundary_counts_in_no_preset():
    made = (U1, A1, asks("c"), summary("s", "c"), goes_on("k"), A2)
    log = [edit(1, EditKind.COMPACT, "c", "s", "k"), switch(2, "g1", False)]
    for preset in Preset:
        assert ids(*made, preset=preset, edits=fold(log)) == ["u1", "a1", "a2"]


def size(entries) -> int:
    return sum(1 + estimate(part.text) for entry in entries for part in entry.parts if hasattr(part, "text"))


def tail(*entries, settings, usable=100_000, auto=True, overflow=False):
    return select_tail(numbered(*entries), settings, size, usable=usable, auto=auto, overflow=overflow)


def opencode(**fields) -> Settings:
    return Settings(preset=Preset.OPENCODE, **fields)


FIRST, SECOND, THIRD = user("u1", "first"), user("u2", "second"), user("u3", "third")


def test_the_articles_have_no_tail_unless_it_is_configured():
    assert tail(FIRST, SECOND, settings=opencode()).tail_start_id is None
    assert tail(FIRST, SECOND, settings=opencode(tail_turns=0)).tail_start_id is None


def test_fact_27_two_turns_are_kept():
    made = tail(FIRST, SECOND, THIRD, settings=opencode(tail_turns=2, preserve_recent_tokens=10_000))
    assert made.tail_start_id == "u2"
    assert [entry.id for entry in made.head] == ["u1"]


def test_fact_28_a_turn_that_does_not_fit_is_not_kept():
    made = tail(
        FIRST,
        user("u2", "x" * 2000),
        user("u3", "tiny"),
        settings=opencode(tail_turns=2, preserve_recent_tokens=100),
    )
    assert made.tail_start_id == "u3"


def test_fact_29_nothing_fits_then_everything_is_summarised():
    made = tail(FIRST, user("u2", "y" * 2000), settings=opencode(tail_turns=1, preserve_recent_tokens=20))
    assert made.tail_start_id is None
    assert len(made.head) == 2


def test_fact_44_a_tail_that_would_start_at_the_beginning_is_none():
    made = tail(FIRST, SECOND, settings=opencode(preserve_recent_tokens=10_000))
    assert made.tail_start_id is None
    assert len(made.head) == 2


def test_fact_45_a_suffix_of_a_turn_may_be_kept():
    made = tail(
        FIRST,
        user("u2", "z" * 4000),
        assistant("a2", "short"),
        assistant("a3", "too"),
        settings=opencode(preserve_recent_tokens=50),
    )
    assert made.tail_start_id == "a2"


def test_a_refused_message_is_replayed_only_where_something_real_stands_before_it():
    made = tail(U1, A1, U2, settings=opencode(), overflow=True)
    assert made.replay is not None
    assert made.replay.id == "u2"
    assert [entry.id for entry in made.head] == ["u1", "a1"]
    alone = tail(U2, settings=opencode(), overflow=True)
    assert alone.replay is None
    assert [entry.id for entry in alone.head] == ["u2"]


GUARDED = Settings()


def test_sequence_8_the_unanswered_message_is_always_kept():
    big = user("u3", "x" * 400_000)
    made = tail(U1, A1, U2, A2, big, settings=GUARDED)
    assert made.tail_start_id == "u3"
    assert made.waiting
    none = tail(U1, A1, U2, A2, big, settings=Settings(tail_turns=0))
    assert none.tail_start_id == "u3"


def test_guarded_tails_start_at_a_real_user_message_and_count_real_turns():
    work = (user("u1", "x" * 90_000), assistant("a1", "x"), goes_on("k"), assistant("a2", "y"))
    made = tail(*work, user("u2", "short"), assistant("a3", "z"), settings=GUARDED, usable=20_000)
    assert made.tail_start_id == "u2"
    assert not made.waiting
    assert tail(*work, settings=GUARDED, usable=20_000).tail_start_id is None


@pytest.mark.parametrize(("auto", "head"), [(True, ["u1", "a1"]), (False, ["u1", "a1", "u2", "a2"])])
def test_every_turn_fits(auto, head):
    made = tail(U1, A1, U2, A2, settings=GUARDED, auto=auto)
    assert [entry.id for entry in made.head] == head
    waiting = tail(U1, A1, U2, settings=GUARDED, auto=auto)
    assert waiting.tail_start_id == "u2"
    assert [entry.id for entry in waiting.head] == ["u1", "a1"]


def test_the_number_of_turns_is_limited_where_it_is_set():
    made = tail(U1, A1, U2, A2, U3, A3, settings=Settings(tail_turns=1))
    assert made.tail_start_id == "u3"


def test_answers_that_said_nothing_do_not_answer():
    refused = assistant("r", finish=None)
    broken = assistant("e", "half", error="APIError", finish="error")
    assert unanswered([U1, A1, U2, refused]) == 2
    assert unanswered([U1, A1, U2, broken]) == 2
    assert unanswered([U1, A1, U2, user("q", "and")]) == 2
    assert unanswered([U1, assistant("a", tool("a", "p"))]) is None
    assert unanswered([]) is None
