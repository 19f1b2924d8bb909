"""Styled text cut into lines by cells: at spaces, and between wide characters, which need none."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style

Run = tuple[str, Style]
"""Text in one style."""

NO_START: Final = frozenset("，。、；：？！）】》」』”’…,.;:?!)]}%")
"""What may not begin a line where a wide character would allow a break before it."""


class Cut(NamedTuple):
    """A line of a text: from, to, and what joins it to the next one when it is copied."""

    start: int
    end: int
    join: str


class Wrapped(NamedTuple):
    """A line, ready to paint, its text, and what joins it to the next one."""

    segments: list[Segment]
    text: str
    join: str


def cuts(text: str, *, width: int) -> Iterator[Cut]:
    """Where to cut one paragraph (no newlines) into lines of at most `width` cells (at least 2)."""
    width = max(2, width)
    if text.isascii():
        yield from _ascii(text, width)
    elif cell_len(text) <= width:
        yield Cut(0, len(text), "\n")
    else:
        yield from _wide(text, width)


def _ascii(text: str, width: int) -> Iterator[Cut]:
    start, size = 0, len(text)
    while size - start > width:
        space = text.rfind(" ", start, start + width + 1)
        if space <= start:
            yield Cut(start, start + width, "")
            start += width
            continue
        after = space
        while after < size and text[after] == " ":
            after += 1
        yield Cut(start, space, text[space:after] if after < size else "\n")
        if after >= size:
            return
        start = after
    yield Cut(start, size, "\n")


def _wide(text: str, width: int) -> Iterator[Cut]:
    start = used = 0
    best: tuple[int, int] | None = None
    index = 0
    while index < len(text):
        char = text[index]
        size = get_character_cell_size(char)
        if char != " " and index > start and _may_break(text, index):
            best = (index, index)
        if used + size <= width:
            if char == " ":
                best = (index, index + 1)
            used += size
            index += 1
            continue
        if char == " ":
            best = (index, index + 1)
        end, after = best if best is not None and best[0] > start else (index, index)
        yield Cut(start, end, text[end:after])
        start = index = after
        used, best = 0, None
    yield Cut(start, len(text), "\n")


def _may_break(text: str, index: int) -> bool:
    """Whether a line may end before the character at `index`: beside a wide one, but not before a stop."""
    char = text[index]
    if char in NO_START or get_character_cell_size(char) == 0:
        return False
    return get_character_cell_size(char) == 2 or get_character_cell_size(text[index - 1]) == 2


def hard(text: str, *, width: int) -> list[str]:
    """A line cut every `width` cells, wherever that is: program output, code, differences."""
    width = max(2, width)
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    out: list[str] = []
    begin = used = 0
    for index, char in enumerate(text):
        size = get_character_cell_size(char)
        if used + size > width:
            out.append(text[begin:index])
            begin, used = index, 0
        used += size
    out.append(text[begin:])
    return out


def clip(text: str, *, width: int, mark: str) -> str:
    """The text on at most `width` cells, cut from the right with a mark."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(mark)
    if room <= 0:
        return hard(mark, width=width)[0] if width >= 2 else mark[:width]
    used = 0
    for index, char in enumerate(text):
        used += get_character_cell_size(char)
        if used > room:
            return text[:index] + mark
    return text


def slice_runs(runs: Sequence[Run], start: int, end: int) -> list[Segment]:
    """The part of runs between two character places."""
    out: list[Segment] = []
    at = 0
    for text, style in runs:
        low, high = max(start - at, 0), min(end - at, len(text))
        if low < high:
            out.append(Segment(text[low:high], style))
        at += len(text)
        if at >= end:
            break
    return out


def paragraphs(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs parted at their newlines."""
    now: list[Run] = []
    for text, style in runs:
        first, *more = text.split("\n")
        now.append((first, style))
        for part in more:
            yield now
            now = [(part, style)]
    yield now


def wrap(runs: Sequence[Run], *, width: int) -> list[Wrapped]:
    """Runs as lines of at most `width` cells."""
    out: list[Wrapped] = []
    for line in paragraphs(runs):
        text = "".join(part for part, _ in line)
        for start, end, join in cuts(text, width=width):
            out.append(Wrapped(slice_runs(line, start, end), text[start:end], join))
    return out
