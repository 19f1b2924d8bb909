"""`qiming` in a terminal: the full screen. What is heavy is imported after the first frame."""

import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qiming_tui.cli.options import flags, preset_option, store_option
from qiming_tui.cli.output import print_lines
from qiming_tui.model.errors import InputError
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import glyphs
from qiming_tui.tui.guard import Guard
from qiming_tui.tui.history import History
from qiming_tui.tui.source import Farewell

if TYPE_CHECKING:
    from qiming_tui.cli.start import Start
    from qiming_tui.demo.play import Stage
    from qiming_tui.runtime import Runtime
    from qiming_tui.session.worker import Worker


class StartSource:
    """Opens what the command line asks for."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._runtime: Runtime | None = None
        self._start: Start | None = None
        self._worker: Worker | None = None

    async def open(self) -> "Worker":
        """Settings, store and session; the imports run beside the screen."""
        start = await asyncio.to_thread(import_module, "qiming_tui.cli.start")
        self._start = start.Start(directory=Path.cwd(), **self._options)
        self._runtime = await start.open_runtime(self._start)
        self._worker = await start.open_worker(self._runtime, self._start)
        return self._worker

    async def new(self) -> "Worker":
        """A new session with the same model."""
        runtime, start, worker = self._ready()
        self._worker = await runtime.new_session(start.directory, worker.ctx.profile.info.ref)
        return self._worker

    async def switch(self, session_id: str) -> "Worker":
        """A stored session."""
        runtime, _, _ = self._ready()
        held = runtime.running(session_id)
        self._worker = held or await runtime.open_session(session_id, None)
        return self._worker

    async def close(self) -> None:
        """End every process."""
        if self._runtime is not None:
            await self._runtime.close()

    def _ready(self) -> "tuple[Runtime, Start, Worker]":
        if self._runtime is None or self._start is None or self._worker is None:
            raise InputError("no session is open yet", "try again in a moment")
        return self._runtime, self._start, self._worker


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
    source = StartSource({**options, "flags": flags(preset=preset)})
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "qiming-tui"
    app = QimingApp(
        source,
        prompt=prompt,
        glyphs=glyphs(glyph_set),
        history=History(data / "history.jsonl"),
        drafts=Drafts(data / "drafts"),
        files=FileIndex(Path.cwd()),
    )
    asyncio.run(show(app))


class DemoSource:
    """A demo's stage as the screen's source."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage

    async def open(self) -> "Worker":
        """The demo's session."""
        return await self._stage.open()

    async def new(self) -> "Worker":
        """A demo has one session."""
        raise InputError("a demo has one session", "leave with ^C ^C and start qiming")

    async def switch(self, session_id: str) -> "Worker":
        """A demo has one session."""
        raise InputError("a demo has one session", "leave with ^C ^C and start qiming")

    async def close(self) -> None:
        """The stage is closed by whoever set it up."""


async def show_demo(stage: "Stage") -> None:
    """Play a scenario in the full screen; it stays open after the last turn."""
    await show(QimingApp(DemoSource(stage), play=stage.play, pace=stage.pace))


async def show(app: QimingApp) -> None:
    """Run the screen, end its session, and print what the alternate screen has taken away."""
    try:
        with Guard() as guard:
            app.guard = guard
            await app.run_async()
    finally:
        farewell = app.farewell()
        await app.close()
    if farewell is not None:
        _print(farewell)
    if app.return_code:
        click.get_current_context().exit(app.return_code)


def _print(farewell: Farewell) -> None:
    lines = []
    if farewell.prompt:
        lines += [f"> {farewell.prompt}", ""]
    if farewell.answer:
        lines += [farewell.answer, ""]
    print_lines([*lines, f"go on with: qiming --session {farewell.session_id}"])
