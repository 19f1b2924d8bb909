"""Blocks to rows and rows to strips: which renderer, which looks, which figure beside it."""

from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Final

import msgspec
from rich.segment import Segment
from textual.color import Color
from textual.reactive import reactive
from textual.strip import Strip

from qiming_tui.model.window import ItemState
from qiming_tui.tui.blocks import Block, BoundaryFacts, Cost, Kind
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.toolrow import Phase, removed_words
from qiming_tui.tui.widgets.conversation.boundary import boundary, folded_summary
from qiming_tui.tui.widgets.conversation.engine import Engine
from qiming_tui.tui.widgets.conversation.face import GUTTER, NO_FACTS, Face, Hint
from qiming_tui.tui.widgets.conversation.figures import tokens_words
from qiming_tui.tui.widgets.conversation.lines import BLANK, Line, Rendered, spaces
from qiming_tui.tui.widgets.conversation.looks import NAMES, PREFIX, Looks
from qiming_tui.tui.widgets.conversation.paint import MARGIN, cost_segments, dimmed, row_strip
from qiming_tui.tui.widgets.conversation.rows import PLAIN, hint_row, plain_text, prose_cells
from qiming_tui.tui.widgets.conversation.shelf import Shown
from qiming_tui.tui.widgets.conversation.viewport import Viewport
from qiming_tui.tui.widgets.scrolling import use_for_all

COMPACT_COLUMNS: Final = 100
COMPACT_ROWS: Final = 30
"""A screen below either is drawn without blank rows around boundaries and without rows of hints."""


