"""`qiming` in a terminal: the full screen. What is heavy is imported after the first frame."""

import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qiming_tui.cli.options import flags, preset_option, settings_from, store_option
from qiming_tui.cli.output import print_lines
from qiming_tui.cli.screen_source import DemoSource, StartSource
from qiming_tui.model.codec import JSON
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import glyphs
from qiming_tui.tui.guard import Guard
from qiming_tui.tui.history import History
from qiming_tui.tui.keys import keymap, known_ids, own_nodes
from qiming_tui.tui.screens.welcome import Way
from qiming_tui.tui.source import Farewell

if TYPE_CHECKING:
    from qiming_tui.demo.play import Stage


@click.command()
@click.argument("prompt", required=False)
@click.option("--model", metavar="M", help="provider/model; else the session's, else your setting's.")
@click.option("--session", metavar="ID", help="Go on with this session (the beginning of its id will do).")
@click.option("--continue", "resume", is_flag=True, help="Go on with the newest session of this folder.")
@click.option("--trust", is_flag=True, help="Trust this folder: read its AGENTS.md and settings.")
@click.option("--allow", multiple=True, metavar="RULE", help='Allow without asking, e.g. "bash:git *".')
@click.option("--glyphs", "glyph_set", default="full", metavar="SET", help="full, safe or ascii.")
@store_option
@preset_option
def screen(prompt: str | None, glyph_set: str, preset: str | None, **options: Any) -> None:  # noqa: ANN401
    """Talk to a model in the full screen."""
    given = flags(preset=preset)
    source = StartSource({**options, "flags": given})
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "qiming-tui"
    app = QimingApp(
        source,
        prompt=prompt,
        glyphs=glyphs(glyph_set),
        history=History(data / "history.jsonl"),
        drafts=Drafts(data / "drafts"),
        files=FileIndex(Path.cwd()),
        keymap=own_keys(given),
    )
    asyncio.run(begin(app))


def own_keys(given: dict[str, JSON]) -> dict[str, str]:
    """The keys of the user's settings. Raises ConfigError before the screen is up."""
    return keymap(settings_from(given).keymap, known_ids(own_nodes()))


async def begin(app: QimingApp) -> None:
    """Run the screen, and what the user chose there instead of a session."""
    await show(app)
    if app.way is Way.DEMO:
        demo = import_module("qiming_tui.cli.demo")
        await demo.show(demo.scenario_named("grow"), speed=1.0, keep=False, as_json=False, lines=False)


async def show_demo(stage: "Stage", *, kept: bool) -> None:
    """Play a scenario in the full screen; it stays open after the last turn. `kept`: its session outlives
    it."""
    app = QimingApp(DemoSource(stage), play=stage.play, pace=stage.pace, keymap=own_keys({}))
    await show(app, kept=kept)


async def show(app: QimingApp, *, kept: bool = True) -> None:
    """Run the screen, end its session, and print what the alternate screen has taken away. Raises QimingError
    where no session could be opened."""
    try:
        with Guard() as guard:
            app.guard = guard
            await app.run_async()
    finally:
        farewell = app.farewell()
        await app.close()
    if app.failure is not None:
        raise app.failure
    if farewell is not None:
        _print(farewell, kept=kept)
    if app.return_code:
        click.get_current_context().exit(app.return_code)


def _print(farewell: Farewell, *, kept: bool) -> None:
    lines = []
    if farewell.prompt:
        lines += [f"> {farewell.prompt}", ""]
    if farewell.answer:
        lines += [farewell.answer, ""]
    on = f"go on with: qiming --session {farewell.session_id}" if kept else "a session of your own: qiming"
    print_lines([*lines, on])
