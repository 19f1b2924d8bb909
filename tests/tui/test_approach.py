"""The approach of the limit is told once for every stage, in words and numbers."""

import pytest

from qiming_tui.model.window import State
from qiming_tui.tui.approach import Approach, words_of
from tests.tui.bars import bar


def told(*states):
    approach = Approach()
    found = [approach.take(bar(state=state)) for state in states]
    return [stage is not None for stage in found]


def test_each_stage_is_told_once_and_again_only_after_the_window_was_well_below():
    ok, near, last, over = State.OK, State.NEAR, State.LAST_TURN, State.OVER
    assert told(ok, near, near, near) == [False, True, False, False]
    assert told(near, last, near, last, over, over) == [True, True, False, False, True, False]
    assert told(near, ok, near) == [True, False, True]
    assert told(State.FULL, over, near) == [True, False, False]


def test_only_what_stops_the_work_is_grave():
    assert [Approach().take(bar(state=s)).grave for s in (State.NEAR, State.LAST_TURN, State.OVER)] == [
        False,
        False,
        True,
    ]


NEAR = "The window is near its limit: 131.7k of 168.0k usable (78%)."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, f"{NEAR} It is compacted by itself at 168.0k; ^X c does it now."),
        ({"auto": False}, f"{NEAR} Automatic compaction is off: ^X c compacts, ^X p clears old results."),
        ({"growth": 30_000}, "The window is near its limit, ~1 turn left: 131.7k of"),
        ({"growth": 40_000}, "The window is near its limit, less than a turn left: 131.7k of"),
        ({"state": State.LAST_TURN, "growth": 40_000}, "One more turn like the last ones (~40.0k) reaches"),
        ({"state": State.OVER, "over_by": 3_204}, "The window is over its limit by 3.2k: 131.7k of"),
        ({"state": State.FULL, "usable": None}, "The provider refused the request as too large. It is"),
    ],
)
def test_the_words(changes, words):
    fields = {"count": 131_700, "percent": 78, "state": State.NEAR, **changes}
    assert words_of(bar(**fields)).startswith(words)
