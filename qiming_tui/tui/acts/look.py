"""Commands that change what is seen, and nothing else."""

from collections.abc import Mapping

from qiming_tui.model.errors import InputError
from qiming_tui.tui import keys
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.screens.act import ActScreen
from qiming_tui.tui.screens.before_after import BeforeAfterScreen, FatePage
from qiming_tui.tui.screens.help import CommandsScreen, HelpScreen
from qiming_tui.tui.screens.inspector import InspectorScreen
from qiming_tui.tui.screens.text import TextScreen
from qiming_tui.tui.screens.timeline import TimelineScreen
from qiming_tui.tui.theme import DARK, LIGHT
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.conversation.view import Conversation
from qiming_tui.tui.widgets.timeline.chart import TimelineChart
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip


class LookActions(Family):
    """Find, open, copy, colours, help."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {
            "find": self._find,
            "expand": self._expand,
            "copy": self._copy,
            "theme": self._theme,
            "palette": self._palette,
            "help": self._help,
            "timeline": self._timeline,
        }

    async def _find(self, words: str) -> None:
        if not words:
            raise InputError("what is to be found?", "type /find WORDS")
        found = self._app.main.conversation.search(words)
        self._app.main.prompt_bar.say(f"{found} found; ^X n goes on" if found else f"nothing holds {words!r}")

    async def _expand(self, _: str) -> None:
        self._app.main.conversation.action_open_all()

    async def _copy(self, _: str) -> None:
        answer = self._app.presenter.last_answer if self._app.presenter is not None else ""
        if not answer:
            raise InputError("there is no answer to copy yet")
        await self._app.copy(answer)

    async def _theme(self, name: str) -> None:
        names = {"dark": DARK, "light": LIGHT, "": LIGHT if self._app.theme == DARK else DARK}
        if name not in names:
            raise InputError(f"no theme {name!r}", "dark or light")
        self._app.theme = names[name]

    async def _palette(self, _: str) -> None:
        screen = CommandsScreen(keymap=self._app.keymap, glyphs=self._app.main.glyphs)
        await self._app.push_screen(screen, self._chosen)

    async def _chosen(self, command_id: str | None) -> None:
        """Run what was chosen in the help or the palette."""
        if command_id is not None:
            await self._app.action_command(command_id)

    async def _help(self, words: str) -> None:
        main = self._app.main
        panes = (
            ("everywhere", keys.APP),
            ("in the prompt", keys.PROMPT),
            ("while a question is open", keys.PERMISSION),
            ("in the conversation", Conversation.BINDINGS),
            ("in the timeline", TimelineStrip.BINDINGS),
            ("in the timeline in full", (*TimelineChart.BINDINGS, *TimelineScreen.BINDINGS)),
            ("in the inspector", InspectorScreen.BINDINGS),
            ("in the budget bar, near the limit", BudgetBar.BINDINGS),
            ("in a text over the page", TextScreen.BINDINGS),
            ("before an edit of the window", ActScreen.BINDINGS),
            ("before and after a compaction", (*FatePage.BINDINGS, *BeforeAfterScreen.BINDINGS)),
        )
        await self._app.push_screen(
            HelpScreen(panes, keymap=self._app.keymap, glyphs=main.glyphs, words=words), self._chosen
        )

    async def _timeline(self, _: str) -> None:
        """The timeline takes the focus, and gives it back."""
        main = self._app.main
        strip = main.strip
        if not strip.size.height:
            raise InputError("there is no room for the timeline here", "make the window higher")
        main.set_focus(main.prompt_bar.prompt if main.focused is strip else strip)
