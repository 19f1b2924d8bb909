"""Every demo scenario, played once for all tests of this folder; its store is kept."""

import asyncio
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from qiming_tui.demo.play import Stage
from qiming_tui.demo.scenarios import scenario


@dataclass(frozen=True)
class Played:
    """What a run left."""

    folder: Path
    session: str
    events: list[Any]
    log: list[Any]
    """The provider's own: every request as it came."""

    @property
    def store(self) -> Path:
        return self.folder / "demo.db"

    @property
    def project(self) -> Path:
        return self.folder / "project"


KEPT: list[Any] = []


@cache
def played(name: str) -> Played:
    """Play a scenario to the end."""
    place = tempfile.TemporaryDirectory(prefix=f"played-{name}-")
    KEPT.append(place)  # removed when the tests end
    return asyncio.run(_play(name, Path(place.name)))


async def _play(name: str, folder: Path) -> Played:
    stage = Stage(scenario(name), project=folder / "project", store=str(folder / "demo.db"), speed=0)
    events: list[Any] = []
    try:
        worker = await stage.open()
        worker.ctx.bus.listen(events.append)
        async with asyncio.timeout(120):
            await stage.play(worker)
        return Played(folder, worker.ctx.session_id, events, stage.gateway.log)
    finally:
        await stage.close()
