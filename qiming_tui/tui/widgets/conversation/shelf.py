"""The blocks in their order, their heights, and the rows of those that were lately seen.

Heights of blocks that nobody has looked at are estimates; whoever measures adds the difference above the
viewport to the scroll position, so that nothing jumps. No widget here: it is tested without an app.
"""

import bisect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from textual.strip import Strip

from qiming_tui.tui.blocks import Block, Kind
from qiming_tui.tui.widgets.conversation.fenwick import Fenwick
from qiming_tui.tui.widgets.conversation.lines import Line, Rendered
from qiming_tui.tui.widgets.conversation.stream import Stream

KEPT: Final = 200
"""Blocks whose rows are kept."""


class Shown:
    """A block on the shelf."""

    __slots__ = ("block", "height", "opened", "painted", "rendered", "stream", "was")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.opened = False
        self.height = 1
        self.rendered: Rendered | None = None
        """None: not rendered since it changed; then `height` is an estimate or what it was."""
        self.painted: list[Strip | None] = []
        self.stream: Stream | None = None
        self.was: int | None = None
        """Tokens that the window held for it before it was cleared, if that happened before our eyes."""

    @property
    def lines(self) -> Sequence[Line]:
        """Its rows; none while it is not rendered."""
        return self.rendered.lines if self.rendered is not None else ()

    @property
    def text(self) -> str:
        """Everything of it that can be searched, shown or not."""
        row = self.block.tool
        text = self.stream.source if self.stream is not None else self.block.text
        if row is None:
            return text
        return "\n".join(part for part in (row.name, row.subject, row.diff, text) if part)

    def source(self) -> str:
        """What copying it as a whole gives: its text; a call's change or output, else the call."""
        row = self.block.tool
        text = self.stream.source if self.stream is not None else self.block.text
        if row is None:
            return text
        return row.diff or text or f"{row.name} {row.subject}".strip()


def estimate(block: Block, *, width: int) -> int:
    """Rows that a block will roughly have: newlines and wraps, both cheap to know."""
    match block.kind:
        case Kind.TOOL:
            row = block.tool
            return 1 if row is None else 1 + min(6, row.diff.count("\n")) + bool(row.cleared)
        case Kind.THINKING:
            return 1
        case Kind.BOUNDARY | Kind.SUMMARY:
            return 3
        case _:
            text = block.text
            rows = text.count("\n") + len(text) // max(20, width - 12) + 1
            return min(rows, 12) + 1 if block.kind is Kind.USER else rows + bool(rows > 3)


