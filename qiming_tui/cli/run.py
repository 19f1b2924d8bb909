"""`qiming run PROMPT`: one turn without a person."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from qiming_tui.cli.labels import Labels
from qiming_tui.cli.ndjson import line
from qiming_tui.cli.options import flags, json_option, preset_option, reserved_option, store_option
from qiming_tui.cli.output import print_error
from qiming_tui.cli.start import Start, open_runtime, open_worker
from qiming_tui.model import events as e


@click.command()
@click.argument("prompt")
@click.option("--model", metavar="M", help="provider/model; else your setting's.")
@click.option("--session", metavar="ID", help="Go on with this session.")
@click.option("--continue", "resume", is_flag=True, help="Go on with the newest session of this folder.")
@click.option("--allow", multiple=True, metavar="RULE", help='Allow a tool, e.g. "edit" or "bash:git *".')
@click.option("--trust", is_flag=True, help="Trust this folder: read its AGENTS.md and settings.")
@click.option("--no-auto", is_flag=True, help="Never compact by itself.")
@store_option
@preset_option
@reserved_option
@json_option
def run(
    prompt: str,
    store: str | None,
    preset: str | None,
    reserved: int | None,
    no_auto: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Work on PROMPT until it is answered, then leave: exit code 0 when it was, 1 when not.

    Whatever asks is refused unless a rule of --allow permits it. A prompt of "-" is read from standard input.
    """
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise click.BadParameter("the prompt is empty", param_hint="PROMPT")
    given = flags(preset=preset, reserved=reserved, auto=False if no_auto else None)
    start = Start(directory=Path.cwd(), store=store, flags=given, interactive=False, **options)
    reason = asyncio.run(headless(start, text, as_json=as_json))
    click.get_current_context().exit(0 if reason == "done" else 1)


async def headless(start: Start, prompt: str, *, as_json: bool) -> str:
    """Run one prompt; returns why the turn ended. Events go to stdout as they come."""
    runtime = await open_runtime(start)
    try:
        worker = await open_worker(runtime, start)
        show = Printer(as_json, closed=worker.abort)
        for event in worker.recovered:
            show(event)
        ended: list[str] = []

        def listen(event: e.Event) -> None:
            if isinstance(event, e.Failed):
                print_error(event.message, event.hint)
            if as_json or not isinstance(event, e.Failed):
                show(event)
            if isinstance(event, e.TurnFinished):
                ended.append(event.reason)

        worker.ctx.bus.listen(listen)
        show(e.SessionCreated(session=worker.ctx.session_id, info=worker.ctx.live.session))
        await worker.submit(prompt)
        await worker.idle()
        return ended[-1] if ended else "error"
    finally:
        await runtime.close()


class Printer:
    """Writes events: NDJSON, or labelled lines. A reader that goes away ends the writing, not the session:
    `closed` is called once, so that the work can be stopped."""

    def __init__(self, as_json: bool, *, closed: Callable[[], object], echo_user: bool = False) -> None:
        self._labels = None if as_json else Labels(sys.stdout, echo_user=echo_user)
        self._closed = closed
        self.broken = False

    def __call__(self, event: e.Event) -> None:
        if self.broken:
            return
        try:
            if self._labels is not None:
                self._labels.write(event)
            else:
                click.echo(line(event))
        except BrokenPipeError:
            self.broken = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._closed()
