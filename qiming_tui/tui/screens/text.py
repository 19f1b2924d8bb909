"""A text over the page: read, scrolled, copied."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from qiming_tui.tui.keys import bind
from qiming_tui.tui.widgets.footer import Footer


class TextScreen(ModalScreen[None]):
    """Shows lines that are already clean. Posts `Copied` with the whole text; what is selected by mouse is
    copied instead, if anything is."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("text.copy", "y,ctrl+c,super+c", "copy", "copy", show=True, label="y"),
        bind("text.down", "down,j", "scroll(1)", "down"),
        bind("text.up", "up,k", "scroll(-1)", "up"),
        bind("text.page_down", "pagedown,space", "page(1)", "page down"),
        bind("text.page_up", "pageup", "page(-1)", "page up"),
        bind("text.close", "escape,q", "close", "close", show=True, label="esc"),
    ]

    class Copied(Message, namespace="text"):
        """A text is to go to the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, heading: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._heading = heading
        self.text = "\n".join(lines)

    def compose(self) -> ComposeResult:
        """Heading, text, keys."""
        with Vertical(id="text"):
            yield Static(Content(self._heading), id="text-head")
            with VerticalScroll(id="text-body"):
                yield Static(Content(self.text))
            yield Footer()

    def on_mount(self) -> None:
        """The text has the focus."""
        self.query_one("#text-body").focus()

    def action_copy(self) -> None:
        """What is selected, else everything."""
        self.post_message(self.Copied(self.get_selected_text() or self.text))

    def action_scroll(self, rows: int) -> None:
        """By rows."""
        self.query_one("#text-body").scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        """By pages."""
        body = self.query_one("#text-body")
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)

    def action_close(self) -> None:
        """Back to the page."""
        self.dismiss(None)
