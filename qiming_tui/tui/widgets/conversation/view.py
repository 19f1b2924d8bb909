"""The conversation: what was said, called, cleared and summarised, with its cost beside it."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Final

import msgspec
from textual.timer import Timer

from qiming_tui.tui.blocks import Block, Change, Kind
from qiming_tui.tui.widgets.conversation.drawn import running
from qiming_tui.tui.widgets.conversation.engine import Engine, load_engine
from qiming_tui.tui.widgets.conversation.face import GUTTER
from qiming_tui.tui.widgets.conversation.lines import Rendered, spaces
from qiming_tui.tui.widgets.conversation.rows import prose_cells
from qiming_tui.tui.widgets.conversation.shelf import Shown
from qiming_tui.tui.widgets.conversation.stream import Stream
from qiming_tui.tui.widgets.conversation.wishes import Wishes

FLUSH_S: Final = 0.066
FLUSH_MOST_S: Final = 0.5
FLUSH_COST: Final = 12
"""A flush may take a twelfth of the time between two of them."""


class Conversation(Wishes):
    """Takes blocks and text; posts messages for what only the program can do."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] | None = None,
        engine: Callable[[], Engine] = load_engine,
        seconds: Callable[[], float] = perf_counter,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`clock`: milliseconds since the epoch, for what is running. `engine`: imports Markdown, in a
        thread. `seconds` measures what a flush costs."""
        super().__init__(clock=clock, id=id, classes=classes)
        self._load_engine = engine
        self._seconds = seconds
        self._flush_timer: Timer | None = None
        self._tick_timer: Timer | None = None
        self._waiting: set[str] = set()
        """Ids of blocks that have text which is not on show yet."""
        self._spent_s = 0.0
        """What a flush costs, smoothed."""

    @property
    def ready(self) -> bool:
        """Whether Markdown and colours are there."""
        return self._engine is not None

    def on_mount(self) -> None:
        """Import what the first paint does not need."""
        self._tick_timer = self.set_interval(1.0, self._tick, pause=True)
        self.run_worker(self._import, thread=True, group="engine", exclusive=True)

    def _import(self) -> None:
        engine = self._load_engine()
        self.app.call_from_thread(self._use, engine)

    def _use(self, engine: Engine) -> None:
        self._engine = engine
        self.new_look()
        self.settle()

    # Blocks ----------------------------------------------------------------------------------------

    def load(self, blocks: Iterable[Block]) -> None:
        """Show other blocks. What was opened stays open; the end is shown if it was, or if all is new."""
        anchor = self._anchor()
        self._waiting.clear()
        self.shelf.load(blocks)
        for item in self.shelf.items:
            self._stream(item)
        place = self.shelf.place(anchor[0]) if anchor is not None else None
        if place is None or anchor is None:
            self.go_end()
        else:
            self.show_place(place, offset=anchor[1])
        self.find_again()
        self._watch_running()

    def _anchor(self) -> tuple[str, int] | None:
        """The block at the top of the viewport and the row in it; None where the end is followed."""
        if self.following or not len(self.shelf):
            return None
        place, offset = self.shelf.find(round(self.scroll_y))
        return self.shelf.items[place].block.id, offset

    def put(self, block: Block) -> None:
        """Add a block at its place (`order`), or show another state of it. What was streamed of it and is
        not in it yet stays."""
        top = self.shelf.find(round(self.scroll_y))[0] if len(self.shelf) else 0
        old = self.shelf.get(block.id)
        known = old is not None
        sealed = self._seal(old, block) if old is not None else None
        place, grown = self.shelf.put(block)
        self._stream(self.shelf.items[place])
        if not known and not self.following:
            self.unseen = self.unseen or place >= top
        if not block.live:
            self._waiting.discard(block.id)
        if sealed is not None:
            self.shelf.take(place, sealed)
            self.settle()
        elif known:
            self.changed(place)
        else:
            self.settle(above=grown if place < top else 0)
        self._watch_running()

    def drop(self, *block_ids: str) -> None:
        """Take blocks away."""
        if self.shelf.drop(block_ids):
            self.settle()

    def apply(self, change: Change) -> None:
        """What an event changed (`book.Book.take`)."""
        if change.drop:
            self.drop(*change.drop)
        for message_id, facts in change.facts.items():
            self.set_boundary(message_id, facts)
        for block in change.put:
            self.put(block)

    def _seal(self, item: Shown, block: Block) -> Rendered | None:
        """The rows of a text that is complete now and was on show as it grew: a second rendering of a long
        answer would be felt."""
        stream = item.stream
        if block.live or stream is None or self._engine is None or block.kind is not Kind.TEXT:
            return None
        if item.rendered is None or item.rendered.lines is not stream.lines or stream.source != block.text:
            return None
        if block.order not in {item.block.order, (0, 0)}:
            return None
        width = prose_cells(self._width())
        return stream.seal(self._engine, width=width, looks=self.looks, gutter=spaces(GUTTER))

    def _stream(self, item: Shown) -> None:
        """Text that is live grows in a stream of its own; what is not live has none."""
        block = item.block
        if not block.live or block.kind not in {Kind.TEXT, Kind.SUMMARY, Kind.THINKING}:
            item.stream = None
        elif item.stream is None or not item.stream.source.startswith(block.text):
            item.stream = Stream(block.text)

    def delta(self, block_id: str, text: str) -> None:
        """More text of a live block; it is shown with the next flush."""
        item = self.shelf.get(block_id)
        if item is None or item.stream is None or not text:
            return
        item.stream.feed(text)
        self._waiting.add(block_id)
        if self._flush_timer is None:
            wait = max(FLUSH_S, min(FLUSH_MOST_S, self._spent_s * FLUSH_COST))
            self._flush_timer = self.set_timer(wait, self.flush)

    def finish(self, block_id: str) -> None:
        """A live block is complete: it is rendered once as a whole."""
        place = self.shelf.place(block_id)
        if place is None:
            return
        item = self.shelf.items[place]
        text = item.stream.source if item.stream is not None else item.block.text
        self.put(msgspec.structs.replace(item.block, text=text, live=False))

    # Streaming -------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Show the text that came since the last flush."""
        if self._flush_timer is not None:
            self._flush_timer.stop()
            self._flush_timer = None
        names, self._waiting = self._waiting, set()
        begun = self._seconds()
        for name in names:
            place = self.shelf.place(name)
            if place is not None:
                self._flush_block(place)
        self._spent_s = 0.7 * self._spent_s + 0.3 * (self._seconds() - begun)

    def _flush_block(self, place: int) -> None:
        item = self.shelf.items[place]
        top, bottom = self.in_view()
        if not self.following and not top <= place <= bottom:
            if place < top:
                self.changed(place)
                return
            self.shelf.forget(place)
            self.unseen = True
            return
        if item.rendered is None or item.stream is None or item.rendered.lines is not item.stream.lines:
            self.changed(place)
            return
        first = self._flush_rows(item)
        del item.painted[min(first, item.stream.cost_row) :]
        item.painted += [None] * (len(item.stream.lines) - len(item.painted))
        self._grown(place, first)

    def _grown(self, place: int, first: int) -> None:
        """Rows from `first` on of a block are new."""
        change = self.shelf.fit(place)
        self.set_size()
        if self.following and change:
            self._jump(self.max_scroll_y)
            self.refresh()
            return
        if change > 0 and not self.following and not self.at_end:
            self.unseen = True
        y = self.shelf.top(place) + min(first, self.shelf.items[place].height)
        if change:
            self.refresh()
        else:
            self.refresh_lines(y, max(1, self.shelf.items[place].height - first))

    # Time ------------------------------------------------------------------------------------------

    def _watch_running(self) -> None:
        if self._tick_timer is None:
            return
        if any(running(item.block) for item in self.shelf.items[-50:]):
            self._tick_timer.resume()
        else:
            self._tick_timer.pause()

    def _tick(self) -> None:
        """A second passed: what is running shows it."""
        if self._clock is None:
            return
        for place in range(max(0, len(self.shelf) - 50), len(self.shelf)):
            if running(self.shelf.items[place].block):
                self.changed(place)
