"""A painted line of the conversation and what it is when it is copied."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style

from qiming_tui.tui.widgets.conversation.wrap import Run, wrap

NOTHING: Final = Style()
HREF: Final = "href"
"""Key of a link's address in the meta of its style."""


class Line(NamedTuple):
    """One row of a block, without margin and token column."""

    segments: tuple[Segment, ...]
    text: str = ""
    """The part of it that belongs to the source; what is around it (gutter, number, tone) is never copied."""
    at: int = 0
    """How many characters stand before `text` in the row."""
    join: str = "\n"
    """What joins it to the next line when copied: a newline, or what a soft wrap swallowed."""
    piece: int = -1
    """Which piece of the source it shows; -1: none."""
    copied: bool = True
    """Whether a selection takes it at all: hints and rules are left out."""


class Rendered(NamedTuple):
    """A block as rows."""

    lines: list[Line]
    cost_row: int = 0
    """The row that carries the tokens and the chip."""
    pieces: tuple[str, ...] = ()
    """Source text of the pieces; a piece that is selected as a whole is copied as its source."""


BLANK: Final = Line(())


def parted(before: str, after: str) -> bool:
    """Whether a blank row stands between two pieces of Markdown, by the types of their first tokens: not
    below a heading, nor between a paragraph and the code that it announces."""
    return before != "heading_open" and not (before == "paragraph_open" and after in {"fence", "code_block"})


def spaces(count: int, style: Style = NOTHING) -> Segment:
    """Empty cells."""
    return Segment(" " * max(0, count), style)


def flow(
    runs: Sequence[Run],
    *,
    width: int,
    first: Sequence[Segment] = (),
    rest: Sequence[Segment] = (),
    piece: int = -1,
) -> list[Line]:
    """Wrapped text behind a first and a following prefix, which count as decoration and not as text."""
    begin = sum(len(part.text) for part in first)
    follow = sum(len(part.text) for part in rest)
    return [
        Line((*first, *segments), text, begin, join, piece)
        if index == 0
        else Line((*rest, *segments), text, follow, join, piece)
        for index, (segments, text, join) in enumerate(wrap(runs, width=width))
    ]
