"""The rows of the budget bar as spans (style name, text), exactly as wide as asked for.

Style names are those of the bar's component classes without their prefix; "" is the row's own style.
"""

from collections.abc import Sequence
from typing import Final

from qiming_tui.context.bar import BarData
from qiming_tui.context.bar_cells import Layout, layout
from qiming_tui.context.bar_words import Span, Spans, headline, legend, width
from qiming_tui.context.figures import kilo
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.spans import cut, spread

SUFFIX: Final = {"?": "drift"}
"""Letters that cannot stand in a style's name."""


def name_of(letter: str) -> str:
    """The part of a style's name that stands for a class letter."""
    return SUFFIX.get(letter, letter)


def top_row(data: BarData, columns: int) -> Spans:
    """The headline, its right part at the right end."""
    held = headline(data, columns)
    return spread(held.left, held.right, columns)


def bar_row(data: BarData, held: Layout, glyphs: Glyphs, *, letters: bool) -> Spans:
    """The bar. `letters`: classes as repeated letters instead of coloured cells."""
    if held.tick is None:
        return _unknown_row(data, held.cells)
    cells: list[Span] = [("" if letters else "track", " ")] * held.cells
    for segment in held.segments:
        name = name_of(segment.letter)
        for cell in range(segment.start, segment.end):
            first = cell == segment.start
            shown = segment.letter if first or letters else " "
            style = f"seg-{name}" if not letters else "letter" if first else "more"
            cells[cell] = (style, shown)
    words = _reserve_words(data, held.cells - held.tick - 1)
    for cell in range(held.tick + 1, held.cells):
        if cell >= held.fill:
            cells[cell] = ("reserve", glyphs.reserve)
    start = held.tick + 1 + (held.cells - held.tick - 1 - len(words)) // 2
    if words and start >= max(held.fill, held.next_to):
        for place, char in enumerate(words, start):
            cells[place] = ("reserve-word", char)
    ahead = "muted" if letters else "next"
    for cell in range(held.next_from, held.next_to):
        cells[cell] = (ahead if cell < held.tick else "reserve-next", glyphs.next)
    if held.part and held.segments:
        name = name_of(held.segments[-1].letter)
        cells[held.part_at] = (f"edge-{name}", glyphs.ends[held.part - 1])
    cells[held.tick] = _tick(data, held, glyphs, letters=letters)
    return _merged(cells)


def _tick(data: BarData, held: Layout, glyphs: Glyphs, *, letters: bool) -> Span:
    """The threshold: hollow where nothing happens at it; where the fill runs over it, drawn on the fill."""
    sign = glyphs.tick if data.auto else glyphs.hollow
    below = None if letters or held.tick is None else held.at(held.tick)
    if below is not None:
        return (f"seg-{name_of(below.letter)}", sign)
    if data.over_by:
        return ("tick-over", sign)
    shown = "limit" if letters else "tick"
    return (shown if data.auto else "hollow", sign)


def _reserve_words(data: BarData, room: int) -> str:
    """What the cells behind the tick are kept for, if two of them stay free on each side."""
    if data.usable is None:
        return ""
    amount = kilo(data.window - data.usable)
    what = data.reserved_words
    whole = f"kept for the {what}" if what == "reply" else f"kept free as {what}"
    forms = [f" {whole} {amount} ", f" {what} {amount} ", f" {what} "]
    return next((form for form in forms if len(form) + 4 <= room), "")


def _unknown_row(data: BarData, columns: int) -> Spans:
    """No axis, so no bar and no invented share (cases C-097): the classes in figures."""
    return cut(legend(data, columns), columns)


def layout_of(data: BarData, columns: int, glyphs: Glyphs, *, letters: bool) -> Layout:
    """The cells of the bar, in eighths at its end where the glyphs can show them."""
    return layout(data, columns, eighths=bool(glyphs.ends) and not letters)


def _merged(cells: Sequence[Span]) -> Spans:
    out: list[Span] = []
    for style, char in cells:
        if out and out[-1][0] == style:
            out[-1] = (style, out[-1][1] + char)
        else:
            out.append((style, char))
    return tuple(out)


