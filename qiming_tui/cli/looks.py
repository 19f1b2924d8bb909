"""How the full screen looks in this terminal: by option, else by what the terminal says (`ux.md` 4)."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from qiming_tui.cli.probe import FAR_S, WAIT_S, Found, Probe, dark_by_name


class Looks(NamedTuple):
    """What the screen is started with."""

    glyph_set: str = "full"
    dark: bool = True
    native_cursor: bool = False
    typed: str = ""
    """What was typed before the screen was there."""


class Wishes(NamedTuple):
    """The options; None: not given."""

    glyph_set: str | None = None
    theme: str | None = None
    native_cursor: bool = False


_OPTIONS = (
    click.option(
        "--glyphs",
        "glyph_set",
        type=click.Choice(["full", "safe", "ascii"]),
        help="The signs that are drawn; else by what the terminal can do.",
    ),
    click.option(
        "--theme", type=click.Choice(["dark", "light"]), help="Colours; else by the terminal's background."
    ),
    click.option("--native-cursor", is_flag=True, help="Show the terminal's own cursor, for magnifiers."),
)


def look_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `Wishes`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def ask(wishes: Wishes, env: Mapping[str, str] = os.environ) -> Probe:
    """The question for what no option has said; use it round the imports of the screen."""
    colour = wishes.theme is None and "NO_COLOR" not in env
    far = "SSH_TTY" in env or "SSH_CONNECTION" in env
    return Probe(width=wishes.glyph_set is None, colour=colour, wait_s=FAR_S if far else WAIT_S)


def looks(wishes: Wishes, found: Found, env: Mapping[str, str] = os.environ) -> Looks:
    """Option, then the terminal's answer, then COLORFGBG, then dark."""
    dark = found.dark if found.dark is not None else dark_by_name(env)
    if wishes.theme is not None:
        dark = wishes.theme == "dark"
    return Looks(
        glyph_set=wishes.glyph_set or found.glyph_set or "full",
        dark=dark is not False,
        native_cursor=wishes.native_cursor,
        typed=found.typed,
    )
