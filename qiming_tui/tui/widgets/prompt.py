"""The prompt: a real text area, so that input methods find its cursor (`ux.md` 4), with keys of our own."""

import asyncio

from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult, Selection
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import TextArea

from qiming_tui.tui import keys
from qiming_tui.tui.commands import Command, parse_slash
from qiming_tui.tui.complete import FileIndex, Menu, from_history, suggest, wants_files
from qiming_tui.tui.history import History
from qiming_tui.tui.paste import MAX_CHARS, MAX_LINES, Draft
from qiming_tui.tui.widgets.chips import ChipArea
from qiming_tui.tui.widgets.saying import Said


class Prompt(ChipArea):
    """What is being written. It posts what was decided; it sends nothing itself."""

    BINDINGS = keys.PROMPT

    menu: reactive[Menu | None] = reactive(None)
    """The open menu of completions; the prompt keeps the focus."""
    searching: reactive[bool] = reactive(False)
    """Whether what is typed is looked for in the history."""

    class Changed(TextArea.Changed):
        """The draft is another one; `draft.full` is the text that would be sent."""

        @property
        def draft(self) -> Draft:
            """The draft now."""
            assert isinstance(self.text_area, Prompt)
            return self.text_area.draft

    class Submitted(Message):
        """A message to send (`steer`: into the turn under way). `load(draft)` brings it back."""

        def __init__(self, draft: Draft, *, steer: bool) -> None:
            super().__init__()
            self.draft = draft
            self.text = draft.full
            self.steer = steer

    class Called(Message):
        """A slash command."""

        def __init__(self, command: Command, argument: str) -> None:
            super().__init__()
            self.command = command
            self.argument = argument

    class Shell(Message):
        """A command for the shell, typed after `!`."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    class EditorWanted(Message):
        """The draft is to be opened in the external editor."""

    class QuitRequested(Message):
        """End the program."""

    def __init__(
        self,
        *,
        history: History,
        files: FileIndex | None = None,
        paste_lines: int = MAX_LINES,
        paste_chars: int = MAX_CHARS,
        id: str | None = None,
    ) -> None:
        super().__init__(paste_lines=paste_lines, paste_chars=paste_chars, id=id)
        self.past = history
        self._files = files
        self._stash = Draft()
        self._dismissed: tuple[int, int] | None = None
        self._reading = False

    def load(self, draft: Draft) -> None:
        """Show another draft, the cursor at its end."""
        self.menu = None
        super().load(draft)

    # -- the text area -----------------------------------------------------------------------------------

    def edit(self, edit: Edit) -> EditResult:
        """Edit; the menu follows what is typed."""
        self.past.leave()
        result = super().edit(edit)
        self._suggest(typed=True)
        return result

    def watch_selection(self, _: Selection) -> None:
        """Close the menu when the cursor leaves what it completes."""
        if self.menu is not None and not self.searching:
            self._suggest()

    def on_resize(self) -> None:
        """The terminal's own cursor follows when the prompt grows or shrinks (cases C-124)."""
        self.call_after_refresh(self._place_cursor)

    async def _on_key(self, event: events.Key) -> None:
        # Base classes' handlers come after this one: what is prevented here goes on to the bindings.
        asks = event.key == "question_mark" and not self.text and not self.searching
        if event.key == "enter" or (asks and "question_mark" in self.screen.active_bindings):
            event.prevent_default()

    # -- keys --------------------------------------------------------------------------------------------

    def action_send(self) -> None:
        """Send, or take the chosen row of the menu, or make a line after a trailing backslash."""
        menu = self.menu
        if menu is not None and menu.item is not None:
            self.choose()
            if menu.kind != "command":
                return
        if self.searching:
            return
        row, column = self.cursor_location
        if self.selection.is_empty and self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return
        self._submit(steer=False)

    def action_steer(self) -> None:
        """Send into the turn that is under way."""
        self._submit(steer=True)

    def action_newline(self) -> None:
        """A new line."""
        self.write("\n")

    def action_help(self) -> None:
        """`?` on an empty prompt."""
        self.post_message(self.Called(keys.HELP, ""))

    def action_close(self) -> None:
        """Close the nearest thing of the prompt; with nothing open the key belongs to the application."""
        if self.searching:
            self.searching = False
            self.load(self._stash)
        elif self.menu is not None:
            self._dismissed = (self.cursor_location[0], self.menu.start)
            self.menu = None
        elif not self.selection.is_empty:
            self.move_cursor(self.cursor_location)
        else:
            raise SkipAction

    def action_interrupt(self) -> None:
        """Copy what is selected; with nothing selected the key belongs to the application."""
        self.action_copy()

    def action_eof(self) -> None:
        """Delete to the right; on an empty prompt quit."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.QuitRequested())

    def action_up(self) -> None:
        """A row up: in the menu, in the text, at its top in the history."""
        if self.menu is not None:
            self.menu = self.menu.move(-1)
        elif not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif (draft := self.past.older(self.draft)) is not None:
            self.load(draft)

    def action_down(self) -> None:
        """A row down: in the menu, in the text, at its bottom in the history."""
        if self.menu is not None:
            self.menu = self.menu.move(1)
        elif not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif (draft := self.past.newer()) is not None:
            self.load(draft)

    def action_search(self) -> None:
        """Look for an older message with what is typed from now on; again: the next older one."""
        if self.searching:
            self.menu = self.menu and self.menu.move(1)
            return
        self._stash = self.draft
        self.searching = True
        self.load(Draft())
        self._suggest(typed=True)

    def action_editor(self) -> None:
        """Open the draft in the external editor."""
        self.post_message(self.EditorWanted())

    def action_complete(self) -> None:
        """Take the chosen row of the menu; without one the key belongs to the application."""
        if self.menu is None:
            raise SkipAction
        self.choose()

    def choose(self, index: int | None = None) -> None:
        """Take a row of the menu: the one given, or the one chosen."""
        menu = self.menu
        if menu is None or not menu.items:
            return
        item = menu.items[menu.index if index is None else index]
        self.menu = None
        if item.draft is not None:
            self.searching = False
            self.load(item.draft)
            return
        row, column = self.cursor_location
        self.replace(item.insert, (row, menu.start), (row, column), maintain_selection_offset=False)

    # -- inside ------------------------------------------------------------------------------------------

    def _submit(self, *, steer: bool) -> None:
        draft = self.draft.trimmed()
        if not draft.text.strip():
            return
        called = parse_slash(draft.text)
        message: Message
        if called is not None:
            if called.command is None:
                self.post_message(Said(f"no command /{called.word}; with a space before it, it is a message"))
                return
            draft = Draft(draft.text.rstrip(), draft.pastes)
            message = self.Called(called.command, called.argument)
        elif draft.text.startswith("!") and draft.full[1:].strip():
            message = self.Shell(draft.full[1:].strip())
        else:
            message = self.Submitted(draft, steer=steer)
        self.load(Draft())
        try:
            self.past.add(draft)
        except OSError as error:
            self.post_message(Said(f"the history could not be written: {error.strerror}"))
        self.post_message(message)

    def _suggest(self, *, typed: bool = False) -> None:
        """Open, renew or close the menu for what stands left of the cursor."""
        if self.searching:
            self.menu = from_history(self.text, self.past.search(self.text))
            return
        row, before = self.cursor_location[0], self._before
        names = self._files.names if self._files is not None else ()
        if typed and wants_files(before) and (before.endswith("@") or not names):
            self._read_files()
        menu = suggest(before, first_line=row == 0, files=names)
        if menu is not None and self._dismissed == (row, menu.start):
            return
        self._dismissed = None
        if menu is None or typed or self.menu is not None:
            self.menu = menu

    @property
    def _before(self) -> str:
        """What stands left of the cursor on its line."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def _place_cursor(self) -> None:
        place = self.cursor_screen_offset
        if self.has_focus and self.app.cursor_position != place:
            self.app.cursor_position = place
            self.refresh()  # the cursor is moved with the next thing that is painted

    def _read_files(self) -> None:
        """Read the folder in a thread; then renew the menu, if a name is still being typed."""
        files = self._files
        if files is None or self._reading:
            return
        self._reading = True

        async def read() -> None:
            await asyncio.to_thread(files.read)
            self._reading = False
            self._suggest(typed=wants_files(self._before))

        self.run_worker(read(), group="files")
