"""What may be done to the window: refused with the reason, or an edit whose effect is known before."""

import pytest

from qiming_tui.context import acts
from qiming_tui.context.assemble import assemble
from qiming_tui.context.forms import Order
from qiming_tui.context.prune import plan
from qiming_tui.context.summary import Skip, prepare
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.edits import EditKind
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.window import Klass, Settings
from tests.context.make import asks, assistant, edit, state, summary, tool, user

LONG = "word " * 300
TALK = (
    user("u1", "one"),
    assistant("a1", tool("a1", "r1", LONG, input={"filePath": "a.py", "content": LONG})),
    user("u2", "two"),
    assistant("a2", tool("a2", "r2", LONG, input={"filePath": "b.py", "content": LONG})),
    user("u3", "three"),
    assistant("a3", tool("a3", "r3", LONG)),
)
BOUND = (*TALK, asks("c1", tail="u3"), summary("s1", "c1"), user("u4", "four"))


def at(*log, talk=TALK):
    made = state(*talk, edits=log)
    return made, window_of(made, Settings())


def bodied(made):
    view = build(made, Settings(), Tally())
    return str(assemble(view.params, view.items)["messages"])


def refused(words, act, *given, **more):
    with pytest.raises(EditRefused, match=words):
        act(*given, **more)


def test_clear_and_restore_name_what_they_may_not_touch():
    made, window = at()
    (draft,) = acts.clear(window, ["r1"])
    assert (draft.kind, draft.targets) == (EditKind.CLEAR, ("r1",))
    after = acts.tried(made, [draft])
    assert bodied(after).count("[Old tool result content cleared]") == 1
    assert made.edits == ()
    refused("cleared already", acts.clear, window_of(after, Settings()), ["r1"])
    (back,) = acts.restore(window_of(after, Settings()), ["r1"])
    assert bodied(acts.tried(after, [back])) == bodied(made)
    refused("sent in full", acts.restore, window, ["r1"])
    refused("archived", acts.clear, at(talk=BOUND)[1], ["r1"])
    refused("results of tools", acts.clear, window, ["u1.0"])
    refused("pinned", acts.clear, at(edit(1, EditKind.PIN, "r1", text="x", source="y"))[1], ["r1"])


def test_what_is_pinned_is_sent_after_any_compaction_also_what_lies_in_the_archive():
    made, window = at(talk=BOUND)
    (draft,) = acts.pin(made, window, ["r1"])
    assert draft.params == {"text": LONG, "source": "read a.py"}
    after = acts.tried(made, [draft])
    assert "[Pinned by the user, from read a.py]" in bodied(after)
    refused("pinned already", acts.pin, after, window_of(after, Settings()), ["r1"])
    (gone,) = acts.unpin(window_of(after, Settings()), [])
    assert bodied(acts.tried(after, [gone])) == bodied(made)
    refused("nothing is pinned", acts.unpin, window, [])
    refused("not pinned", acts.unpin, window, ["r1"])
    refused("no text", acts.pin, made, window, ["r1"], texts={"r1": " "})
    (said,) = acts.pin(made, window, ["u2"])
    assert said.params == {"text": "two", "source": "you"}
    (lost,) = acts.pin_text("u2.0", "never sleep", "you, turn 2")
    assert "never sleep" in bodied(acts.tried(made, [lost]))


def test_old_arguments_are_shortened_those_of_the_last_two_turns_are_not():
    made, window = at()
    (draft,) = acts.clip_old(made, window)
    assert draft.targets == ("r1",)
    before, after = build(made, Settings(), Tally()), build(acts.tried(made, [draft]), Settings(), Tally())
    assert before.by_class[Klass.ASSISTANT] - after.by_class[Klass.ASSISTANT] > 200
    assert before.by_class[Klass.RESULT] == after.by_class[Klass.RESULT]
    clipped = acts.tried(made, [draft])
    (back,) = acts.restore(window_of(clipped, Settings()), ["r1"])
    assert bodied(acts.tried(clipped, [back])) == bodied(made)
    refused("long arguments", acts.clip_old, clipped, window_of(clipped, Settings()))


def test_the_suggestion_is_that_of_a_prune():
    made, window = at()
    wanted = plan(window, Settings(protect=10, minimum=1), Tally(), entries=made.entries)
    (draft,) = acts.suggested(wanted)
    assert draft.targets == wanted.cleared == ("r1",)
    refused("nothing to clear", acts.suggested, plan(window, Settings(), Tally(), entries=made.entries))


def test_a_summary_is_edited_while_it_is_in_force():
    made, window = at(talk=BOUND)
    (draft,) = acts.edit_summary(window, "my words")
    assert draft.targets == ("s1",)
    assert "my words" in bodied(acts.tried(made, [draft]))
    refused("no summary", acts.edit_summary, at()[1], "my words")
    refused("cannot be empty", acts.edit_summary, window, " ")


@pytest.mark.parametrize("preset", list(Settings().preset.__class__))
def test_compact_above_here_keeps_the_turns_from_there_on(preset):
    made, window = at()
    kept = acts.turns_kept(made, window, "a2")
    assert kept == 2
    request = prepare(made, Settings(preset=preset), Tally(), Order(auto=False, keep_turns=kept))
    assert request.head_ids == ("u1", "a1")
    assert request.tail_start_id == "u2"
    none = prepare(made, Settings(preset=preset), Tally(), Order(auto=False, keep_turns=0))
    assert not isinstance(none, Skip)
    assert none.tail_start_id is None
    refused("nothing is above: the window has 3 turns", acts.turns_kept, made, window, "u1")
    refused("archived", acts.turns_kept, *at(talk=BOUND), "u1")
    refused("nothing is above", acts.check_keep, window, 3)


def test_edits_of_several_drafts_are_one_group_and_may_need_what_lies_in_the_store():
    made, _ = at()
    log = acts.tried(made, [*acts.clear(at()[1], ["r1"]), *acts.clear(at()[1], ["r2"])]).edits
    assert {record.group for record in log} == {"dry"}
    assert [record.seq for record in log] == [0, 1]
    texts = acts.tried(made, [], {"r1": "from the store"}).entries
    assert texts[1].parts[0].state.output == "from the store"
    assert texts[3] is made.entries[3]