def under_row(data: BarData, held: Layout, glyphs: Glyphs) -> Spans:
    """Below the bar: what is cached, the arithmetic with its arrow under the tick, the end of the axis.

    Where they would touch, `compacts here` goes first, then the cached figure, never the arithmetic.
    """
    if held.tick is None or data.usable is None:
        when = "it compacts only when the provider refuses" if data.auto else "nothing compacts by itself"
        forms = [
            f"the window of this model is not known: {when}",
            f"window unknown: {when}",
            when,
            "compacts only when refused",
        ]
        return cut((("muted", next((f for f in forms if len(f) <= held.cells), "")),), held.cells)
    sum_spans: Spans = (("muted", f"{data.arithmetic} "), ("text", data.usable_words))
    arrow: Span = ("tick-arrow" if data.auto else "hollow", glyphs.tick_arrow)
    here = " compacts here" if data.auto else " auto off"
    start = held.tick - width(sum_spans)
    if start < 0:
        return _right_of_tick(data, held, glyphs, (arrow, ("", " "), *sum_spans))
    cached = cached_spans(data, held, glyphs, start - 1)
    if width(cached) + 2 <= start - len(here):
        sum_spans = (*sum_spans, ("muted", here))
        start -= len(here)
    row = (*cached, ("", " " * (start - width(cached))), *sum_spans, arrow)
    end = kilo(data.window)
    fits = width(row) + 2 + len(end) <= held.cells
    return spread(row, (("faint", end),) if fits else (), held.cells)


def _right_of_tick(data: BarData, held: Layout, glyphs: Glyphs, sum_spans: Spans) -> Spans:
    """The arithmetic has no room left of the tick: it begins there, or wherever it fits."""
    assert held.tick is not None
    start = max(0, min(held.tick, held.cells - width(sum_spans)))
    cached = cached_spans(data, held, glyphs, start - 1)
    row = (*cached, ("", " " * (start - width(cached))), *sum_spans)
    end = kilo(data.window)
    fits = width(row) + 2 + len(end) <= held.cells
    return spread(row, (("faint", end),) if fits else (), held.cells)


def cached_spans(data: BarData, held: Layout, glyphs: Glyphs, room: int) -> Spans:
    """A bracket from 0 to the end of what is cached, its label inside, or beside it when it is shorter. What
    does not fit into `room` cells is left open at its end; the figure goes before the bracket does."""
    if data.cached <= 0 or room <= 0:
        return ()
    for label in (f"cached {kilo(data.cached)}", "cached"):
        inside = len(label) + 5
        if held.cached >= inside and room >= inside:
            tail = glyphs.cached * (min(held.cached, room) - inside - 1)
            last = glyphs.cached_right if held.cached <= room else glyphs.cached
            head = f"{glyphs.cached_left}{glyphs.cached * 2} "
            return (("cached", f"{head}{label} {tail}{last}"),)
        if held.cached < inside and held.cached + 1 + len(label) <= room:
            bracket = _bracket(held.cached, glyphs)
            return (("cached", f"{bracket} {label}" if bracket else label),)
    if held.cached > room:
        return (("cached", glyphs.cached_left + glyphs.cached * (room - 1)),)
    return (("cached", _bracket(held.cached, glyphs)),)


def _bracket(cells: int, glyphs: Glyphs) -> str:
    if cells < 2:
        return glyphs.cached_right * cells
    return f"{glyphs.cached_left}{glyphs.cached * (cells - 2)}{glyphs.cached_right}"


def offer_row(data: BarData, columns: int, *, focused: bool) -> Spans:
    """What can be done before it compacts: keys as they work now. The last ones go where there is no room."""
    out: list[Span] = []
    for offer in data.offers:
        key = offer.key if focused else offer.chord
        if not key:
            continue
        spans: Spans = ((f"key-{offer.act}", key), (f"act-{offer.act}", f" {offer.words}"))
        gap: Spans = (("", "  "),) if out else ()
        if width(out) + width(gap) + width(spans) > columns:
            break
        out += [*gap, *spans]
    return cut(out, columns)


def one_row(data: BarData, columns: int, glyphs: Glyphs, *, letters: bool) -> Spans:
    """Everything in one row, where the screen is very low: the pill, what is left, and a short bar."""
    words = headline(data, min(columns, 36)).left
    room = columns - width(words) - 2
    if room < 12 or data.usable is None:
        return cut(words, columns)
    held = layout_of(data, room, glyphs, letters=letters)
    return (*words, ("", "  "), *bar_row(data, held, glyphs, letters=letters))
