"""What a compaction did to every message, and that an undo of it changes nothing about the report."""

from qiming_tui.context.fate import EARLIER, Fate, before_after, current_summary, mark_of, marks_of, moment
from qiming_tui.context.tokens import Tally
from qiming_tui.model.edits import EditKind
from qiming_tui.model.parts import StoredOutput
from qiming_tui.model.window import Preset, Settings
from tests.context.make import (
    SYSTEM,
    TOOLS,
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

LONG = "word " * 200
TALK = (
    user("u1", "find it\nplease"),
    assistant("a1", tool("a1", "r1", LONG), tool("a1", "r2", LONG)),
    user("u2", "mend it"),
    assistant("a2", tool("a2", "r3", LONG)),
    user("u3", "check it"),
    assistant("a3", "checked"),
    asks("c1", tail="u3"),
    summary("s1", "c1", "all of it"),
    goes_on("k1"),
    assistant("a4", "on it goes"),
    user("u4", "more"),
    asks("c2"),
    summary("s2", "c2", "shorter"),
)
LOG = (
    edit(1, EditKind.CLEAR, "r1", by="policy"),
    edit(2, EditKind.PIN, "r3", text=LONG, source="read b"),
    edit(3, EditKind.COMPACT, "c1", "s1", "k1", group="one"),
    edit(4, EditKind.SUMMARY_EDIT, "s1", text="my own words"),
    edit(5, EditKind.COMPACT, "c2", "s2", group="two"),
)
SETTINGS = Settings()


def report(name, *more, talk=TALK, log=LOG):
    made = state(*talk, edits=(*log, *more), system=SYSTEM, tools=TOOLS)
    mark = mark_of(marks_of(made, Preset.GUARDED), name)
    return before_after(moment(made, mark), SETTINGS, Tally())


def test_every_message_of_the_first_boundary_has_its_fate():
    found = report("C1")
    assert {row.message_id: row.fate for row in found.messages} == {
        "u1": Fate.SUMMED,
        "a1": Fate.SUMMED,
        "u2": Fate.SUMMED,
        "a2": Fate.PINNED,
        "u3": Fate.KEPT,
        "a3": Fate.KEPT,
    }
    assert [entry.id for entry in found.archived] == ["u1", "a1", "u2", "a2"]
    assert found.cleared == ("r1",)
    assert found.summary == "all of it"
    assert [(row.turn, row.subject, row.fate.value, len(row.message_ids)) for row in found.turns] == [
        (1, "find it\nplease", "summed", 2),
        (2, "mend it", "summed", 1),
        (2, "mend it", "pinned", 1),
        (3, "check it", "kept", 2),
    ]


def test_the_sizes_add_up():
    found = report("C1")
    assert found.fixed + sum(row.tokens for row in found.messages) == found.before.total
    assert found.ratio == found.summed / found.summary_tokens > 10
    assert found.freed == found.before.total - found.after.total > 0
    keys = [item.key for item in found.after.items]
    assert "pin:r3" in keys
    assert keys.index("s1.0") < keys.index("pin:r3") < keys.index("u3.0") < keys.index("k1.0")


def test_an_undone_boundary_and_an_earlier_one_are_reported_as_they_were():
    first, undone = report("C1"), report("C1", switch(6, "two", False), switch(7, "one", False))
    assert undone.before == first.before
    assert undone.after.items == first.after.items
    assert not undone.mark.active
    second = report("C2")
    assert second.turns[0].subject == EARLIER
    assert second.turns[0].message_ids == ("c1", "s1")
    assert {row.fate for row in second.messages} == {Fate.SUMMED}
    assert "my own words" in str([item.value for item in second.before.items])


def test_boundaries_are_named_in_order_and_the_newest_is_in_force():
    made = state(*TALK, edits=LOG)
    marks = marks_of(made, Preset.GUARDED)
    assert [(m.name, m.active, m.newest, m.auto) for m in marks] == [
        ("C1", True, False, True),
        ("C2", True, True, True),
    ]
    assert mark_of(marks, "") is marks[1]
    assert mark_of(marks, "c1") is marks[0] is mark_of(marks, "s1")
    assert mark_of(marks, "C7") is None
    assert current_summary(made, "s1", "all of it") == "my own words"
    assert current_summary(made, "s2", "shorter") == "shorter"
    assert mark_of(marks_of(state(*TALK[:3]), Preset.GUARDED), "") is None


def test_an_imported_boundary_has_no_log_and_its_outputs_may_lie_in_the_store():
    stored = StoredOutput(bytes=1000, units=1000, sha256="0" * 64)
    part = tool("a1", "r1", "")
    part = type(part)(
        **{f: getattr(part, f) for f in part.__struct_fields__ if f != "state"},
        state=type(part.state)(input={}, output="", time=part.state.time, stored=stored),
    )
    talk = (user("u1", "x"), assistant("a1", part), *TALK[6:9])
    made = state(*talk)
    (mark,) = marks_of(made, Preset.GUARDED)
    assert (mark.name, mark.group, mark.active) == ("C1", None, True)
    at = moment(made, mark)
    assert at.wanted(SETTINGS) == ("r1",)
    found = before_after(at.loaded({"r1": LONG}), SETTINGS, Tally())
    assert found.messages[1].tokens > 150
    assert found.after.live[:3] == ("c1", "s1", "k1")
