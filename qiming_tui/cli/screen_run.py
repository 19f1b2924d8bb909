"""The full screen at work; imported once the terminal has been asked about itself. What is heavy is imported
after the first frame."""

import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qiming_tui.cli.looks import Looks, Wishes, looks
from qiming_tui.cli.options import settings_from
from qiming_tui.cli.output import print_lines
from qiming_tui.cli.probe import Probe
from qiming_tui.cli.screen_source import DemoSource, StartSource
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import ConfigError
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import glyphs
from qiming_tui.tui.guard import Guard
from qiming_tui.tui.history import History
from qiming_tui.tui.keys import keymap, known_ids, own_nodes
from qiming_tui.tui.screens.welcome import Way
from qiming_tui.tui.source import Farewell
from qiming_tui.tui.theme import DARK, LIGHT

if TYPE_CHECKING:
    from qiming_tui.demo.play import Stage


def run(
    prompt: str | None, options: dict[str, Any], given: dict[str, JSON], asked: Probe, wishes: Wishes
) -> None:
    """Open the screen; the terminal's answers are read at the last moment."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "qiming-tui"
    keys = own_keys(given)
    seen = looks(wishes, asked.found())
    app = QimingApp(
        StartSource({**options, "flags": given}),
        prompt=prompt,
        history=History(data / "history.jsonl"),
        drafts=Drafts(data / "drafts"),
        files=FileIndex(Path.cwd()),
        keymap=keys,
        **_dressed(seen),
    )
    asyncio.run(begin(app, seen))


def _dressed(seen: Looks) -> dict[str, Any]:
    """An application's arguments for its looks."""
    return {
        "glyphs": glyphs(seen.glyph_set),
        "theme": DARK if seen.dark else LIGHT,
        "native_cursor": seen.native_cursor,
        "typed": seen.typed,
    }


_WITH_KEYS: Final = ("qiming_tui.tui.acts.table", "qiming_tui.tui.opening")
"""Together they import every screen whose keys the settings may name."""


def own_keys(given: dict[str, JSON]) -> dict[str, str]:
    """The keys of the user's settings. Raises ConfigError before the screen is up."""
    table = settings_from(given).keymap
    if not table:
        return {}
    for name in _WITH_KEYS:  # usually imported after the first frame
        import_module(name)
    return keymap(table, known_ids(own_nodes()))


async def begin(app: QimingApp, seen: Looks) -> None:
    """Run the screen, and what the user chose there instead of a session."""
    await show(app)
    if app.way is Way.DEMO:
        demo = import_module("qiming_tui.cli.demo")
        await demo.show(
            demo.scenario_named("grow"),
            speed=1.0,
            keep=False,
            as_json=False,
            lines=False,
            seen=seen._replace(typed=""),
        )


async def show_demo(stage: "Stage", *, kept: bool, seen: Looks) -> None:
    """Play a scenario in the full screen; it stays open after the last turn. `kept`: its session outlives
    it."""
    try:
        keys = own_keys({})
    except ConfigError:  # a demo plays whatever the settings say
        keys = {}
    app = QimingApp(DemoSource(stage), play=stage.play, pace=stage.pace, keymap=keys, **_dressed(seen))
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
