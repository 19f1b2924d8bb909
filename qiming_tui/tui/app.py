"""The application: what the screen wishes, carried out."""

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.screen import ModalScreen

from qiming_tui.model.errors import QimingError
from qiming_tui.model.events import PermissionAsked, TurnFinished
from qiming_tui.tui import keys
from qiming_tui.tui.commands import BY_ID, Command
from qiming_tui.tui.messages import Deltas, SessionEvent, ViewChanged
from qiming_tui.tui.reading import Reading
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.permission import PermissionPanel
from qiming_tui.tui.widgets.prompt import Prompt
from qiming_tui.tui.widgets.prompt_bar import PromptBar
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip
from qiming_tui.tui.widgets.which_key import WhichKey

if TYPE_CHECKING:
    from qiming_tui.tui.acts.table import Actions

ACTS: Final = "qiming_tui.tui.acts.table"
"""What the commands do, with all screens that they open: nearly half of our modules, imported with the first
command. The first frame needs none of them."""


class QimingApp(Reading):
    """The full screen: carries out what the widgets wish and what keys ask for."""

    BINDINGS: ClassVar[list[BindingType]] = keys.APP

    @cached_property
    def _actions(self) -> "Actions":
        actions: Actions = import_module(ACTS).Actions(self)
        return actions

    # -- from the session --------------------------------------------------------------------------------

    @on(SessionEvent)
    def _event(self, message: SessionEvent) -> None:
        if self.presenter is not None and self.main.standing:
            self.presenter.event(message.event)
        if isinstance(message.event, TurnFinished):
            self.call_back("the turn has ended")
        elif isinstance(message.event, PermissionAsked):
            self.call_back("a question waits for an answer")

    @on(Deltas)
    def _deltas(self, message: Deltas) -> None:
        if self.presenter is not None and self.main.standing:
            self.presenter.deltas(message.texts)

    @on(ViewChanged)
    def _view(self, message: ViewChanged) -> None:
        if self.presenter is not None and self.main.standing:
            self.presenter.view(message.view, message.rows, clearable=message.clearable)

    # -- from the prompt and the question ----------------------------------------------------------------

    @on(Prompt.Changed)
    def _draft(self, message: Prompt.Changed) -> None:
        self.main.show_draft(message.draft.tokens())
        if self.pace is not None:
            self.refresh_bindings()
        self.main.question.note_typing()

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        if self.session is None:
            self.waiting.append((message.draft, message.steer))
            self.main.prompt_bar.say("waits until the session is open")
            return
        await self.send(message.draft, steer=message.steer)

    @on(Prompt.Called)
    async def _called(self, message: Prompt.Called) -> None:
        await self._actions.run(message.command.id, message.argument)

    @on(Prompt.Shell)
    def _shell(self, message: Prompt.Shell) -> None:
        self._actions.shell(message.command)

    @on(PromptBar.StopRequested)
    def _stop(self) -> None:
        if self.watching is not None:
            self.main.prompt_bar.say("only the program that writes this session can stop it; /take takes it")
        elif self.session is not None:
            self.session.abort()

    @on(Prompt.QuitRequested)
    def _quit(self) -> None:
        self.exit(self.farewell())

    @on(PermissionPanel.Answered)
    def _answered(self, message: PermissionPanel.Answered) -> None:
        if self.replied(message.request_id, message.reply) or self.session is None:
            return
        try:
            self.session.answer(message.request_id, message.reply, message.reason)
        except QimingError as error:
            self.tell(error)

    @on(PermissionPanel.Passed)
    def _passed(self, message: PermissionPanel.Passed) -> None:
        self.main.prompt_bar.write(message.text)

    # -- actions -----------------------------------------------------------------------------------------

    async def perform(self, command_id: str, argument: str) -> None:
        """Do it."""
        await self._actions.run(command_id, argument)

    async def action_command(self, command_id: str) -> None:
        """Every route of a command ends here."""
        await self._actions.run(command_id, "")

    def action_escape(self) -> None:
        """Esc that no widget took: it stops, or with nothing to stop closes what is said for a moment."""
        if not self.main.prompt_bar.escape():
            self.clear_notifications()

    def action_interrupt(self) -> None:
        """^C that no widget took."""
        self.main.prompt_bar.interrupt()

    def action_answer(self, reply: str) -> None:
        """A chord that answers the open question from the prompt."""
        self.main.question.answer(reply)

    async def action_demo(self, command_id: str) -> None:
        """A key of the demo that plays."""
        await self._actions.run(command_id, "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that are off for now: the chords of a question while none is open and seen, those of a demo
        while something is typed, and below a dialog whatever leads elsewhere."""
        if action in ("command", "leader"):
            return not isinstance(self.screen, ModalScreen) or parameters == ("quit",)
        if action == "answer":
            main = self.main
            return main.standing and self.screen is main and main.question.question is not None
        if action == "demo":
            focused = self.focused
            free = isinstance(focused, Prompt) and not focused.text and not focused.menu
            return self.pace is not None and (free or isinstance(focused, (TimelineStrip, BudgetBar)))
        return True

    def action_leader(self) -> None:
        """The leader key: a strip says what may follow."""

        async def chosen(command: Command | None) -> None:
            if command is not None:
                await self._actions.run(BY_ID[command.id].id, "")

        self.push_screen(
            WhichKey(keys.leader_table(self.keymap), leader=keys.leader_key(self.keymap)), chosen
        )
