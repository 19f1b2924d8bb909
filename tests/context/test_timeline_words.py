"""What the timeline says; and sessions of another program, of which there is no ledger."""

import msgspec
import pytest

from qiming_tui.context.strip import turns_of
from qiming_tui.context.timeline import columns_of
from qiming_tui.context.timeline_layout import Slot
from qiming_tui.context.timeline_modes import Mode
from qiming_tui.context.timeline_past import rebuilt
from qiming_tui.context.timeline_words import (
    HEADS,
    header,
    place_of_label,
    readout,
    search,
    table_row,
    texts_of,
)
from qiming_tui.importers import opencode
from qiming_tui.model.limits import Limits
from qiming_tui.model.window import Settings
from tests.context.make import assistant, numbered, tool, user
from tests.context.timelines import columns
from tests.importers.samples import sample

LIMITS = Limits(200_000, None, 32_000)


def said(found, place, mode=Mode.WINDOW, slot=None):
    return "  ".join("".join(text for _, text in fact) for fact in readout(found, place, mode, slot))


def test_the_readout_says_what_the_columns_show():
    found = columns()
    assert said(found, 28).startswith("step 29  T8  C C1 auto 171.2k -> 24.3k  summary request 160.4k")
    assert "measured before 171.6k -> after 25.6k" in said(found, 28)
    assert "not sent :~24.0k of 1 result" in said(found, 12)
    assert "most by R bash" in said(found, 9)
    assert "cost $0.10  cached 81.9k of 109.2k 75%" in said(found, 9)
    assert said(found, 9, Mode.CACHE).startswith("step 10  T3  109.6k 65%  cached 81.9k of 109.2k 75%")
    assert said(found, 9, slot=Slot(4, 9, 9, 1)).startswith("step 10  largest of 5 to 10  T3")


def test_the_header_names_both_sides():
    assert header(columns()) == ("archived (kept) T1-T8 171.6k", "live window T8-T12")
    assert header(columns()[30:]) == ("", "live window T8-T12")
    assert header(()) == ("", "live window")


def test_the_table_has_the_same_figures():
    found = columns()
    rows = [table_row(column) for column in found]
    assert {len(row) for row in rows} == {len(HEADS)}
    named = dict(zip(HEADS, rows[9], strict=True))
    assert named["step"] == "10"
    assert named["total"] == f"{found[9].mark.count:,}"
    assert named["%"] == "65"
    assert named["cost"] == "$0.10"
    assert named["verdict"] == "ok, kept"
    assert rows[28][2].startswith("C C1 auto")
    assert rows[28][-1] == "summary, kept"


def test_a_step_is_found_by_its_words_its_calls_and_its_events():
    entries = numbered(
        user("u1", "Fix the CLOCK"),
        assistant("msg_1", "I read it", tool("msg_1", "p1", "time.sleep in setUp")),
        user("u2", "and now"),
        assistant("msg_2", "done"),
    )
    found = columns()
    texts = texts_of(entries)
    assert search(found, texts, "clock") == (0,)
    assert search(found, texts, "SETUP read") == (0,)
    assert search(found, texts, "now") == (1,)
    assert search(found, texts, "cleared results") == (11, 42)
    assert search(found, texts, "clock now") == ()
    assert search(found, texts, " ") == ()


@pytest.fixture(scope="module")
def past():
    """Both samples as columns."""

    def made(name):
        record = opencode.read(sample(name)).record
        rows, shares = rebuilt(record.entries, record.edits, known=(), settings=Settings(), limits=LIMITS)
        return columns_of((), shares, record.edits, turns_of(record.entries), past=rows)

    return {name: made(name) for name in ("compaction-1.4.3", "pruned-1.2.20")}


def test_a_recorded_session_has_its_boundary_with_the_sizes_of_its_file(past):
    found = past["compaction-1.4.3"]
    assert len(found) == 69
    boundaries = [n for n, column in enumerate(found) if column.mark.boundary]
    assert len(boundaries) == 1
    place = boundaries[0]
    assert found[place].mark.letter in "Cc"
    assert found[place - 1].mark.count == 112_579
    assert found[place + 1].mark.count == 16_514
    assert "measured before 112.6k -> after 16.5k" in said(found, place)
    assert all(column.rebuilt and column.label.startswith("~") for column in found)
    assert "rebuilt from the messages" in said(found, 0)
    assert found[place + 1].bands[-1] > 0, "what the file does not hold is not given to a class"
    assert found[place + 1].bands[1] > 0, "the summary is in the window now"
    for column in found:
        if column.mark.count and not column.mark.summary:
            assert sum(column.bands) >= column.mark.count


def test_a_recorded_prune_is_one_event_of_29_results_and_leaves_a_ghost(past):
    found = past["pruned-1.2.20"]
    events = [event.words for column in found for event in column.mark.events if event.letter == "P"]
    assert events == ["cleared 29 results"]
    place = next(n for n, column in enumerate(found) if column.mark.letter == "P")
    assert [c.ghost for c in found[: place + 1]] == [0] * (place + 1)
    assert found[-1].share is not None
    assert found[-1].share.cleared == 29
    assert 15_000 < found[-1].ghost < 30_000, "88,938 characters"


def test_only_what_is_older_than_the_ledger_is_rebuilt():
    entries = numbered(user("u1", "a"), assistant("a1", "x"), user("u2", "b"), assistant("a2", "y"))
    rows, shares = rebuilt(entries, (), known={"a2"}, settings=Settings(), limits=LIMITS)
    assert [row.message_id for row in rows] == ["a1"]
    own = msgspec.structs.replace(rows[0], id="req", step=1, message_id="a2")
    found = columns_of([own], shares, (), turns_of(entries), past=rows)
    assert [column.label for column in found] == ["~1", "1"]
    assert place_of_label(found, 1) == 1
    assert place_of_label(columns(), 12) == 11
    assert place_of_label((), 12) == 0
