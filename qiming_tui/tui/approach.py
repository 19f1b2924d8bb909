"""The approach of the limit, said once for every stage and not again at each step; pure."""

from typing import Final

import msgspec

from qiming_tui.context.bar import BarData
from qiming_tui.context.figures import kilo, plural
from qiming_tui.model.window import State

_GRAVITY: Final = {State.NEAR: 1, State.LAST_TURN: 2, State.OVER: 3, State.FULL: 4}


class Stage(msgspec.Struct, frozen=True):
    """What is told, and how loud."""

    words: str
    grave: bool = False


class Approach:
    """Remembers the gravest stage that was told since the window was last well below its limit."""

    def __init__(self) -> None:
        self._told = 0

    def take(self, data: BarData) -> Stage | None:
        """What is to be said of this window; None: nothing, or it was said before."""
        gravity = _GRAVITY.get(data.state, 0)
        if not gravity:
            self._told = 0
            return None
        if gravity <= self._told:
            return None
        self._told = gravity
        return Stage(words_of(data), gravity > _GRAVITY[State.LAST_TURN])


def words_of(data: BarData) -> str:
    """The stage in a sentence with its numbers, then what will happen and what can be done."""
    if data.usable is None:
        return f"{_stage(data)}. {_outlook(data)}"
    share = f" ({data.percent}%)" if data.percent is not None else ""
    size = f"{kilo(data.count)} of {kilo(data.usable)} usable{share}"
    return f"{_stage(data)}: {size}. {_outlook(data)}"


def _stage(data: BarData) -> str:
    match data.state:
        case State.OVER:
            return f"The window is over its limit by {kilo(data.over_by)}"
        case State.FULL:
            return "The provider refused the request as too large"
        case State.LAST_TURN:
            added = f" (~{kilo(data.growth)})" if data.growth else ""
            return f"One more turn like the last ones{added} reaches the limit"
        case _:
            turns = data.turns_left
            if turns is not None and turns < 2:
                return f"The window is near its limit, ~{plural(turns, 'turn')} left" if turns else _LESS
            return "The window is near its limit"


_LESS: Final = "The window is near its limit, less than a turn left"


def _outlook(data: BarData) -> str:
    if not data.auto:
        return "Automatic compaction is off: ^X c compacts, ^X p clears old results."
    if data.state is State.NEAR:
        when = "at the limit" if data.usable is None else f"at {kilo(data.usable)}"
        return f"It is compacted by itself {when}; ^X c does it now."
    return "It is compacted before the next request; ^X c does it now, ^X p clears old results."
