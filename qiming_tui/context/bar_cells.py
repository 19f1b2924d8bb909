"""Which cell of the budget bar shows what: whole cells, and eighths where the fill ends (`ux.md` 5.5).

The segments' cells sum up to round(drawn / (window / cells)) for every value, and never to more than the bar.
"""

from collections.abc import Sequence

import msgspec

from qiming_tui.context.bar import ORDER, BarData


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Neighbouring cells of one class; its letter stands in the first one."""

    letter: str
    tokens: int
    start: int
    cells: int

    @property
    def end(self) -> int:
        """The first cell behind it."""
        return self.start + self.cells


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """A bar of `cells` cells; all positions count from 0."""

    cells: int
    segments: tuple[Segment, ...]
    hidden: tuple[str, ...]
    """Classes that have tokens but no cell: they are in the legend only."""
    fill: int
    """Cells of all segments."""
    part: int = 0
    """Eighths that are filled of the cell at `part_at`; 0: that the fill ends between two cells."""
    part_at: int = 0
    next_from: int
    next_to: int
    """Cells that the draft and the turn it starts are expected to fill: [next_from, next_to)."""
    tick: int | None
    """The cell of the threshold; None: the window is unknown."""
    cached: int
    """Cells from 0 on that show what the provider has in its cache."""

    def at(self, cell: int) -> Segment | None:
        """The segment that a cell belongs to."""
        return next((held for held in self.segments if held.start <= cell < held.end), None)


def scaled(tokens: int, *, cells: int, window: int) -> int:
    """Tokens in cells, half up; 0 for an unknown window."""
    return (2 * tokens * cells + window) // (2 * window) if window > 0 else 0


def allocate(tokens: Sequence[int], cells: int) -> list[int]:
    """`cells` shared out over `tokens` by largest remainder; the sum is exact (0 where there are no tokens).

    A part keeps at least one cell while one cell is no more than twice its share; a smaller part gets none.
    Where there are fewer cells than such parts, the smallest go without.
    """
    whole = sum(tokens)
    if whole <= 0 or cells <= 0:
        return [0] * len(tokens)
    places = range(len(tokens))
    worth = [2 * tokens[i] * cells >= whole and tokens[i] > 0 for i in places]
    if not any(worth):
        worth = [tokens[i] == max(tokens) for i in places]
    found = [max(1, tokens[i] * cells // whole) if worth[i] else 0 for i in places]

    def owed(i: int) -> int:
        """How far a part is below its share, in cells x whole."""
        return tokens[i] * cells - found[i] * whole

    while (missing := cells - sum(found)) != 0:
        if missing > 0:
            best = max((i for i in places if worth[i]), key=lambda i: (owed(i), -i))
            found[best] += 1
            continue
        wide = [i for i in places if found[i] > 1]
        if wide:
            found[min(wide, key=lambda i: (owed(i), i))] -= 1
        else:
            found[min((i for i in places if found[i]), key=lambda i: (tokens[i], -i))] -= 1
    return found


def layout(data: BarData, cells: int, *, eighths: bool) -> Layout:
    """The bar in `cells` cells. `eighths`: whether a cell can be filled in part."""
    window = data.window
    if window <= 0 or cells <= 0 or data.usable is None:
        return Layout(
            cells=max(0, cells),
            segments=(),
            hidden=tuple(letter for letter, _ in parts(data)),
            fill=0,
            next_from=0,
            next_to=0,
            tick=None,
            cached=0,
        )
    tick = min(cells - 1, scaled(data.usable, cells=cells, window=window))
    held = parts(data)
    drawn = sum(tokens for _, tokens in held)
    fill = min(cells, scaled(drawn, cells=cells, window=window))
    widths = allocate([tokens for _, tokens in held], fill)
    part, part_at = _end(drawn, fill, cells=cells, window=window) if eighths else (0, 0)
    if part and part_at < fill and not _make_room(widths):
        part = 0
    if part_at == tick:
        part = 0
    start = fill + (1 if part and part_at == fill else 0)
    over = data.count >= data.usable  # it compacts before anything is added
    after = drawn if over else drawn + data.draft_tokens + (data.growth or 0)
    segments, hidden = _segments(held, widths)
    return Layout(
        cells=cells,
        segments=segments,
        hidden=hidden,
        fill=fill,
        part=part,
        part_at=part_at if part else 0,
        next_from=start,
        next_to=max(start, min(cells, scaled(after, cells=cells, window=window))),
        tick=tick,
        cached=min(fill, scaled(data.cached, cells=cells, window=window)),
    )


def parts(data: BarData) -> list[tuple[str, int]]:
    """(letter, tokens) of every class that has tokens, in the order of the request."""
    found = {**data.by_class, "?": max(0, data.drift)}
    return [(letter, found[letter]) for letter in ORDER if found.get(letter, 0) > 0]


def _end(drawn: int, fill: int, *, cells: int, window: int) -> tuple[int, int]:
    """(eighths, the cell) where the fill ends inside a cell; that cell is the last of the fill if it was
    rounded up, the first behind it if it was rounded down."""
    eighths = scaled(drawn, cells=8 * cells, window=window)
    whole, part = divmod(eighths, 8)
    return (part, whole) if part and whole < cells and fill - 1 <= whole <= fill else (0, 0)


def _make_room(widths: list[int]) -> bool:
    """See that the last part has a cell for its letter beside the one that is filled in part, if need be by
    a cell of the widest other part."""
    last = max((i for i, cells in enumerate(widths) if cells), default=None)
    if last is None or widths[last] > 1:
        return last is not None
    widest = max(range(last), key=lambda i: widths[i], default=None)
    if widest is None or widths[widest] < 3:
        return False
    widths[widest] -= 1
    widths[last] += 1
    return True


def _segments(
    held: Sequence[tuple[str, int]], widths: Sequence[int]
) -> tuple[tuple[Segment, ...], tuple[str, ...]]:
    found: list[Segment] = []
    start = 0
    for (letter, tokens), cells in zip(held, widths, strict=True):
        if cells:
            found.append(Segment(letter=letter, tokens=tokens, start=start, cells=cells))
            start += cells
    return tuple(found), tuple(letter for (letter, _), cells in zip(held, widths, strict=True) if not cells)
