"""Reading: the block cursor, opening and folding, search, selection and copy."""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive, var
from textual.selection import Selection
from textual.strip import Strip

from qiming_tui.tui.blocks import Block, Kind
from qiming_tui.tui.keys import bind
from qiming_tui.tui.widgets.conversation.drawn import Drawn
from qiming_tui.tui.widgets.conversation.lines import HREF, NOTHING, Line
from qiming_tui.tui.widgets.conversation.looks import REVERSE
from qiming_tui.tui.widgets.conversation.paint import MARGIN, restyle
from qiming_tui.tui.widgets.conversation.search import Finder, spans
from qiming_tui.tui.widgets.conversation.select import selected_text
from qiming_tui.tui.widgets.conversation.shelf import Shown

FOLDABLE = frozenset({Kind.TOOL, Kind.THINKING, Kind.SUMMARY, Kind.USER, Kind.NOTE, Kind.SYNTHETIC})

NEW_BELOW = "  new below  G  "


class Reader(Drawn, inherit_bindings=False):
    """What a person does with a conversation."""

    ALLOW_SELECT: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("conversation.open", "space,enter", "open", "open", show=True),
        bind("conversation.peek", "p", "peek", "peek"),
        bind("conversation.next", "j,down", "cursor(1)", "next"),
        bind("conversation.previous", "k,up", "cursor(-1)", "previous", show=True),
        bind("conversation.first", "g,home", "first", "first"),
        bind("conversation.last", "G,end", "last", "end, follow", show=True),
        bind("conversation.page_up", "pageup", "page_up", "page up"),
        bind("conversation.page_down", "pagedown", "page_down", "page down"),
        bind("conversation.find", "slash", "app.command('find')", "find", show=True),
        bind("conversation.found_next", "n", "found(1)", "next place"),
        bind("conversation.found_previous", "N", "found(-1)", "place before"),
        bind("conversation.copy", "y", "copy", "copy", show=True),
    ]

    cursor: reactive[str] = reactive("")
    """Id of the block under the cursor; empty: none."""

    class BodyWanted(Message, namespace="conversation"):
        """A cleared output was opened and lies in the store: `put` the block again with its text."""

        def __init__(self, block_id: str) -> None:
            super().__init__()
            self.block_id = block_id

    class CopyWanted(Message, namespace="conversation"):
        """Text is to go to the clipboard; `words` say what it is."""

        def __init__(self, text: str, words: str) -> None:
            super().__init__()
            self.text = text
            self.words = words

    class LinkWanted(Message, namespace="conversation"):
        """A link was clicked. The address is hostile: show it before opening it."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class CursorMoved(Message, namespace="conversation"):
        """The cursor is on another block."""

        def __init__(self, block: Block | None) -> None:
            super().__init__()
            self.block = block

    finder: var[Finder] = var(Finder())
    """What is searched for, and where it is."""

    # Cursor ----------------------------------------------------------------------------------------

    @property
    def selected(self) -> Block | None:
        """The block under the cursor."""
        item = self.shelf.get(self.cursor) if self.cursor else None
        return item.block if item is not None else None

    def in_view(self) -> tuple[int, int]:
        """Places of the first and the last block on show; (0, -1) where there is none."""
        if not len(self.shelf) or not self.rows:
            return 0, -1
        y = round(self.scroll_y)
        return self.shelf.find(y)[0], self.shelf.find(y + self.rows - 1)[0]

    def on_focus(self) -> None:
        """The cursor is to be seen: on the last block, unless it was somewhere."""
        if self.shelf.place(self.cursor) is None:
            _, bottom = self.in_view()
            if bottom >= 0:
                self.cursor = self.shelf.items[bottom].block.id
        self.refresh()

    def on_blur(self) -> None:
        """It is not painted any more."""
        self.refresh()

    def watch_cursor(self, before: str, after: str) -> None:
        """Paint it, and say so."""
        self.post_message(self.CursorMoved(self.selected))
        self.refresh()

    def action_cursor(self, step: int) -> None:
        """To the next block (1) or the one before (-1); a block that is taller than the view is scrolled
        through first."""
        place = self.shelf.place(self.cursor) if self.cursor else None
        if place is None:
            top, bottom = self.in_view()
            self._to(bottom if step < 0 or self.following else top)
            return
        begin = self.shelf.top(place)
        end = begin + self.shelf.items[place].height
        y, rows = round(self.scroll_y), self.rows
        if step > 0 and y + rows < end and begin < y + rows:
            self.scroll_to(y=min(end - rows, y + rows // 2))
        elif step < 0 and begin < y < end:
            self.scroll_to(y=max(begin, y - rows // 2))
        else:
            self._to(self._next(place, step))

    def _next(self, place: int, step: int) -> int:
        at = place + step
        while 0 <= at < len(self.shelf):
            self.shelf.ensure(at)
            if self.shelf.items[at].height:
                return at
            at += step
        return place

    def _to(self, place: int) -> None:
        """The cursor on a block, which comes into view."""
        if not 0 <= place < len(self.shelf):
            return
        item = self.shelf.items[place]
        self.shelf.ensure(place)
        self.set_size()
        self.cursor = item.block.id
        begin = self.shelf.top(place)
        end = begin + item.height
        y, rows = round(self.scroll_y), self.rows
        if begin < y or item.height >= rows:
            self.show_place(place)
        elif end > y + rows:
            self.show_place(place, offset=end - begin - rows)

    def action_first(self) -> None:
        """To the first block."""
        if len(self.shelf):
            self._to(self._next(-1, 1))
            self.scroll_to(y=0)

    def action_last(self) -> None:
        """To the end, and follow it."""
        if len(self.shelf):
            self.cursor = self.shelf.items[self._next(len(self.shelf), -1)].block.id
        self.go_end()

    def go_to(self, message_id: str) -> bool:
        """Show a message from its first row; False: it is not here."""
        for place, item in enumerate(self.shelf.items):
            if item.block.message_id == message_id:
                self.cursor = item.block.id
                self.show_place(place)
                return True
        return False

    # Opening ---------------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Open or fold the block under the cursor; on a boundary, its summary."""
        if self.cursor:
            self.open_block(self.cursor)

    def action_peek(self) -> None:
        """The original of a cleared result, where the cursor is."""
        block = self.selected
        if block is not None and block.kind is Kind.TOOL:
            self.open_block(block.id)

    def open_block(self, block_id: str, *, opened: bool | None = None) -> None:
        """Open a block, or fold it; None: the other way round."""
        place = self.shelf.place(block_id)
        if place is None:
            return
        item = self.shelf.items[place]
        if item.block.kind is Kind.BOUNDARY:
            after = self.shelf.items[place + 1 : place + 2]
            if not after or after[0].block.kind is not Kind.SUMMARY:
                return
            item, place = after[0], place + 1
        if item.block.kind not in FOLDABLE:
            return
        item.opened = not item.opened if opened is None else opened
        row = item.block.tool
        if item.opened and row is not None and not row.loaded:
            self.post_message(self.BodyWanted(item.block.id))
        if item.opened:
            self.following = self.following and item.stream is not None
        self.changed(place)
        if not self.following and self.at_end:
            self.following = True

    def action_open_all(self) -> None:
        """Open every tool result, or fold them if most are open."""
        tools = [item for item in self.shelf.items if item.block.kind is Kind.TOOL]
        opened = sum(item.opened for item in tools) * 2 <= len(tools)
        for item in tools:
            if item.opened != opened:
                item.opened = opened
                self.shelf.forget(self.shelf.place(item.block.id) or 0)
        self.settle()

    # Search ----------------------------------------------------------------------------------------

    def search(self, text: str) -> int:
        """Look for a text in everything that was said, called and answered, folded or archived; how often it
        is there. The view goes to the last place that is not below it. Empty: forget it."""
        self.finder = Finder(text)
        found = self.find_again()
        if found:
            _, bottom = self.in_view()
            self._found(self.finder.up_to(bottom))
        self.refresh()
        return found

    def find_again(self) -> int:
        """The blocks changed: look again; how often it is there."""
        if not self.finder.needle:
            return 0
        return self.finder.look([item.text for item in self.shelf.items])

    def action_found(self, step: int) -> None:
        """To the next place (1) or the one before (-1), around the ends."""
        if self.find_again():
            self._found(self.finder.step(step))

    def _found(self, place: int) -> None:
        """Show a block in which it was found, opened where it is folded away."""
        item = self.shelf.items[place]
        self.shelf.ensure(place)
        row = self.finder.row_in(item.lines)
        if row is None and item.block.kind in FOLDABLE and not item.opened:
            self.open_block(item.block.id, opened=True)
            self.shelf.ensure(place)
            row = self.finder.row_in(item.lines)
        self.cursor = item.block.id
        self.show_place(place, offset=row or 0, margin=self.rows // 3)

    # Over the rows ---------------------------------------------------------------------------------

    def overlay(self, strip: Strip, *, row: int, y: int) -> Strip:
        """Cursor, what is found, what is selected, and the mark of what is new below."""
        if len(self.shelf) and row < self.shelf.total:
            place, offset = self.shelf.find(row)
            item = self.shelf.items[place]
            if item.block.id == self.cursor and self.has_focus:
                edge = Strip([Segment(self.looks.glyphs.edge, self.looks.ink("key") + self.rich_style)])
                strip = Strip.join([edge, strip.crop(MARGIN)])
            if offset < len(item.lines):
                strip = self._marked(strip, item.lines[offset], row)
        if self.unseen and y == self.rows - 1:
            return self._new_below(strip)
        return strip

    def _marked(self, strip: Strip, line: Line, row: int) -> Strip:
        begin = MARGIN + line.at
        if self.finder.needle:
            style = REVERSE if self.looks.plain else self.looks.tone("found")
            for start, end in spans(line.text, self.finder.needle):
                strip = restyle(strip, begin + start, begin + end, style)
        selection = self.text_selection
        span = selection.get_span(row) if selection is not None else None
        if span is not None and line.copied:
            start, end = span
            stop = begin + len(line.text)
            style = REVERSE if self.looks.plain else self.looks.tone("selected")
            strip = restyle(strip, max(begin, start), stop if end == -1 else min(stop, end), style)
        return strip

    def _new_below(self, strip: Strip) -> Strip:
        """The last row with a mark on it."""
        style = self.looks.whole("new") + (REVERSE if self.looks.plain else NOTHING)
        words = NEW_BELOW
        start = max(0, (self.shelf.width - cell_len(words)) // 2)
        mark = Strip([Segment(words, style)], cell_len(words))
        return Strip.join([strip.crop(0, start), mark, strip.crop(start + cell_len(words))])

    def on_click(self, event: events.Click) -> None:
        """A link, the mark of what is new, or a row that opens."""
        href = event.style.meta.get(HREF)
        if href:
            self.post_message(self.LinkWanted(str(href)))
            return
        if self.unseen and event.y == self.rows - 1:
            self.go_end()
            return
        if self.text_selection is not None or not len(self.shelf):
            return
        row = round(self.scroll_y) + event.y
        if row >= self.shelf.total:
            return
        place, offset = self.shelf.find(row)
        item = self.shelf.items[place]
        self.cursor = item.block.id
        if offset < len(item.lines) and _opens(item.lines[offset], item):
            self.open_block(item.block.id)

    # Copy ------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The source of what is selected: no gutter, no figures, no wraps (cases C-126)."""
        return selected_text(self.shelf, selection, margin=MARGIN), "\n"

    def action_copy(self) -> None:
        """Copy what is selected, else the block under the cursor."""
        selection = self.text_selection
        if selection is not None:
            found = self.get_selection(selection)
            if found is not None and found[0]:
                self.post_message(self.CopyWanted(found[0], "selection"))
                return
        item = self.shelf.get(self.cursor) if self.cursor else None
        if item is not None and (text := item.source()):
            self.post_message(self.CopyWanted(text, item.block.kind.value))


def _opens(line: Line, item: Shown) -> bool:
    """Whether a click on a row opens or folds its block: not where it shows text to be read."""
    match item.block.kind:
        case Kind.TEXT:
            return False
        case Kind.USER | Kind.NOTE | Kind.SYNTHETIC:
            return not item.opened and not line.copied
        case Kind.SUMMARY:
            return not item.opened
        case _:
            return line.piece <= 0
