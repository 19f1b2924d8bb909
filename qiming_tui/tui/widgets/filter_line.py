"""The line of a picker to type in: the stock input, its keys with ids, what is pasted made harmless."""

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input

from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.keys import bind


class FilterLine(Input, inherit_bindings=False):
    """One line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("filter.left", "left", "cursor_left", "left"),
        bind("filter.right", "right", "cursor_right", "right"),
        bind("filter.word_left", "ctrl+left,alt+b", "cursor_left_word", "word left"),
        bind("filter.word_right", "ctrl+right,alt+f", "cursor_right_word", "word right"),
        bind("filter.start", "home,ctrl+a", "home", "start"),
        bind("filter.end", "end,ctrl+e", "end", "end"),
        bind("filter.select_start", "shift+home", "home(True)", "select to start"),
        bind("filter.select_end", "shift+end", "end(True)", "select to end"),
        bind("filter.backspace", "backspace", "delete_left", "delete left"),
        bind("filter.delete", "delete", "delete_right", "delete right"),
        bind("filter.delete_word", "ctrl+w,ctrl+backspace", "delete_left_word", "delete word"),
        bind("filter.delete_to_start", "ctrl+u", "delete_left_all", "delete to start"),
        bind("filter.delete_to_end", "ctrl+k", "delete_right_all", "delete to end"),
        bind("filter.paste", "ctrl+v", "paste", "paste"),
    ]

    def _on_paste(self, event: events.Paste) -> None:
        """Insert what came from outside, on one line, without control sequences (cases C-131)."""
        event.prevent_default()
        event.stop()
        self.replace(one_line(event.text, limit=1_000), *sorted(self.selection))
