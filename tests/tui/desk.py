"""The lower end of the screen, wired as the application wires it; everything it was told is written down."""

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from qiming_tui.tui import keys
from qiming_tui.tui.asking import Question
from qiming_tui.tui.commands import Command
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.screens.help import CommandsScreen
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.permission import PermissionPanel
from qiming_tui.tui.widgets.prompt import Prompt
from qiming_tui.tui.widgets.prompt_bar import PromptBar
from qiming_tui.tui.widgets.which_key import WhichKey
from tests.tui.frames import Bench


class Desk(Bench):
    """Conversation, question, prompt, footer."""

    BINDINGS = keys.APP
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid"), (140, "-wide"), (180, "-xwide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm"), (44, "-tall")]

    def __init__(self, bar: PromptBar | None = None, *, glyphs: Glyphs = FULL, **options: Any) -> None:
        super().__init__(styles=("base", "prompt", "dialogs"))
        self.bar = bar or PromptBar(**options)
        self.now_s = 0.0
        self.panel = PermissionPanel(clock_s=lambda: self.now_s)
        self.told: list[tuple[Any, ...]] = []
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """As on the main screen."""
        text = Static("[b]conversation\n" * 60, markup=False)
        text.styles.height = "1fr"
        yield text
        yield self.panel
        yield self.bar
        yield Footer()

    def on_mount(self) -> None:
        """The prompt has the focus from the start."""
        self.bar.glyphs = self.panel.glyphs = self._glyphs
        self.screen.set_focus(self.bar.prompt)

    @property
    def prompt(self) -> Prompt:
        """The text area."""
        return self.bar.prompt

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        """What was told of one kind, without the kind."""
        return [told[1:] for told in self.told if told[0] == kind]

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        self.told.append(("sent", event.text, event.steer))

    @on(Prompt.Called)
    def _called(self, event: Prompt.Called) -> None:
        self.told.append(("command", event.command.id, event.argument))

    @on(Prompt.Shell)
    def _shell(self, event: Prompt.Shell) -> None:
        self.told.append(("shell", event.command))

    @on(Prompt.QuitRequested)
    @on(PromptBar.StopRequested)
    def _named(self, event: Message) -> None:
        self.told.append((type(event).__name__,))

    @on(Prompt.Changed)
    def _changed(self) -> None:
        self.panel.note_typing()

    @on(PermissionPanel.Passed)
    def _passed(self, event: PermissionPanel.Passed) -> None:
        self.bar.write(event.text)

    @on(PermissionPanel.Answered)
    def _answered(self, event: PermissionPanel.Answered) -> None:
        self.told.append(("answer", event.request_id, event.reply, event.reason))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The chords are only there with a question."""
        return self.panel.question is not None if action == "answer" else True

    def action_answer(self, reply: str) -> None:
        """A chord."""
        self.panel.answer(reply)

    def action_escape(self) -> None:
        """Nothing nearer took it."""
        self.bar.escape()

    def action_interrupt(self) -> None:
        """Nothing was selected."""
        self.bar.interrupt()

    def action_command(self, command_id: str) -> None:
        """The end of every route."""
        self.told.append(("command", command_id, ""))
        if command_id == "palette":

            def run(command_id: str | None) -> None:
                if command_id is not None:
                    self.told.append(("command", command_id, ""))

            self.push_screen(CommandsScreen(), run)

    def action_leader(self) -> None:
        """Wait for the next key."""

        def chosen(command: Command | None) -> None:
            if command is not None:
                self.told.append(("command", command.id, ""))

        self.push_screen(WhichKey(keys.leader_table()), chosen)


QUESTION = Question(
    request_id="per_1",
    tool="bash",
    command="rm -rf .pytest_cache && pytest -q",
    detail="--- a/x\n+++ b/x\n-old [b]line\n+new line",
    why="rm deletes files; no rule matches",
    folder="~/src/retry",
    always="pytest *",
    price_tokens=2_100,
    samples=9,
    lands_percent=80,
    timeout_s=120,
)
