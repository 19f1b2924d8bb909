"""Before an edit of the window is made: its price, the difference of the next request, its health.

Also the page on which a summary is edited. Both are dismissed with an answer and change nothing themselves.
"""

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import TextArea

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.dryrun import DiffRow, Preview
from qiming_tui.context.figures import kilo, plural
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.spans import clip, cut, spread
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.lines import Lines

SIGNS: Final = {"+": "good", "-": "limit", "~": "warn"}


MOST: Final = 12
"""Rows of the difference that are shown at once."""
FRAME: Final = 7
"""Rows of the dialog for its title, keys and what stands between."""
TINY: Final = 16
"""Below so many rows nothing stands between."""


def diff_row(row: DiffRow, columns: int, glyphs: Glyphs) -> Spans:
    """A line of the difference: sign, class, words, tokens before and after."""
    if row.sign == "~":
        sizes = f"{kilo(row.before)} {glyphs.arrow} {kilo(row.after)}"
    else:
        sizes = f"{'-' if row.sign == '-' else '+'}{kilo(row.before or row.after)}"
    style = SIGNS.get(row.sign, "text")
    room = max(0, columns - 6 - len(sizes))
    words = clip(one_line(row.words), room, glyphs.cut)
    left: Spans = ((style, f"{row.sign} "), ("strong", f"{row.klass} "), ("text", words))
    return spread(left, ((style, sizes),), columns)


def price_rows(preview: Preview, columns: int, glyphs: Glyphs) -> tuple[Spans, ...]:
    """What it costs and whether all is well afterwards, in words."""
    price = preview.price
    sizes = f"next request ~{kilo(price.before)} {glyphs.arrow} ~{kilo(price.after)} (predicted)"
    rows: list[Spans] = [(("strong", sizes),), (("text", price.words),)]
    rows += [(("muted", one_line(note)),) for note in preview.notes]
    if preview.health is not None:
        style = "good" if preview.health.good else "limit"
        rows.append(((style, f"after it, {one_line(preview.health.words)}"),))
    return tuple(cut(row, columns) for rows_of in rows for row in _wrapped(rows_of, columns))


def _wrapped(row: Spans, columns: int) -> list[Spans]:
    """A row of one span, broken at blanks."""
    style, text = row[0]
    rows: list[Spans] = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > columns:
            rows.append(((style, line),))
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*rows, ((style, line),)]


class ActScreen(ModalScreen[bool]):
    """Dismissed with True when the edit is to be made."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("act.apply", "enter,y", "apply", "do it", show=True, label="enter"),
        bind("act.close", "escape,n,q", "close", "leave it", show=True, label="esc"),
        bind("act.up", "up,k", "move(-1)", "up"),
        bind("act.down", "down,j", "move(1)", "down"),
        bind("act.page_up", "pageup", "page(-1)", "page up"),
        bind("act.page_down", "pagedown,space", "page(1)", "page down"),
    ]

    head = query_one("#act-head", Lines)
    list = query_one("#act-list", Lines)
    price = query_one("#act-price", Lines)

    def __init__(self, preview: Preview, *, glyphs: Glyphs = FULL) -> None:
        super().__init__()
        self.preview = preview
        self.glyphs = glyphs
        self._top = 0

    def compose(self) -> ComposeResult:
        """Title, difference, price, keys."""
        with Vertical(id="act"):
            yield Lines(id="act-head")
            yield Lines(id="act-list")
            yield Lines(id="act-price")
            yield Footer()

    def on_mount(self) -> None:
        """Rows are made once their widths are known."""
        self.call_after_refresh(self._paint)

    @on(Lines.Resized)
    def _resized(self, event: Lines.Resized) -> None:
        event.stop()
        self._paint()

    def _paint(self) -> None:
        if not self.is_mounted:
            return
        width, rows = max(1, self.head.size.width), self.preview.rows
        changes = plural(len(rows), "change")
        forms = (
            f"{changes} of the next request, nothing is done yet",
            f"{changes}, nothing done yet",
            changes,
        )
        free = width - len(self.preview.title) - 2
        shown = next((form for form in forms if len(form) <= free), "")
        self.head.rows = (spread((("strong", self.preview.title),), (("muted", shown),), width),)
        priced = price_rows(self.preview, max(1, self.price.size.width), self.glyphs)
        self.price.styles.height = len(priced)
        self.price.rows = priced
        frame = FRAME if self.size.height >= TINY else 3
        room = max(1, min(len(rows), MOST, self.size.height - len(priced) - frame))
        self.list.styles.height = room
        self._top = max(0, min(self._top, len(rows) - room))
        window = rows[self._top : self._top + room]
        made = [diff_row(row, max(1, self.list.size.width), self.glyphs) for row in window]
        hidden = len(rows) - self._top - len(window)
        if hidden and len(made) > 1:
            made[-1] = (("muted", f"... {plural(hidden + 1, 'change')} more below"),)
        self.list.rows = tuple(made)

    def action_apply(self) -> None:
        """Enter."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Esc."""
        self.dismiss(False)

    def action_move(self, by: int) -> None:
        """By rows."""
        self._top += by
        self._paint()

    def action_page(self, by: int) -> None:
        """By pages."""
        self.action_move(by * max(1, self.list.size.height - 1))


class SummaryScreen(ModalScreen[str | None]):
    """Dismissed with the text as it was edited; None: it stays as it is."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("summary.take", "ctrl+s", "take", "use this text", show=True, priority=True),
        bind("summary.close", "escape", "close", "leave it", show=True, priority=True),
    ]

    def __init__(self, text: str, *, name: str) -> None:
        super().__init__()
        self._text = text
        self._name = name

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        with Vertical(id="act"):
            yield Lines(id="act-head")
            yield TextArea(self._text, id="act-text", soft_wrap=True, show_line_numbers=False)
            yield Footer()

    def on_mount(self) -> None:
        """The text has the focus."""
        self.query_one("#act-head", Lines).rows = (
            (("strong", f"The summary {self._name}"), ("muted", "  the model sees what stands here")),
        )
        self.query_one(TextArea).focus()

    def action_take(self) -> None:
        """Use it."""
        self.dismiss(self.query_one(TextArea).text)

    def action_close(self) -> None:
        """Leave it."""
        self.dismiss(None)
