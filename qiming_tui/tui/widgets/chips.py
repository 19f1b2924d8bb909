"""A text area that folds long pastes to chips, each edited, passed over and deleted as a whole."""

from collections.abc import Callable
from functools import partial

from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.widgets import TextArea

from qiming_tui.model.sanitize import clean
from qiming_tui.tui.paste import MAX_CHARS, MAX_LINES, Draft, Paste, is_long
from qiming_tui.tui.widgets.saying import Said


class ChipArea(TextArea, inherit_bindings=False):
    """The stock text area, without its keys; what is pasted is harmless, and a chip when it is long."""

    COMPONENT_CLASSES = {"prompt--chip"}
    yields: frozenset[str] = frozenset()
    """Keys that it leaves to others while it is empty, though they could be typed."""

    def __init__(
        self, *, paste_lines: int = MAX_LINES, paste_chars: int = MAX_CHARS, id: str | None = None
    ) -> None:
        super().__init__(id=id, compact=True, highlight_cursor_line=False, soft_wrap=True)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self._is_long: Callable[[str], bool] = partial(is_long, max_lines=paste_lines, max_chars=paste_chars)
        self._pastes: dict[int, Paste] = {}

    @property
    def draft(self) -> Draft:
        """The text and what its chips stand for."""
        return Draft(self.text, tuple(self._pastes.values()))

    def load(self, draft: Draft) -> None:
        """Show another draft, the cursor at its end."""
        self._pastes = {paste.number: paste for paste in draft.pastes}
        self.load_text(draft.text)
        self.move_cursor(self.document.end)

    def write(self, text: str) -> None:
        """Insert at the cursor, in place of what is selected."""
        self.replace(text, *self.selection, maintain_selection_offset=False)

    def paste(self, raw: str) -> None:
        """Insert what came from outside (cases C-121, C-122); the same again at its chip opens the chip."""
        text, removed = clean(raw)
        if removed:
            self.post_message(Said(f"{removed} control sequence{'s' * (removed > 1)} removed from the paste"))
        row, column = self.cursor_location
        for _start, end, paste in self.draft.chips(self.document.get_line(row)):
            if end == column and paste.text == text:
                self.action_expand()
                return
        if not self._is_long(text):
            self.write(text)
            return
        paste = Paste(max(self._pastes, default=0) + 1, text, Draft(text).tokens())
        self._pastes[paste.number] = paste
        self.write(paste.label)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Whether a key is typed, so that nobody else may have it."""
        if key in self.yields and not self.text:
            return False
        return super().check_consume_key(key, character)

    def get_line(self, line_index: int) -> Text:
        """The line with its chips marked."""
        line = super().get_line(line_index)
        for start, end, _ in self.draft.chips(line.plain):
            line.stylize(self.get_component_rich_style("prompt--chip", partial=True), start, end)
        return line

    def edit(self, edit: Edit) -> EditResult:
        """Edit; a chip goes or stays as a whole."""
        start, end = sorted((edit.from_location, edit.to_location))
        low = self._snap(start, to_end=start == end)
        high = low if start == end else self._snap(end, to_end=True)
        if (low, high) != (start, end):
            edit = Edit(edit.text, low, high, edit.maintain_selection_offset)
        return super().edit(edit)

    def get_cursor_left_location(self) -> Location:
        """One to the left; over a chip as a whole."""
        return self._snap(super().get_cursor_left_location(), to_end=False)

    def get_cursor_right_location(self) -> Location:
        """One to the right; over a chip as a whole."""
        return self._snap(super().get_cursor_right_location(), to_end=True)

    def action_expand(self) -> None:
        """Put a chip's text in its place: the one at the cursor; elsewhere the key is the application's."""
        row, column = self.cursor_location
        for start, end, paste in self.draft.chips(self.document.get_line(row)):
            if start <= column <= end:
                self.replace(paste.text, (row, start), (row, end), maintain_selection_offset=False)
                return
        raise SkipAction

    def action_paste(self) -> None:
        """Insert the program's own clipboard."""
        self.paste(self.app.clipboard)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def _snap(self, location: Location, *, to_end: bool) -> Location:
        """The place itself; where that is inside a chip, the chip's end or start."""
        row, column = location
        if self._pastes:
            for start, end, _ in self.draft.chips(self.document.get_line(row)):
                if start < column < end:
                    return row, end if to_end else start
        return location
