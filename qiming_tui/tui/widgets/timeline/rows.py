"""The rows around the columns as spans: title, turns, events, legend, read-out."""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_layout import Layout, letter_of
from qiming_tui.context.timeline_modes import Mode
from qiming_tui.context.timeline_words import header, readout
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.spans import cells, clip, cut, spread

RULER: Final = 8
"""Cells left of the columns: seven for a figure, a blank."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown now."""

    columns: tuple[Column, ...]
    held: Layout
    cursor: int
    """Place of the step that the cursor is on; -1: there is none."""
    mode: Mode
    zoom: int
    follow: bool
    live: bool
    """Only the live window is shown."""
    glyphs: Glyphs
    width: int
    focused: bool
    letters: bool
    going: str | None = None
    found: tuple[int, ...] = ()
    """Places of the steps that a search has found."""


def title_row(scene: Scene) -> Spans:
    """The title in its rule; the words on both sides of the newest boundary stand beside its line."""
    glyphs, width = scene.glyphs, scene.width
    left: list[Span] = [("rule", glyphs.rule), ("", " "), ("strong", "timeline"), ("muted", _where(scene))]
    state = _state(scene)
    tail: list[Span] = [("muted", f" {state} ")] if width - cells(left) > len(state) + 6 else []
    archived, live = header(scene.columns)
    shown = scene.held.shown()
    line = next((n for n in reversed(shown) if scene.held.slots[n].line), None)
    x = width if line is None else RULER + scene.held.span(line)[0]
    end = width - cells(tail) - 1
    if line is None:
        seen_live = bool(shown) and scene.columns[scene.held.slots[shown[-1]].last].mark.live
        before = _first_fitting(
            (f" {live if seen_live or not archived else archived} ", ""), end - cells(left)
        )
        return _ruled([*left, ("", " ")], [("muted", before), *tail], width, glyphs)
    if x < cells(left):
        return _ruled([*left, ("", " ")], tail, width, glyphs)
    before = _first_fitting((f" {archived} ", " archived (kept) ", ""), x - cells(left) - 1)
    after = _first_fitting((f" {live} ", " live ", ""), end - x - 1)
    gap = x - cells(left) - len(before) - 1
    head = [*left, ("", " "), ("rule", glyphs.rule * gap), ("muted", before), ("line", glyphs.boundary)]
    return _ruled([*head, ("text", after)], tail, width, glyphs)


def _first_fitting(wordings: Sequence[str], room: int) -> str:
    return next((words for words in wordings if len(words) <= room), "")


def _ruled(left: Sequence[Span], tail: Sequence[Span], width: int, glyphs: Glyphs) -> Spans:
    free = max(0, width - cells(left) - cells(tail) - 1)
    return cut((*left, ("rule", glyphs.rule * free), *tail, ("rule", glyphs.rule)), width)


def _where(scene: Scene) -> str:
    """`  step 27/46  T7`."""
    if not scene.columns:
        return ""
    column = scene.columns[scene.cursor]
    turn = f"  T{column.mark.turn}" if column.mark.turn else ""
    return f"  step {column.label}/{scene.columns[-1].label}{turn}"


def _state(scene: Scene) -> str:
    """What is drawn and how: `cost  zoom 4  pinned`."""
    words = [] if scene.mode is Mode.WINDOW else [str(scene.mode)]
    words += ["live only"] if scene.live else []
    words += [f"{len(scene.found):,} found"] if scene.found else []
    folded = scene.held.fold > 1
    words.append(f"{scene.held.fold} steps a column" if folded else f"zoom {scene.zoom}")
    words.append("follows" if scene.follow else "pinned")
    return "  ".join(words)


def turn_row(scene: Scene) -> Spans:
    """The number of each turn below its first step."""
    row = _row_of(scene, "turn")
    end, before = 0, 0
    for n in scene.held.shown():
        slot = scene.held.slots[n]
        turn = scene.columns[slot.first].mark.turn
        if slot.line or turn == before or not turn:
            continue
        x = max(0, scene.held.span(n)[0])
        before = turn
        if x >= end and x + len(str(turn)) <= scene.held.room:
            row[1][x : x + len(str(turn))] = list(str(turn))
            end = x + len(str(turn)) + 1
    return cut((("faint", row[0]), ("muted", "".join(row[1]))), scene.width)


