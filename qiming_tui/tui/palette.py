"""The command palette: every command of the registry, found by its title, its slash word or its help."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from qiming_tui.tui.commands import COMMANDS, Command
from qiming_tui.tui.keys import display, leader_table


def routes(command: Command, keymap: Mapping[str, str] | None = None) -> str:
    """Every way to a command, in words: `/compact [focus]   ^X c`."""
    own = keymap or {}
    keys = own.get(command.id, command.keys)
    chords = {chord.command.id: chord.key for chord in leader_table(own)}
    ways = [command.usage]
    ways += [display(key) for key in keys.split(",") if key and key != "none"]
    if command.id in chords:
        ways.append(f"{display(own.get('leader', 'ctrl+x'))} {chords[command.id]}")
    return "   ".join(ways)


class CommandProvider(Provider):
    """Gives the palette our commands."""

    keymap: ClassVar[Mapping[str, str]] = {}
    """The user's own keys, to be named instead of ours."""

    async def discover(self) -> Hits:
        """All of them, in the registry's order."""
        for command in COMMANDS:
            yield DiscoveryHit(
                Content(command.title), partial(self._run, command), command.title, self._words(command)
            )

    async def search(self, query: str) -> Hits:
        """Those that fit, best first."""
        matcher = self.matcher(query)
        for command in COMMANDS:
            score = max(matcher.match(command.title), matcher.match(command.slash))
            score = max(score, matcher.match(command.help) / 2)
            if score > 0:
                title = matcher.highlight(command.title)
                yield Hit(score, title, partial(self._run, command), command.title, self._words(command))

    async def _run(self, command: Command) -> None:
        await self.app.run_action(command.action)

    def _words(self, command: Command) -> str:
        return escape(f"{routes(command, self.keymap)}   {command.help}")  # Textual reads it as markup


def palette(keymap: Mapping[str, str]) -> CommandPalette:
    """The palette to push, which names the user's own keys.

    The application sets `ENABLE_COMMAND_PALETTE = False`: Textual's own key for it would win over ours.
    """
    provider = type("OwnKeys", (CommandProvider,), {"keymap": keymap})
    return CommandPalette(providers=[provider], placeholder="Search commands")
