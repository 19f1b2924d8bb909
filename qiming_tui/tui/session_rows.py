"""The list of sessions in words and columns: this folder's first, then the others'."""

from collections.abc import Sequence
from typing import Final

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.figures import kilo, money, plural
from qiming_tui.model.changes import SessionLine
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.picking import Cell, Row, age, clipped, columns, held_by, marked, small_bar
from qiming_tui.tui.spans import cells, spread

OTHERS: Final = "other folders"
UNTITLED: Final = "without a title"
_BAR: Final = 10
_LEAST: Final = 18
"""Cells that a title keeps while a column can give way."""
_HEAD: Final = (
    ("age", 6, 1, True),
    ("requests", 8, 4, True),
    ("C", 2, 2, True),
    ("context", _BAR, 5, False),
    ("", 4, 0, True),
    ("model", 16, 6, False),
)
"""Name, width, rank and side of the columns."""


def title_of(line: SessionLine) -> str:
    """The title on one line."""
    return one_line(line.title) or UNTITLED


def rows_of(
    lines: Sequence[SessionLine], words: Sequence[str], found: frozenset[str], *, here: str, here_name: str
) -> tuple[Row, ...]:
    """Those whose title, folder or model holds all the words, or whose content does (`found`), in groups."""
    kept = [
        line
        for line in lines
        if line.id in found or held_by(f"{line.title} {line.directory} {line.model} {line.id}", words)
    ]
    own = [Row(line.id) for line in kept if line.directory == here]
    others = [Row(line.id) for line in kept if line.directory != here]
    out = [Row(head=here_name), *own] if own else []
    if others:
        out += [*([Row()] if own else []), Row(head=OTHERS), *others]
    return tuple(out)


def head_row(name: str, width: int, glyphs: Glyphs, *, first: bool) -> Spans:
    """A heading; the first one names the columns."""
    cells_of = (
        [Cell((("muted", text),), size, rank, right) for text, size, rank, right in _HEAD] if first else []
    )
    return columns((("muted", one_line(name)),), cells_of, width=width, least=_LEAST, glyphs=glyphs)


def session_row(
    line: SessionLine, words: Sequence[str], width: int, glyphs: Glyphs, *, now: int, live: bool, chosen: bool
) -> Spans:
    """One session."""
    title = marked(title_of(line), words, "strong" if chosen else "text")
    share = "-" if line.percent is None else f"{line.percent}%"
    boundaries: Spans = (("text" if line.boundaries else "faint", str(line.boundaries)),)
    values: list[Spans] = [
        (("muted", age(now - line.updated)),),
        (("muted", f"{line.requests:,}"),),
        boundaries,
        small_bar(line.percent, _BAR, glyphs, _style(line)),
        (("faint" if line.percent is None else "text", share),),
        marked(one_line(line.model.partition("/")[2] or line.model), words, "muted"),
    ]
    found = [
        Cell(spans, size, rank, right) for spans, (_, size, rank, right) in zip(values, _HEAD, strict=True)
    ]
    tag: Spans = (("live", "  live"),) if live else ()
    return columns(title, found, width=width, least=_LEAST, glyphs=glyphs, tag=tag)


def _style(line: SessionLine) -> str:
    if line.percent is None or line.percent < 75:
        return "bar"
    return "bar-near" if line.percent < 100 else "bar-over"


def state_of(line: SessionLine) -> Spans:
    """How full its window was, in words."""
    if line.count is None:
        return (("muted", "no request yet"),)
    if line.usable is None:
        return (("muted", f"{kilo(line.count)}, window unknown"),)
    left = line.usable - line.count
    if left <= 0:
        return (("limit", f"over by {kilo(-left)}"),)
    near = (line.percent or 0) >= 75
    return (("warn", f"near: {kilo(left)} left"),) if near else (("muted", f"{kilo(left)} left"),)


def detail_rows(
    line: SessionLine, words: Sequence[str], match: str | None, width: int, glyphs: Glyphs, *, now: int
) -> tuple[Spans, ...]:
    """Three rows about the chosen session: title and state, what it holds, where it matches or lies."""
    state = state_of(line)
    title = clipped((("strong", title_of(line)),), max(8, width - cells(state) - 2), glyphs)
    held = [plural(line.messages, "message"), plural(line.boundaries, "compaction")]
    held.append("price unknown" if line.cost is None else money(line.cost))
    made: Spans = (("muted", f"begun {_ago(now - line.created)}  "), ("text", "  ".join(held)))
    place: Spans = (("muted", "folder  "), *marked(one_line(line.directory), words, "text"))
    if match is not None:
        place = (("muted", "match  "), *marked(one_line(match, limit=400), words, "text"))
    rest = tuple(clipped(row, width, glyphs) for row in (made, place))
    return (spread(title, state, width), *rest)


def _ago(since_ms: int) -> str:
    words = age(since_ms)
    return "just now" if words == "now" else f"{words} ago"
