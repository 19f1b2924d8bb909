"""Values for tests of the bar: the figures of the pictures that the screen is drawn after."""

from typing import Any

import msgspec

from qiming_tui.context.bar import BarData
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import State

OURS = {"S": 3_000, "T": 11_200, "M": 2_300, "Z": 4_600, "U": 4_700, "A": 25_300, "R": 47_500}

TARGET = BarData(
    by_class=OURS,
    total=98_600,
    count=102_013,
    basis=Basis.MEASURED,
    usable=168_000,
    window=200_000,
    arithmetic="200.0k ctx - 32.0k out =",
    usable_words="168.0k",
    reserved_words="reply",
    state=State.OK,
    auto=True,
    percent=61,
    growth=9_100,
    cached=71_000,
    cost_next=0.14,
    cleared=43_100,
    step=46,
)


def bar(**changes: Any) -> BarData:
    """The target with other values."""
    return msgspec.structs.replace(TARGET, **changes)