def event_row(scene: Scene) -> Spans:
    """Below each column what happened at it; the cursor is a cap around the letter, or a sign."""
    out: list[Span] = [("faint", f"{'event':>{RULER - 1}} ")]
    x = 0
    for n in scene.held.shown():
        slot = scene.held.slots[n]
        left, right = max(0, scene.held.span(n)[0]), min(scene.held.room, scene.held.span(n)[1])
        out.append(("", " " * (left - x)))
        x = right
        if slot.line:
            out.append(("line", scene.glyphs.boundary))
            continue
        out += _event(scene, n, right - left)
    return cut(out, scene.width)


def _event(scene: Scene, n: int, wide: int) -> list[Span]:
    slot = scene.held.slots[n]
    letter = letter_of(scene.columns, slot)
    here = slot.first <= scene.cursor <= slot.last
    style = "limit" if letter in ("C", "c", "!") else "error" if letter == "x" else "event"
    hit = any(slot.first <= place <= slot.last for place in scene.found)
    if here and (scene.letters or not letter):
        sign: Span = ("cursor", scene.glyphs.cursor)
    elif letter:
        sign = (f"{style}-cursor" if here else style, letter)
    else:
        sign = ("match", "*") if hit else ("faint", scene.glyphs.dot)
    rest = wide - cells((sign,))
    fill = "event-cursor" if here and letter and not scene.letters and rest > slot.gap else ""
    cap = rest - slot.gap if fill else 0
    return [sign, (fill, " " * cap), ("", " " * (rest - cap))]


def readout_row(scene: Scene) -> Spans:
    """The step under the cursor in words: whole facts as long as they fit; the first that does not is cut."""
    room = scene.width - 1
    if scene.going is not None:
        said: Spans = (
            ("strong", "go to step "),
            ("key", scene.going or "_"),
            ("muted", "  enter goes, esc leaves"),
        )
        return cut((("", " "), *said), scene.width)
    if not scene.columns:
        return cut((("", " "), ("faint", "no step yet")), scene.width)
    out: list[Span] = [("", " ")]
    slot = scene.held.slots[scene.held.slot_of(scene.cursor)]
    for fact in readout(scene.columns, scene.cursor, scene.mode, slot):
        fact = tuple((style, text.replace("->", scene.glyphs.arrow)) for style, text in fact)
        gap: Spans = (("", "  "),) if len(out) > 1 else ()
        left = room - cells(out) - cells(gap)
        if cells(fact) <= left:
            out += [*gap, *fact]
        elif left > 8 and len(fact) > 1 and cells(fact[:1]) < left:
            style, text = fact[1]
            out += [*gap, fact[0], (style, clip(text, left - cells(fact[:1]), scene.glyphs.cut))]
            break
        else:
            break
    return cut(out, scene.width)


def legend_row(scene: Scene) -> Spans:
    """What the letters of the bands and of the events mean, as many as fit."""
    out: list[Span] = [("", " ")]
    seen = {event.letter for column in scene.columns for event in column.mark.events}
    words = [(f"band-{letter}", letter, word) for letter, word in scene.mode.words.items()]
    words += [("event", letter, word) for letter, word in EVENTS.items() if letter in seen]
    for style, letter, word in words:
        entry: Spans = ((style, letter), ("muted", f" {word}"), ("", "  "))
        if cells(out) + cells(entry) <= scene.width:
            out += entry
    return spread(out, (), scene.width)


EVENTS: Final = {
    "P": "cleared",
    "C": "compacted",
    "c": "by hand",
    "!": "over or refused",
    "x": "error",
    "~": "retry",
    "m": "model",
    "u": "undo",
    "i": "pin",
}
"""Letters of the event row with a word for each."""


def _row_of(scene: Scene, name: str) -> tuple[str, list[str]]:
    return f"{name:>{RULER - 1}} ", [" "] * scene.held.room
