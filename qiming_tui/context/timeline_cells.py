"""A column's height in cells: bands by largest remainder, two of them a cell, the threshold's row."""

from collections.abc import Sequence
from typing import Final

from qiming_tui.context.bar_cells import allocate
from qiming_tui.context.timeline import GHOST
from qiming_tui.context.timeline_modes import Axis, Bar

EIGHTHS: Final = 8

Cell = tuple[str, str, int]
"""Letter of the lower band, of the upper one, units of the cell that the lower one fills. Letters may be
empty: nothing is there."""

EMPTY: Final[Cell] = ("", "", 0)


def units_of(height: int, axis: Axis, *, rows: int, parts: int) -> int:
    """A height in units of a cell (`parts` a cell), half up; at least one where there is anything, and at
    most the whole column."""
    if height <= 0:
        return 0
    whole = rows * parts
    return min(whole, max(1, (2 * height * whole + axis.top) // (2 * axis.top)))


def stacked(bar: Bar, axis: Axis, *, rows: int, parts: int) -> tuple[int, ...]:
    """Units of each band, and last of the ghost above them. The bands add up to the bar's own height."""
    high = units_of(bar.height, axis, rows=rows, parts=parts)
    found = allocate(bar.bands, high)
    ghost = units_of(bar.height + bar.ghost, axis, rows=rows, parts=parts) - high if bar.ghost else 0
    return (*found, ghost)


def cells_of(units: Sequence[int], letters: str, *, rows: int, parts: int) -> tuple[Cell, ...]:
    """The cells of a column from the bottom up. `letters` names the bands; one more is the ghost's."""
    column: list[str] = []
    for letter, many in zip(letters + GHOST, units, strict=True):
        column += [letter] * many
    column += [""] * (rows * parts - len(column))
    return tuple(_cell(column[row * parts : (row + 1) * parts]) for row in range(rows))


def _cell(inside: list[str]) -> Cell:
    """Two bands at most: the thinnest ones give way."""
    runs: list[tuple[str, int]] = []
    for letter in inside:
        if runs and runs[-1][0] == letter:
            runs[-1] = (letter, runs[-1][1] + 1)
        else:
            runs.append((letter, 1))
    while len(runs) > 2:
        thin = min(range(len(runs)), key=lambda place: (runs[place][1], -place))
        gone = runs.pop(thin)[1]
        below = max(0, thin - 1)
        runs[below] = (runs[below][0], runs[below][1] + gone)
    low = runs[0]
    return (low[0], runs[1][0], low[1]) if len(runs) == 2 else (low[0], "", len(inside) if low[0] else 0)


def threshold_row(threshold: int | None, axis: Axis, *, rows: int) -> int | None:
    """The row of the limit, counted from the bottom; None: there is none."""
    if threshold is None or rows <= 0:
        return None
    return min(rows - 1, threshold * rows // axis.top)


def ruler(axis: Axis, *, rows: int) -> dict[int, str]:
    """Row from the bottom -> what stands at the left of it: round figures, and the limit's own, which is
    never left out."""
    found = {0: "0"} if rows > 1 else {}
    limit = threshold_row(axis.threshold, axis, rows=rows)
    step = _round_step(axis.top * 5 // (2 * max(1, rows)))
    for units in range(step, axis.top, step):
        row = units * rows // axis.top
        if limit is None or row < limit - 1:
            found[row] = axis.figure(units).replace(".0k", "k").replace(".0s", "s")
    if limit is not None and axis.threshold is not None:
        found[limit] = axis.figure(axis.threshold)
    return found


def _round_step(least: int) -> int:
    """1, 2 or 5 times a power of ten: the first that is no less."""
    power = 1
    while True:
        for times in (1, 2, 5):
            if times * power >= least:
                return times * power
        power *= 10
