"""The help: every command and key, found by typing; Enter runs a command."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.figures import plural
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.help_rows import detail_rows, head_row, help_lines, help_row, rows_of
from qiming_tui.tui.picking import Row
from qiming_tui.tui.screens.picker import Picker, picking


class HelpScreen(Picker[str]):
    """Dismissed with the id of a command to run, or None. `panes`: names and bindings of the parts of the
    screen that have keys; `keymap`: the user's own keys."""

    heading = "Help and keys"
    hint = "command or key"

    BINDINGS: ClassVar[list[BindingType]] = picking(take="run")

    def __init__(
        self,
        panes: Iterable[tuple[str, Iterable[BindingType]]],
        *,
        keymap: Mapping[str, str] | None = None,
        glyphs: Glyphs = FULL,
        words: str = "",
    ) -> None:
        super().__init__(glyphs=glyphs, words=words)
        self._lines = {line.key: line for line in help_lines(panes, keymap)}

    def rows(self, words: Sequence[str]) -> tuple[Row, ...]:
        """Commands, then panes."""
        return rows_of(tuple(self._lines.values()), words)

    def paint(self, row: Row, width: int, chosen: bool) -> Spans:
        """A heading or a line."""
        if row.head:
            first = bool(self.list.items) and self.list.items[0] is row
            return head_row(row.head, width, self.glyphs, first=first)
        return help_row(self._lines[row.key], self.words, width, self.glyphs, chosen=chosen)

    def about(self, key: str, width: int) -> tuple[Spans, ...]:
        """What it does and how to ask for it."""
        return detail_rows(self._lines[key], width, self.glyphs)

    def summary(self) -> str:
        """How many there are."""
        commands = sum(bool(line.command) for line in self._lines.values())
        return f"{plural(commands, 'command')}, {plural(len(self._lines) - commands, 'key')}"

    def take(self, key: str) -> None:
        """Run the command; a key of a pane works there, not here."""
        command = self._lines[key].command
        if command:
            self.dismiss(command)
        else:
            self.say((("warn", f"this key works {self._lines[key].group}"),))


class CommandsScreen(HelpScreen):
    """The palette: the commands alone. Textual's own marks the chosen one by nothing but a colour."""

    heading = "Commands"
    hint = "what to do"

    def __init__(self, *, keymap: Mapping[str, str] | None = None, glyphs: Glyphs = FULL) -> None:
        super().__init__((), keymap=keymap, glyphs=glyphs)

    def summary(self) -> str:
        """How many there are."""
        return plural(len(self._lines), "command")
