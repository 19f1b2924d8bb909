"""The rows of the timeline strip as spans (style name, text), exactly as wide as asked for."""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.strip import OVER, StepMark, live_range
from qiming_tui.context.strip_cells import LINE, columns_of, place_of, scrolled
from qiming_tui.context.strip_words import facts, legend
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.spans import cells, clip, cut, spread

LABEL: Final = 10
"""Cells before the first step: a margin, the row's name, a sign that there is more."""
NARROW: Final = 60
"""Columns from which on there is room for words behind the steps."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Which cells are shown, and which of them the cursor is on."""

    marks: tuple[StepMark, ...]
    columns: tuple[int, ...]
    """All cells: places in `marks`, or LINE."""
    start: int
    room: int
    cursor: int
    """Place in `marks`; -1 when there are none."""
    width: int

    @property
    def shown(self) -> tuple[int, ...]:
        """The cells from left to right."""
        return self.columns[self.start : self.start + self.room]

    def place_at(self, x: int) -> int | None:
        """The step in a screen cell of the row."""
        held = self.shown
        index = x - LABEL
        return held[index] if 0 <= index < len(held) and held[index] != LINE else None


def layout(marks: tuple[StepMark, ...], step: int | None, *, start: int, width: int) -> Layout:
    """The cells in `width` columns; `step` None: the cursor is on the newest. `start` is where it was."""
    columns = columns_of(marks)
    cursor = (len(marks) - 1 if step is None else place_of(marks, step)) if marks else -1
    tail = len(_live_words(marks)) + 3 if width >= NARROW else 1
    room = max(1, width - LABEL - tail)
    at = columns.index(cursor) if marks else 0
    first = scrolled(start, at=at, total=len(columns), room=room)
    return Layout(marks=marks, columns=columns, start=first, room=room, cursor=cursor, width=width)


def rule_row(held: Layout, glyphs: Glyphs, *, focused: bool) -> Spans:
    """The title in its rule, and the cursor's step at its right end."""
    key = "key" if not focused else "key-focus"
    left: list[Span] = [("rule", glyphs.rule), ("muted", " ["), (key, "t"), ("muted", "] ")]
    left += [("strong", "timeline")]
    if held.width >= NARROW:
        left += [("muted", " tenths of usable")]
    right: list[Span] = []
    if held.marks:
        mark = held.marks[held.cursor]
        turn = f"  T{mark.turn}" if mark.turn else ""
        right = [("muted", f" step {mark.step:,}/{held.marks[-1].step:,}{turn} ")]
    return _ruled(left, right, held.width, glyphs)


def said_row(held: Layout, glyphs: Glyphs, going: str | None) -> Spans:
    """The read-out in the rule's place, where no row is kept for it."""
    said = said_spans(held, glyphs, going, room=held.width - 4)
    return _ruled([("rule", f"{glyphs.rule} "), *said], [], held.width, glyphs)


def _ruled(left: Sequence[Span], right: Sequence[Span], width: int, glyphs: Glyphs) -> Spans:
    free = max(0, width - cells(left) - cells(right) - 2)
    return cut((*left, ("rule", " " + glyphs.rule * free), *right, ("rule", glyphs.rule)), width)


def digit_row(held: Layout, glyphs: Glyphs, *, focused: bool) -> Spans:
    """Every step as tenths of usable; what is live in bold, what is archived quiet."""
    out: list[Span] = [("muted", " ctx/10"), *_more_left(held)]
    if not held.marks:
        return cut((*out, ("faint", "no step yet")), held.width)
    for place in held.shown:
        if place == LINE:
            out.append(("line", glyphs.boundary))
            continue
        mark = held.marks[place]
        style = "limit" if mark.tenth == OVER else "live" if mark.live else "archived"
        out.append((f"{style}-cursor" if focused and place == held.cursor else style, mark.tenth))
    out += [_more_right(held), ("", " "), ("muted", _live_words(held.marks))]
    return cut(out, held.width)


def event_row(held: Layout, glyphs: Glyphs, *, letters: bool) -> Spans:
    """Below each step what happened at it. `letters`: the cursor is a sign of its own, not a colour."""
    out: list[Span] = [("muted", " event    ")]
    for place in held.shown:
        if place == LINE:
            out.append(("line", glyphs.boundary))
            continue
        letter = held.marks[place].letter
        if place == held.cursor and (letters or not letter):
            out.append(("cursor", glyphs.cursor))
        elif letter:
            style = "limit" if letter in "cC!" else "error" if letter == "x" else "event"
            out.append((f"{style}-cursor" if place == held.cursor else style, letter))
        else:
            out.append(("faint", glyphs.dot))
    words = legend(held.marks, held.width - cells(out) - 3) if held.width >= NARROW else ""
    return cut((*out, ("", "  "), ("muted", words)), held.width)


def readout_row(held: Layout, glyphs: Glyphs, going: str | None, *, focused: bool) -> Spans:
    """The read-out in a row of its own, with keys at its end while the strip has the focus."""
    keys: Spans = ()
    if focused:
        keys = (("key", "[ ]"), ("muted", " event  "), ("key", "enter"), ("muted", " jump "))
    said = said_spans(held, glyphs, going, room=held.width - 2 - cells(keys))
    return spread((("", " "), *said), keys, held.width)


def said_spans(held: Layout, glyphs: Glyphs, going: str | None, *, room: int) -> Spans:
    """The cursor's step in words; whole facts as long as they fit, the first that does not is cut."""
    if going is not None:
        return (("strong", "go to step "), ("key", going or "_"), ("muted", "  enter goes, esc leaves"))
    if not held.marks:
        return (("faint", "no step yet"),)
    out: list[Span] = []
    for fact in facts(held.marks[held.cursor]):
        gap: Spans = (("", "  "),) if out else ()
        fact = tuple((style, text.replace("->", glyphs.arrow)) for style, text in fact)
        left = room - cells(out) - cells(gap)
        if cells(fact) <= left:
            out += [*gap, *fact]
        elif left > 8 and len(fact) > 1:
            style, text = fact[1]
            return (*out, *gap, fact[0], (style, clip(text, left - cells(fact[:1]), glyphs.cut)))
    return tuple(out)


def _more_left(held: Layout) -> Spans:
    return (("", "  "), ("muted", "<" if held.start else " "))


def _more_right(held: Layout) -> Span:
    return ("muted", ">" if held.start + held.room < len(held.columns) else " ")


def _live_words(marks: Sequence[StepMark]) -> str:
    """`live 28-46`: what the next request is made of."""
    found = live_range(marks)
    return f"live {found[0]:,}-{found[1]:,}" if found else "live none" if marks else ""
