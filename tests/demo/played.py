"""Every demo scenario, played once for all tests of this folder: what was seen, sent, stored and left.

The screen's own bridge and presenter watch while it plays; where the widgets would be, a stand-in notes what
they are given.
"""

import asyncio
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from qiming_tui.context.bar import BarData, bar_data
from qiming_tui.context.report import report
from qiming_tui.demo.place import kept_folder
from qiming_tui.demo.play import Stage
from qiming_tui.demo.scenarios import BUILDERS, scenario
from qiming_tui.model import events as e
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import ContextView, Verdict
from qiming_tui.session.worker import Worker
from qiming_tui.tui.bridge import Bridge
from qiming_tui.tui.messages import ViewChanged
from qiming_tui.tui.presenter import Presenter

NAMES = list(BUILDERS)
KEPT: list[Any] = []


@dataclass(frozen=True)
class Frame:
    """What stands on the screen at one moment."""

    view: ContextView
    bar: BarData
    report: tuple[str, ...]
    """What `/context` prints."""


@dataclass
class Played:
    """What a run left: events, the provider's log, the ledger with its blobs, the project's files."""

    folder: Path
    session: str
    events: list[Any]
    log: list[Any]
    """The provider's own: every request as it came."""
    frames: dict[int, Frame]
    """By step: the screen when its request was made."""
    told: dict[int, Verdict]
    """By step: the verdict that was told before its request."""
    rows: list[RequestRow] = field(default_factory=list)
    """Without titles; each with its manifest."""
    blobs: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "demo.db"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def sent(self) -> list[Any]:
        """The provider's log without titles: one entry for each of `rows`."""
        return [entry for entry in self.log if entry.kind is not RequestKind.TITLE]

    def of(self, kind: type) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def verdicts(self) -> list[Verdict]:
        return [event.verdict for event in self.of(e.Context)]

    @property
    def compactions(self) -> list[tuple[str, str]]:
        return [(event.phase, event.reason) for event in self.of(e.CompactionEnded)]

    @property
    def reasons(self) -> list[str]:
        return [event.reason for event in self.of(e.TurnFinished)]

    @property
    def tools(self) -> list[ToolPart]:
        """The newest state of every tool part."""
        parts = {event.part.id: event.part for event in self.of(e.PartFinished)}
        return [part for part in parts.values() if isinstance(part, ToolPart)]


class Watcher:
    """A screen without widgets: what it would show whenever the window's verdict is told."""

    def __init__(self, worker: Worker) -> None:
        self._screen = MagicMock()
        self._presenter = Presenter(self._screen, worker)
        self._seen = asyncio.Event()
        self._bridge = Bridge(worker, self._take)
        self._newest: Frame | None = None
        self._verdict: Verdict | None = None
        self._show = worker.turn.show
        self.frames: dict[int, Frame] = {}
        self.told: dict[int, Verdict] = {}
        worker.ctx.bus.listen(self._event)
        worker.turn.show = self._shown  # type: ignore[method-assign]

    async def _shown(self) -> ContextView:
        """The session waits until the screen has caught up, so that a frame belongs to a step."""
        self._seen.clear()
        view = await self._show()
        await self._seen.wait()
        return view

    def _take(self, message: object) -> None:
        if isinstance(message, ViewChanged):
            self._presenter.view(message.view, message.rows, clearable=message.clearable)
            view, live = self._screen.show_view.call_args.args
            bar = bar_data(view, live)
            self._newest = Frame(view, bar, report(bar, view))
            self._seen.set()

    def _event(self, event: e.Event) -> None:
        match event:
            case e.Context(verdict=verdict):
                self._verdict = verdict
            case e.StepStarted(step=step) if self._newest is not None and self._verdict is not None:
                self.frames[step] = self._newest
                self.told[step] = self._verdict
            case _:
                pass

    def close(self) -> None:
        self._bridge.close()


async def play(name: str, folder: Path) -> Played:
    """Play a scenario to the end in this folder."""
    stage = Stage(scenario(name), project=folder / "project", store=str(folder / "demo.db"), speed=0)
    events: list[Any] = []
    try:
        worker = await stage.open()
        worker.ctx.bus.listen(events.append)
        watcher = Watcher(worker)
        async with asyncio.timeout(120):
            await stage.play(worker)
        watcher.close()
        run = Played(folder, worker.ctx.session_id, events, stage.gateway.log, watcher.frames, watcher.told)
        store = stage.runtime.store
        steps = [row.step for row in await store.requests(run.session) if row.kind is not RequestKind.TITLE]
        run.rows = [await store.request(run.session, step) for step in steps]
        run.blobs = await store.blobs({item.blob for row in run.rows for item in row.manifest})
        run.outputs = await store.outputs([event.part.id for event in run.of(e.PartFinished)])
        run.files = {
            str(path.relative_to(run.project)): path.read_text(encoding="utf-8")
            for path in run.project.rglob("*")
            if path.is_file()
        }
        return run
    finally:
        await stage.close()


@cache
def played(name: str) -> Played:
    """Play a scenario, or remember how it went."""
    place = tempfile.TemporaryDirectory(prefix="played-")
    KEPT.append(place)  # removed when the tests end
    return asyncio.run(play(name, kept_folder(name, Path(place.name))))
