"""Which steps stand in which cells of the strip, and where its cursor goes."""

from collections.abc import Callable, Sequence
from typing import Final

from qiming_tui.context.strip import StepMark

LINE: Final = -1
"""The cell of the boundary's line: left of it is archived, right of it the live window."""


def columns_of(marks: Sequence[StepMark]) -> tuple[int, ...]:
    """One cell a step (its place in `marks`), and one for the line before the live window."""
    archived = sum(not mark.live for mark in marks)
    places = tuple(range(len(marks)))
    return (*places[:archived], LINE, *places[archived:]) if archived else places


def scrolled(start: int, *, at: int, total: int, room: int) -> int:
    """First shown cell of `total` when `room` are shown and the one `at` must be among them; moves as little
    as it can, and leaves no cell empty that could show something."""
    if total <= room:
        return 0
    start = max(min(start, at), at - room + 1)
    return max(0, min(start, total - room))


def stepped(marks: Sequence[StepMark], place: int, by: int) -> int:
    """The place `by` steps away, at most the first or the last."""
    return max(0, min(len(marks) - 1, place + by))


def next_event(marks: Sequence[StepMark], place: int, by: int) -> int:
    """The nearest step with an event, to the left (`by` -1) or right (1); the same place if there is none."""
    return _seek(marks, place, by, lambda held: bool(marks[held].events))


def next_turn(marks: Sequence[StepMark], place: int, by: int) -> int:
    """The first step of the next turn (`by` 1), or of this one and then of the one before (-1)."""
    return _seek(marks, place, by, lambda held: held == 0 or marks[held].turn != marks[held - 1].turn)


def place_of(marks: Sequence[StepMark], step: int) -> int:
    """The place of a step's number, or of the nearest one below it; 0 if there is none."""
    return max(0, sum(mark.step <= step for mark in marks) - 1)


def _seek(marks: Sequence[StepMark], place: int, by: int, wanted: Callable[[int], bool]) -> int:
    held = place + by
    while 0 <= held < len(marks):
        if wanted(held):
            return held
        held += by
    return place
