"""`qiming` in a terminal: the full screen. The terminal is asked about itself while the rest is imported."""

from importlib import import_module
from typing import Any

import click

from qiming_tui.cli.looks import Wishes, ask, look_options
from qiming_tui.cli.options import flags, preset_option, store_option


@click.command()
@click.argument("prompt", required=False)
@click.option("--model", metavar="M", help="provider/model; else the session's, else your setting's.")
@click.option("--session", metavar="ID", help="Go on with this session (the beginning of its id will do).")
@click.option("--continue", "resume", is_flag=True, help="Go on with the newest session of this folder.")
@click.option("--trust", is_flag=True, help="Trust this folder: read its AGENTS.md and settings.")
@click.option("--allow", multiple=True, metavar="RULE", help='Allow without asking, e.g. "bash:git *".')
@look_options
@store_option
@preset_option
def screen(
    prompt: str | None,
    preset: str | None,
    glyph_set: str | None,
    theme: str | None,
    native_cursor: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Talk to a model in the full screen."""
    wishes = Wishes(glyph_set, theme, native_cursor)
    with ask(wishes) as asked:
        import_module("qiming_tui.cli.screen_run").run(prompt, options, flags(preset=preset), asked, wishes)
