"""Groups of commands whose modules are imported when they are called: `--help` and `--version` stay quick."""

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar, NamedTuple

import click


class Entry(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    place: str
    """`module:attribute`, the module inside `qiming_tui.cli`."""
    help: str


class LazyGroup(click.Group):
    """A group that knows its commands by name only; a subclass names them."""

    table: ClassVar[Mapping[str, Entry]] = {}
    hint: ClassVar[str] = ""
    """What may have been meant by a word that is no command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name, in the table's order."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.place.partition(":")
        command: click.Command = getattr(import_module(f"qiming_tui.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the hint."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message} {self.hint}".rstrip(), ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])
