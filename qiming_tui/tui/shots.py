"""Pictures of the screen: demo scenarios played by the real program without a terminal."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
from textual.pilot import Pilot

from qiming_tui.demo.place import demo_folder
from qiming_tui.demo.play import Stage
from qiming_tui.demo.scenarios import scenario
from qiming_tui.model.errors import InputError, QimingError
from qiming_tui.model.limits import ModelRef
from qiming_tui.session.worker import Worker
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.glyphs import glyphs
from qiming_tui.tui.picture import picture
from qiming_tui.tui.source import OneSession
from qiming_tui.tui.theme import DARK, LIGHT

READY_S: Final = 60.0
"""Seconds that a scenario may take on a busy machine."""
LOOK_S: Final = 0.05
"""Seconds between two looks at whether the screen has caught up."""


class Shot(msgspec.Struct, frozen=True, kw_only=True):
    """One picture: a scenario at its end, a size, a look, keys pressed before it is taken."""

    name: str
    scenario: str
    size: tuple[int, int] = (120, 40)
    theme: str = DARK
    glyph_set: str = "full"
    keys: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """`grow-120x40.svg`."""
        return f"{self.name}-{self.size[0]}x{self.size[1]}.svg"


SHOTS: Final = (
    Shot(name="grow", scenario="grow"),
    Shot(name="grow", scenario="grow", size=(80, 24)),
    Shot(name="grow", scenario="grow", size=(200, 50)),
    Shot(name="prune", scenario="prune"),
    Shot(name="overflow", scenario="overflow"),
    Shot(name="light", scenario="prune", theme=LIGHT),
    Shot(name="ascii", scenario="grow", size=(80, 24), glyph_set="ascii"),
    Shot(name="zh", scenario="zh"),
    Shot(name="timeline", scenario="grow", keys=("ctrl+t", "left_square_bracket")),
    Shot(name="chart", scenario="grow", keys=("ctrl+t", "left_square_bracket", "plus")),
    Shot(name="steps", scenario="grow", keys=("ctrl+t", "plus", "t")),
    Shot(name="before-after", scenario="grow", keys=("ctrl+x", "b", "down", "down")),
    Shot(name="inspector", scenario="grow", keys=("ctrl+x", "w", "left")),
    Shot(name="help", scenario="grow", keys=("f1",)),
)
"""The pictures of the README and of the reviews."""


async def take(folder: Path, shots: Iterable[Shot] = SHOTS) -> AsyncIterator[Path]:
    """Write the pictures into a folder, one after the other; yields each path. Raises InputError where the
    folder cannot be written, QimingError where a scenario does not come to its end in time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for shot in shots:
            target = folder / shot.file_name
            target.write_text(await _svg(shot), encoding="utf-8")
            yield target
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error


async def _svg(shot: Shot) -> str:
    taken: list[str] = []
    async with _stage(shot) as stage:
        played = asyncio.Event()

        async def play(worker: Worker) -> None:
            await stage.play(worker)
            played.set()

        app = QimingApp(_Source(stage), play=play, glyphs=glyphs(shot.glyph_set), theme=shot.theme)

        async def look(pilot: Pilot[object]) -> None:
            try:
                async with asyncio.timeout(READY_S):
                    await played.wait()
                    await _caught_up(app)
                    app.clear_notifications()
                    await pilot.pause()
                    await pilot.press(*shot.keys)
                    await pilot.pause()
                    await _until(lambda: not any(work.group == "inspector" for work in app.workers))
                    await pilot.pause()
                taken.append(picture(app, f"qiming {stage.scenario.name}"))
            except TimeoutError:
                pass  # told below: nothing was taken
            finally:
                app.exit()

        await app.run_async(headless=True, size=shot.size, auto_pilot=look)
    if not taken:
        raise QimingError(f"{shot.file_name}: the scenario did not come to its end within {READY_S:.0f} s")
    return taken[0]


async def _caught_up(app: QimingApp) -> None:
    """Until the screen shows the newest step and the window after it."""
    await _until(lambda: app.session is not None and not app.session.busy)
    session = app.session
    assert session is not None
    await _until(
        lambda: bool(app.main.strip.marks) and app.main.strip.marks[-1].step == session.ctx.live.step
    )
    view = await session.ctx.engine.view(session.ctx.profile)
    await _until(lambda: app.main.bar.data is not None and app.main.bar.data.count == view.count)


async def _until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(LOOK_S)


@asynccontextmanager
async def _stage(shot: Shot) -> AsyncIterator[Stage]:
    found = scenario(shot.scenario)
    with demo_folder(found.name) as folder:
        stage = Stage(found, project=folder / "project", store=str(folder / "demo.db"), speed=0)
        try:
            yield stage
        finally:
            await stage.close()


class _Source(OneSession):
    """The stage's one session."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def open(self, model: ModelRef | None = None) -> Worker:
        """Set the session up."""
        return await self._stage.open()
