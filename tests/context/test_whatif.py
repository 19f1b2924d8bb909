"""The recorded steps under other policies: no gap for the recorded one, `~` from where another one splits."""

import pytest

from qiming_tui.context.whatif import RECORDED, Policy, moments, recorded, replay
from qiming_tui.context.whatif_words import backtest, cells, suggested, typed
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import Limits
from qiming_tui.model.window import Klass
from tests.context.inspected import LIMITS, SETTINGS, SYSTEM, cleared, compacted, grown, item, step


def test_the_recorded_policy_has_no_gap():
    found = moments(compacted())
    was, again = recorded(found), replay(RECORDED, found, SETTINGS)
    assert was.compactions == again.compactions == (3,)
    assert again.split is None
    assert (was.peak, was.sent, was.archived) == (again.peak, again.sent, again.archived)
    assert backtest(was, again).endswith("gap 0")


def test_a_larger_window_needs_no_compaction_and_is_modelled_from_there():
    found = moments(compacted())
    run = replay(Policy(name="twice", limits=Limits(200_000, None, 20_000)), found, SETTINGS)
    assert run.usable == 180_000
    assert run.compactions == ()
    assert run.split == 3
    assert run.peak == 85_100, "the next request would hold all of it and the answer that came"
    assert run.sent > recorded(found).sent
    assert cells(run)[4].startswith("~")
    assert cells(run)[-1] == "step 3"


def test_a_smaller_window_compacts_earlier():
    found = moments(compacted())
    run = replay(Policy(name="half", limits=Limits(50_000, None, 10_000)), found, SETTINGS)
    assert run.compactions[0] == 2
    assert run.split == 2
    assert cells(run)[2].startswith("~2")


def test_auto_off_never_compacts_but_what_was_asked_for_by_hand_stays():
    found = moments(compacted())
    assert replay(Policy(name="off", auto=False), found, SETTINGS).compactions == ()
    first, second, _, summary, rest = compacted()
    found = moments([first, second, summary, rest])
    assert [moment.by_hand for moment in found] == [False, True, False]
    assert replay(Policy(name="off", auto=False), found, SETTINGS).compactions == (2,)


def pruned():
    """Four turns of 8,000; after the third the oldest result goes (protect 10,000, minimum 5,000)."""
    made = grown(3)
    gone = cleared(made[-1].manifest[3])
    rows = [gone if row.key == gone.key else row for row in made[-1].manifest]
    return [*made, step(7, *rows, item("u4:0", Klass.USER, 100))]


def test_prunes_follow_the_rule_of_protect_and_minimum():
    found = moments(pruned())
    none = replay(RECORDED, found, SETTINGS)
    assert recorded(found).prunes == (6,)
    assert none.split is not None, "8,000 lie within what is protected: the rule would not have cleared them"
    assert "gap 1" in backtest(recorded(found), none)
    tight = replay(Policy(name="tight", protect=5_000), found, SETTINGS)
    assert tight.prunes == (6,)
    assert tight.split is None
    assert replay(Policy(name="off", prune=False, protect=0), found, SETTINGS).prunes == ()
    assert replay(Policy(name="more", protect=0, minimum=8_000), found, SETTINGS).prunes == ()
    by_user = moments(pruned(), frozenset({"r1"}))
    assert recorded(by_user).prunes == ()


def test_one_step_or_none_is_a_session_too():
    assert moments([]) == ()
    assert recorded(()).peak == 0
    assert replay(RECORDED, (), SETTINGS).usable is None
    found = moments([step(1, SYSTEM)])
    assert replay(RECORDED, found, SETTINGS).peak == 2_100


def test_policies_are_typed_in_words():
    policy = typed("context 128k reserved=8,000 auto off", LIMITS)
    assert policy.limits == Limits(128_000, None, 20_000)
    assert (policy.reserved, policy.auto, policy.protect) == (8_000, False, None)
    assert typed("protect 5000 minimum 1k", LIMITS).limits is None
    for wrong in ("", "context", "context much", "auto maybe", "colour 3", "protect -1"):
        with pytest.raises(InputError):
            typed(wrong, LIMITS)
    names = [policy.name for policy in suggested(LIMITS, SETTINGS)]
    assert names == ["prune off", "auto off", "protect 5.0k minimum 2.5k", "window 50.0k", "window 200.0k"]
