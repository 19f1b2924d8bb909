"""Samples of ours and of a floor, taken in turn, and the table of them.

The two sides of a pair run one after the other, so that a machine that is busy with something else slows
both. Only a ratio can fail, and only by far: milliseconds are for people.
"""

import os
import time
from collections.abc import Callable, Iterable
from statistics import median

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table. Samples are in `unit`, those of one place belong together."""

    area: str
    name: str
    ours: tuple[float, ...]
    floor: tuple[float, ...]
    against: str
    """What the floor does."""
    unit: str = "ms"
    target: str = ""
    """What we want to reach, in words."""
    most: float
    """A ratio above it is a failure: far above what is usual."""

    @property
    def ratio(self) -> float:
        """The median of the pairs' ratios."""
        return median(a / b if b else float("inf") for a, b in zip(self.ours, self.floor, strict=True))

    @property
    def good(self) -> bool:
        """Whether the ratio is within its bound."""
        return self.ratio <= self.most


def cpu_ms(work: Callable[[], object]) -> float:
    """Milliseconds of this thread's CPU that a call takes; others' work on the machine does not count."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000


def load() -> str:
    """The load average, where the system has one."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(rows: Iterable[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| area | figure | unit | ours | floor | ratio | fails above | target | floor is |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        mark = "" if row.good else " FAILED"
        cells = (
            row.area,
            row.name,
            row.unit,
            _number(median(row.ours)),
            _number(median(row.floor)),
            f"{_number(row.ratio)}{mark}",
            f"{row.most:g}",
            row.target,
            row.against,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
