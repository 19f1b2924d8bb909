"""`qiming demo`: scenarios of the scripted provider, played by the real program. No key, no network."""

import asyncio
import secrets
from importlib import import_module

import click

from qiming_tui.cli.looks import Looks, Wishes, ask, look_options, looks
from qiming_tui.cli.options import json_option, settings_from
from qiming_tui.cli.output import print_json, print_lines, table
from qiming_tui.cli.run import Printer
from qiming_tui.cli.start import store_place
from qiming_tui.cli.terminal import full_screen
from qiming_tui.demo.place import demo_folder, kept_folder
from qiming_tui.demo.play import Stage
from qiming_tui.demo.scenarios import listing
from qiming_tui.demo.scenarios import scenario as scenario_named
from qiming_tui.model import events as e
from qiming_tui.provider.scenario import Scenario
from qiming_tui.runtime import data_dir


@click.command()
@click.argument("scenario", required=False, default="grow")
@click.option("--list", "list_them", is_flag=True, help="List the scenarios.")
@click.option("--headless", is_flag=True, help="Play at once, without waiting, in lines.")
@click.option("--plain", is_flag=True, help="Play in lines instead of the full screen.")
@click.option("--speed", type=click.FloatRange(min=0), metavar="X", help="Times as fast; 0: without waiting.")
@click.option("--keep", is_flag=True, help="Keep the session where `qiming sessions` finds it.")
@look_options
@json_option
def demo(
    scenario: str,
    list_them: bool,
    headless: bool,
    plain: bool,
    speed: float | None,
    keep: bool,
    glyph_set: str | None,
    theme: str | None,
    native_cursor: bool,
    as_json: bool,
) -> None:
    """Play SCENARIO (grow, if none is named) and show what the context engine does and why."""
    if list_them:
        _list(as_json)
        return
    found = scenario_named(scenario)
    quiet = headless or as_json
    pace = speed if speed is not None else (0.0 if quiet else 1.0)
    lines = quiet or plain or not full_screen()
    seen = Looks()
    if not lines:
        wishes = Wishes(glyph_set, theme, native_cursor)
        with ask(wishes) as asked:
            import_module("qiming_tui.cli.screen_run")
            seen = looks(wishes, asked.found())
    asyncio.run(show(found, speed=pace, keep=keep, as_json=as_json, lines=lines, seen=seen))


def _list(as_json: bool) -> None:
    if as_json:
        print_json([{"name": name, "sentence": sentence} for name, sentence in listing()])
    else:
        print_lines(table(listing()))


async def show(
    scenario: Scenario, *, speed: float, keep: bool, as_json: bool, lines: bool, seen: Looks
) -> None:
    """Play a scenario to the end: in the full screen, or its events as lines."""
    if keep:
        folder = kept_folder(scenario.name, data_dir() / "demo")
        store = store_place(settings_from({}), None)
        stage = Stage(
            scenario, project=folder / "project", store=store, speed=speed, salt=secrets.token_hex(8)
        )
        await _perform(stage, as_json=as_json, keep=True, lines=lines, seen=seen)
        return
    with demo_folder(scenario.name) as folder:
        stage = Stage(scenario, project=folder / "project", store=str(folder / "demo.db"), speed=speed)
        await _perform(stage, as_json=as_json, keep=False, lines=lines, seen=seen)


async def _perform(stage: Stage, *, as_json: bool, keep: bool, lines: bool, seen: Looks) -> None:
    try:
        if lines:
            await _play(stage, as_json=as_json, keep=keep)
        else:
            await import_module("qiming_tui.cli.screen_run").show_demo(stage, kept=keep, seen=seen)
    finally:
        await stage.close()


async def _play(stage: Stage, *, as_json: bool, keep: bool) -> None:
    worker = await stage.open()
    show_event = Printer(as_json, closed=worker.abort, echo_user=True)

    def listen(event: e.Event) -> None:
        """A running command's output comes when it comes: without it every run prints the same."""
        if not (isinstance(event, e.PartUpdated) and event.progress):
            show_event(event)

    worker.ctx.bus.listen(listen)
    show_event(e.SessionCreated(session=worker.ctx.session_id, info=worker.ctx.live.session))
    await stage.play(worker, lambda: not show_event.broken)
    if keep and not as_json:
        print_lines([f"kept: qiming inspect window --session {worker.ctx.session_id}"])