class Shelf:
    """Every block, found by its id, its place or a row."""

    def __init__(self, render: Callable[[Shown], Rendered]) -> None:
        self._render = render
        self.items: list[Shown] = []
        self.width = 80
        self._place: dict[str, int] = {}
        self._heights = Fenwick()
        self._seen: OrderedDict[int, Shown] = OrderedDict()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def total(self) -> int:
        """Rows of all blocks."""
        return self._heights.total

    def load(self, blocks: Iterable[Block]) -> None:
        """Other blocks, in their order; what was opened stays open, where it is still there."""
        before = {item.block.id: item for item in self.items}
        self.items = [Shown(block) for block in blocks]
        for item in self.items:
            old = before.get(item.block.id)
            if old is not None:
                item.opened, item.was = old.opened, old.was
        self._seen.clear()
        self._reckon()

    def _reckon(self) -> None:
        for item in self.items:
            if item.rendered is None:
                item.height = estimate(item.block, width=self.width)
        self._heights = Fenwick(item.height for item in self.items)
        self._place = {item.block.id: index for index, item in enumerate(self.items)}

    def place(self, block_id: str) -> int | None:
        """Where a block is; None: it is not here."""
        return self._place.get(block_id)

    def get(self, block_id: str) -> Shown | None:
        """A block by its id."""
        place = self._place.get(block_id)
        return None if place is None else self.items[place]

    def put(self, block: Block) -> tuple[int, int]:
        """Add a block, or another state of it; its place, and by how many rows everything grew.

        A block that was rendered keeps its height until it is rendered again.
        """
        place = self._place.get(block.id)
        if place is not None:
            item = self.items[place]
            if item.block.order == block.order or block.order == (0, 0):
                item.block = block
                self.forget(place)
                return place, 0
            self.items.pop(place)
            return self._insert(item, block)
        return self._insert(Shown(block), block)

    def _insert(self, item: Shown, block: Block) -> tuple[int, int]:
        item.block = block
        item.rendered = None
        item.height = estimate(block, width=self.width)
        place = bisect.bisect_right(self.items, block.order, key=lambda held: held.block.order)
        if place == len(self._heights) and place == len(self.items):
            self.items.append(item)
            self._heights.append(item.height)
            self._place[block.id] = place
        else:
            self.items.insert(place, item)
            self._reckon()
        return place, item.height

    def drop(self, block_ids: Iterable[str]) -> bool:
        """Take blocks away; whether there were any."""
        gone = {block_id for block_id in block_ids if block_id in self._place}
        if not gone:
            return False
        for item in self.items:
            if item.block.id in gone:
                self._seen.pop(id(item), None)
        self.items = [item for item in self.items if item.block.id not in gone]
        self._reckon()
        return True

    def top(self, place: int) -> int:
        """The first row of a block."""
        return self._heights.prefix(place)

    def find(self, y: int) -> tuple[int, int]:
        """The block that holds row `y` and the row inside it; the last block for rows beyond the end."""
        place, offset = self._heights.find(max(0, y))
        if place >= len(self.items):
            last = len(self.items) - 1
            return last, self.items[last].height if last >= 0 else 0
        return place, offset

    def forget(self, place: int) -> None:
        """Its rows are no longer right; the height stays until it is rendered."""
        item = self.items[place]
        item.rendered = None
        item.painted = []
        self._seen.pop(id(item), None)

    def forget_all(self) -> None:
        """Another width, or another theme."""
        for item in self.items:
            item.rendered = None
            item.painted = []
        self._seen.clear()

    def repaint(self, places: Iterable[int] | None = None) -> None:
        """The rows are right, what is painted beside them is not."""
        for item in self._seen.values() if places is None else (self.items[place] for place in places):
            item.painted = [None] * len(item.lines)

    def ensure(self, place: int) -> int:
        """Render a block if need be; by how many rows its height was wrong."""
        item = self.items[place]
        if item.rendered is not None:
            self._seen.move_to_end(id(item))
            return 0
        item.rendered = self._render(item)
        item.painted = [None] * len(item.rendered.lines)
        self._seen[id(item)] = item
        while len(self._seen) > KEPT:
            _, old = self._seen.popitem(last=False)
            old.rendered = None
            old.painted = []
        return self.fit(place)

    def take(self, place: int, rendered: Rendered) -> None:
        """Rows of a block that are right already."""
        item = self.items[place]
        item.rendered = rendered
        item.painted = [None] * len(rendered.lines)
        self._seen[id(item)] = item
        self.fit(place)

    def fit(self, place: int) -> int:
        """Take over the height of a rendered block; by how much it changed."""
        item = self.items[place]
        change = len(item.lines) - item.height
        if change:
            item.height += change
            self._heights.add(place, change)
        return change

    def measure(self, y: int, *, rows: int, above: int) -> int:
        """Render what `rows` rows from row `y` on show, and `above` rows before; by how many rows what is
        above `y` was wrong."""
        if not self.items:
            return 0
        place, offset = self.find(y)
        need, at = offset + rows, place
        while at < len(self.items) and need > 0:
            self.ensure(at)
            need -= self.items[at].height
            at += 1
        change, at = 0, place - 1
        while at >= 0 and above > 0:
            change += self.ensure(at)
            above -= self.items[at].height
            at -= 1
        return change

    def measure_end(self, rows: int) -> None:
        """Render the last `rows` rows."""
        at = len(self.items) - 1
        while at >= 0 and rows > 0:
            self.ensure(at)
            rows -= self.items[at].height
            at -= 1

    def seen(self) -> Iterator[Shown]:
        """The blocks whose rows are kept."""
        return iter(tuple(self._seen.values()))