class Drawn(Viewport):
    """Draws blocks; knows their costs, what is archived, and what is known of compactions."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(NAMES)

    glyphs: reactive[Glyphs] = reactive(FULL)
    ghost_hints: reactive[tuple[Hint, ...]] = reactive((("p", "peek"),))
    """Keys named beside a cleared result."""
    boundary_hints: reactive[tuple[Hint, ...]] = reactive((("enter", "read the summary"),))
    """Keys named below a compaction."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._engine: Engine | None = None
        self._looks: Looks | None = None
        self._costs: dict[str, Cost] = {}
        self._archived: frozenset[str] = frozenset()
        self._facts: dict[str, BoundaryFacts] = {}
        self._expected: dict[str, int] = {}

    def expect(self, part_id: str, tokens: int) -> None:
        """What the result of a running call will probably weigh: shown with `~` until it is known."""
        self._expected[part_id] = tokens
        place = self.shelf.place(part_id)
        if place is not None:
            self.changed(place)

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Milliseconds since the epoch, for the seconds of what is running."""
        self._clock = clock

    # Looks -----------------------------------------------------------------------------------------

    @property
    def looks(self) -> Looks:
        """Styles and signs of the present theme and size."""
        if self._looks is None:
            styles = {name.removeprefix(PREFIX): self.get_component_rich_style(name) for name in NAMES}
            plain = self.app.no_color or self.glyphs.letters
            self._looks = Looks(styles, self.glyphs, plain=plain, compact=self._compact())
        return self._looks

    def _compact(self) -> bool:
        width, height = self.app.size
        return width < COMPACT_COLUMNS or height < COMPACT_ROWS

    def look_changed(self) -> bool:
        """Whether the screen crossed the size below which it is drawn compact."""
        return self._looks is not None and self._looks.compact != self._compact()

    def new_look(self) -> None:
        """Render everything again."""
        self._looks = None
        for item in self.shelf.items:
            if item.stream is not None:
                item.stream.restart()
        self.shelf.forget_all()

    def notify_style_update(self) -> None:
        """The theme changed, or a class of ours."""
        super().notify_style_update()
        if self._looks is not None and self.is_attached:
            before, self._looks = self._looks, None
            if not self.looks.same(before):
                self.new_look()
                self.call_later(self.settle)

    def watch_glyphs(self) -> None:
        """Other signs."""
        use_for_all(self.glyphs)
        if self.is_attached:
            self.vertical_scrollbar.refresh()
        if self._looks is not None:
            self.new_look()
            self.settle()

    # Rows ------------------------------------------------------------------------------------------

    def render_block(self, item: Shown) -> Rendered:
        """The rows of a block."""
        width, looks = self._width(), self.looks
        face = self._face(item)
        block = face.block
        if block.kind is Kind.BOUNDARY:
            return boundary(face, width, looks)
        if block.kind is Kind.SUMMARY and not item.opened:
            return folded_summary(face, width, looks)
        if not face.prose:
            return PLAIN[block.kind](face, width, looks)
        if item.stream is not None:
            return self._streamed(item)
        if self._engine is None:
            return plain_text(face, width, looks)
        whole = self._engine.whole(block.text, width=prose_cells(width), looks=looks, gutter=spaces(GUTTER))
        if block.removed:
            words = hint_row((spaces(GUTTER),), removed_words(block.removed), (), looks)
            whole = whole._replace(lines=[*whole.lines, words])
        if block.kind is Kind.SUMMARY and not looks.compact:
            return whole._replace(lines=[*whole.lines, BLANK] if len(whole.pieces) < 2 else whole.lines)
        return whole

    def _streamed(self, item: Shown) -> Rendered:
        stream = item.stream
        assert stream is not None
        self._flush_rows(item)
        return Rendered(stream.lines, stream.cost_row, ())

    def _flush_rows(self, item: Shown) -> int:
        assert item.stream is not None
        return item.stream.flush(
            self._engine, width=prose_cells(self._width()), looks=self.looks, gutter=spaces(GUTTER)
        )

    def _width(self) -> int:
        return max(20, self.shelf.width - MARGIN)

    def _face(self, item: Shown) -> Face:
        block = item.block
        if item.stream is not None:
            block = msgspec.structs.replace(block, text=item.stream.source)
        cost = self._costs.get(block.id)
        row = block.tool
        cleared = row.cleared if row is not None else ""
        if cost is not None and row is not None:
            gone = cost.state is ItemState.CLEARED
            cleared = (cleared or "now") if gone else ""
        was = ""
        if cleared and row is not None:
            if item.was is not None:
                was = tokens_words(item.was)
            elif row.was is not None:
                was = f"{'~' if row.was_rough else ''}{tokens_words(row.was)}"
        return Face(
            block=block,
            opened=item.opened,
            cleared=cleared,
            was=was,
            facts=self._facts.get(block.id, NO_FACTS),
            hints=self.ghost_hints if cleared else self.boundary_hints,
            now_ms=self._clock() if self._clock is not None else None,
        )

    def cost_of(self, block: Block) -> Cost | None:
        """What a block is in the next request: its own part, or the parts that it shows."""
        own = self._costs.get(block.id)
        if own is not None or not block.parts:
            return own
        found = [cost for part in block.parts if (cost := self._costs.get(part)) is not None]
        if not found:
            return None
        pinned = any(cost.pinned for cost in found)
        return Cost(sum(cost.tokens for cost in found), found[0].klass, found[0].state, pinned)

    def row_strip(self, place: int, offset: int) -> Strip:
        """A painted row, kept until something about it changes."""
        item = self.shelf.items[place]
        rendered = item.rendered
        if rendered is None or offset >= len(rendered.lines):
            return Strip.blank(self.shelf.width, self.rich_style)
        if len(item.painted) != len(rendered.lines):
            item.painted = [None] * len(rendered.lines)
        strip = item.painted[offset]
        if strip is None:
            cost_row = item.stream.cost_row if item.stream is not None else rendered.cost_row
            strip = self._paint(item, rendered.lines[offset], figure=offset == cost_row)
            item.painted[offset] = strip
        return strip

    def _paint(self, item: Shown, line: Line, *, figure: bool) -> Strip:
        archived = item.block.message_id in self._archived
        cost: list[Segment] = []
        if figure and self.shelf.width >= 30:
            cost = cost_segments(
                self.cost_of(item.block),
                kind=item.block.kind,
                archived=archived,
                rough=self._rough(item),
                looks=self.looks,
            )
        strip = row_strip(line, width=self.shelf.width, cost=cost, page=self.rich_style)
        if archived:
            page = self.rich_style.bgcolor
            return dimmed(strip, Color.from_rich_color(page)) if page is not None else strip
        return strip

    def _rough(self, item: Shown) -> Cost | None:
        """A guess for what is still being written, or will come."""
        if item.stream is not None:
            return Cost(item.stream.rough, "A")
        row = item.block.tool
        if row is None or not row.running:
            return None
        expected = self._expected.get(item.block.id)
        if expected is not None:
            return Cost(expected, "R")
        return Cost(row.written, "A") if row.written else None

    # What the window did ---------------------------------------------------------------------------

    def set_costs(self, costs: Mapping[str, Cost]) -> None:
        """What every part is in the next request, by part id (`blocks.costs_of`)."""
        before, self._costs = self._costs, dict(costs)
        for place, item in enumerate(self.shelf.items):
            block = item.block
            changed = False
            for part in (block.id, *block.parts):
                old, new = before.get(part), self._costs.get(part)
                if old == new:
                    continue
                changed = True
                cleared = new is not None and new.state is ItemState.CLEARED
                if cleared and old is not None and old.state is not ItemState.CLEARED:
                    item.was = old.tokens
                if block.kind is Kind.TOOL and cleared != (
                    old is not None and old.state is ItemState.CLEARED
                ):
                    self.shelf.forget(place)
            if changed and item.rendered is not None:
                self.shelf.repaint((place,))
        self.settle()

    def set_archived(self, message_ids: Collection[str]) -> None:
        """Messages that lie before the newest boundary: kept, not sent, dimmed."""
        found = frozenset(message_ids)
        if found != self._archived:
            self._archived = found
            self.shelf.repaint()
            self.refresh()

    def set_boundary(self, message_id: str, facts: BoundaryFacts) -> None:
        """What is known of a compaction, by the id of its request's message."""
        self._facts[message_id] = facts
        place = self.shelf.place(message_id)
        if place is not None:
            self.changed(place)

    def changed(self, place: int) -> None:
        """A block is to be rendered again."""
        self.shelf.forget(place)
        above = 0
        if not self.following and self.rows and len(self.shelf):
            top, _ = self.shelf.find(round(self.scroll_y))
            if place < top:
                above = self.shelf.ensure(place)
        self.settle(above=above)


def running(block: Block) -> bool:
    """Whether a block shows a time that goes on."""
    return block.tool is not None and block.tool.phase in {Phase.RUNNING, Phase.WAITING}
