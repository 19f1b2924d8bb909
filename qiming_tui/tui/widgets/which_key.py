"""What may follow the leader: a strip over the footer, for two seconds or until a key is pressed."""

from typing import Final

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from qiming_tui.tui.commands import Command
from qiming_tui.tui.keys import Chord, chord_key, display
from qiming_tui.tui.widgets.looks import look

OPEN_S: Final = 2.0
_COLUMN: Final = 26
"""Cells of one entry; more where a title is longer."""


class KeyStrip(Widget):
    """The chords in columns."""

    COMPONENT_CLASSES = {"key-strip--title", "key-strip--key", "key-strip--label"}
    chords: reactive[tuple[Chord, ...]] = reactive((), layout=True)

    def __init__(self, chords: tuple[Chord, ...], leader: str) -> None:
        super().__init__()
        self._leader = leader
        self.chords = chords

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """A title row, then as few rows as the columns allow."""
        return 1 + -(-len(self.chords) // self._columns(width))

    def render(self) -> Content:
        """The title, then the entries row by row."""
        rows = [
            Content.assemble(
                (f"{self._leader} ", self._style("key")),
                ("then   ", self._style("title")),
                ("esc closes", self._style("label")),
            )
        ]
        columns = self._columns(self.size.width)
        count = -(-len(self.chords) // columns)
        for row in range(count):
            rows.append(Content.assemble(*(self._entry(one) for one in self.chords[row::count])))
        return Content("\n").join(rows)

    def _entry(self, chord: Chord) -> Content:
        cells = self._cells(self.size.width)
        words = set_cell_size(chord.command.title, max(0, cells - cell_len(chord.key) - 2))
        return Content.assemble(
            (f"{chord.key} ", self._style("key")), (f"{words} ", self._style("label"))
        ).stylize(Style.from_meta({"chord": chord.command.id}))

    def _columns(self, width_cells: int) -> int:
        """As many as hold whole titles; more, with cut ones, where the rows would not fit the screen."""
        whole = max(_COLUMN, *(cell_len(f"{one.key} {one.command.title}") + 2 for one in self.chords), 1)
        rows = max(1, self.screen.size.height - 1)
        return max(1, width_cells // whole, -(-len(self.chords) // rows))

    def _cells(self, width_cells: int) -> int:
        return max(1, width_cells // self._columns(width_cells))

    def _style(self, name: str) -> Style:
        return look(self, f"key-strip--{name}")


class WhichKey(ModalScreen[Command | None]):
    """Waits for the key after the leader; dismissed with its command, or None. Takes every key itself."""

    def __init__(self, chords: tuple[Chord, ...], *, leader: str = "ctrl+x", open_s: float = OPEN_S) -> None:
        super().__init__()
        self._chords = chords
        self._leader = leader
        self._open_s = open_s
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The strip."""
        yield KeyStrip(self._chords, display(self._leader))

    def on_mount(self) -> None:
        """Close by itself."""
        self._timer = self.set_timer(self._open_s, self._expire)

    def on_key(self, event: events.Key) -> None:
        """Take the chord, or close."""
        event.stop()
        event.prevent_default()
        found = [one for one in self._chords if event.key in (one.key, chord_key(one.key))]
        self.dismiss(found[0].command if found else None)

    def on_click(self, event: events.Click) -> None:
        """Take the entry, or close."""
        event.stop()
        chosen = event.style.meta.get("chord")
        self.dismiss(next((one.command for one in self._chords if one.command.id == chosen), None))

    def _expire(self) -> None:
        if self.is_current:
            self.dismiss(None)
