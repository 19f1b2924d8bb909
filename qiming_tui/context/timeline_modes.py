"""What the height of a column means: the window, the money, the cache, or the time."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from qiming_tui.context.figures import kilo, money
from qiming_tui.context.timeline import ORDER, Column


class Mode(StrEnum):
    """What is drawn."""

    WINDOW = "window"
    COST = "cost"
    CACHE = "cache"
    TIME = "time"

    @property
    def next(self) -> "Mode":
        """The one after it, round and round."""
        every = list(Mode)
        return every[(every.index(self) + 1) % len(every)]

    @property
    def letters(self) -> str:
        """The bands from the bottom up."""
        return _LETTERS[self]

    @property
    def words(self) -> dict[str, str]:
        """What the letters mean."""
        return _WORDS[self]


_LETTERS = {Mode.WINDOW: ORDER, Mode.COST: "$", Mode.CACHE: "=+", Mode.TIME: "wa"}
_WORDS = {
    Mode.WINDOW: {
        "S": "fixed",
        "Z": "summary",
        "U": "user",
        "A": "assistant",
        "R": "results",
        "?": "not ours",
        ":": "cleared",
    },
    Mode.COST: {"$": "cost"},
    Mode.CACHE: {"=": "read from the cache", "+": "new"},
    Mode.TIME: {"w": "waiting", "a": "answering"},
}


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """The height of one column in the units of its mode: tokens, millionths of a dollar, milliseconds."""

    bands: tuple[int, ...]
    height: int
    """All of the bands together; may be less than they add up to, where we counted more than was measured."""
    ghost: int = 0
    threshold: int | None = None


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """What the whole height stands for."""

    mode: Mode
    top: int
    """Never 0."""
    threshold: int | None
    """Of the newest step; None: the mode has none, or usable is unknown."""

    def figure(self, units: int) -> str:
        """A height as the ruler writes it."""
        match self.mode:
            case Mode.COST:
                return money(units / 1_000_000)
            case Mode.TIME:
                return seconds(units)
            case _:
                return kilo(units)


def bar_of(column: Column, mode: Mode) -> Bar:
    """A column's height under a mode; 0 where that is not known."""
    match mode:
        case Mode.WINDOW:
            usable = column.mark.usable
            return Bar(bands=column.bands, height=column.mark.count, ghost=column.ghost, threshold=usable)
        case Mode.COST:
            micro = round((column.cost or 0) * 1_000_000)
            return Bar(bands=(micro,), height=micro)
        case Mode.CACHE:
            sent = (column.read, column.new)
            return Bar(bands=sent, height=sum(sent), threshold=column.mark.usable)
        case Mode.TIME:
            spent = (column.wait_ms or 0, column.write_ms or 0)
            return Bar(bands=spent, height=sum(spent))


def axis_of(columns: Sequence[Column], mode: Mode) -> Axis:
    """1.07 of usable (the largest, where models differ), or the highest column where that is more."""
    bars = [bar_of(column, mode) for column in columns]
    usable = max((bar.threshold or 0 for bar in bars), default=0)
    highest = max((bar.height for bar in bars), default=0)
    if not usable:
        highest += highest * 7 // 100
    last = bars[-1].threshold if bars else None
    return Axis(mode=mode, top=max(1, highest, (107 * usable + 99) // 100), threshold=last)


def seconds(ms: int) -> str:
    """Milliseconds as seconds with one decimal, minutes from two on: 4.2s, 3m05s."""
    if ms < 120_000:
        return f"{ms / 1000:.1f}s"
    return f"{ms // 60_000}m{ms // 1000 % 60:02}s"
