"""The timeline as rows: for narrow screens, for screen readers, for copying."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.widgets import DataTable

from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_words import HEADS, table_row
from qiming_tui.tui.keys import bind

_RIGHT = frozenset({"step", "total", "%", "grew", "cached", "new", "cost", "time"})


class StepTable(DataTable[Text], inherit_bindings=False):
    """One row a step, figures at their right edge."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("steps.pick", "enter", "select_cursor", "jump", show=True),
        bind("steps.up", "up,k", "cursor_up", "up"),
        bind("steps.down", "down,j", "cursor_down", "down"),
        bind("steps.left", "left,h", "cursor_left", "left"),
        bind("steps.right", "right,l", "cursor_right", "right"),
        bind("steps.page_up", "pageup", "page_up", "page up"),
        bind("steps.page_down", "pagedown", "page_down", "page down"),
        bind("steps.top", "home,ctrl+home,g", "scroll_top", "first step"),
        bind("steps.bottom", "end,ctrl+end,G", "scroll_bottom", "newest step"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cell_padding=1)
        self._shown: tuple[Column, ...] = ()

    def show(self, columns: Sequence[Column], place: int | None = None) -> None:
        """Put the rows of these steps; those that are the same stay. `place` None: the cursor stays."""
        if not self.columns:
            for name in HEADS:
                self.add_column(Text(name, justify="right" if name in _RIGHT else "left"), key=name)
        same = 0
        while same < min(len(self._shown), len(columns)) and self._shown[same] == columns[same]:
            same += 1
        for row in range(len(self._shown) - 1, same - 1, -1):
            self.remove_row(str(row))
        for row in range(same, len(columns)):
            self.add_row(*_cells(columns[row]), key=str(row))
        self._shown = tuple(columns)
        if place is not None:
            self.move_cursor(row=place, animate=False)


def _cells(column: Column) -> list[Text]:
    named = zip(HEADS, table_row(column), strict=True)
    return [Text(words, justify="right" if name in _RIGHT else "left") for name, words in named]
