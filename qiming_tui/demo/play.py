"""Plays a scenario with the real worker, store, tools and engine; the same scenario gives the same run."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.config import Config, RuleOrigin
from qiming_tui.context.state import Block
from qiming_tui.context.tokens import O200K
from qiming_tui.demo.hands import perform
from qiming_tui.demo.pace import Pace
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import Counter
from qiming_tui.provider.counter import TokenCounter
from qiming_tui.provider.scenario import Scenario
from qiming_tui.provider.scripted import ScriptedGateway
from qiming_tui.runtime import Runtime, Wiring, now_ms
from qiming_tui.session.services import ModelProfile
from qiming_tui.session.worker import Worker
from qiming_tui.store.store import Store
from qiming_tui.tools.permissions import parse_rule

EPOCH_MS: Final = 1_767_258_000_000
"""The demo's time begins on 1 January 2026, 09:00 UTC, and goes on 5 ms with every look at the clock."""

TICK_MS: Final = 5

OUTPUTS: Final = ".qiming/tool-output"
"""Where whole tool outputs go: inside the demo's project, so that their names are the same in every run."""


class DemoClock:
    """A clock that advances by being read."""

    def __init__(self) -> None:
        self._now = EPOCH_MS

    def __call__(self) -> int:
        """Milliseconds since the epoch."""
        self._now += TICK_MS
        return self._now


class Stage:
    """A scenario set up: its project folder, its scripted provider, its worker."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        project: Path,
        store: str,
        speed: float,
        counter: Counter | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        interactive: bool = False,
        salt: str = "",
    ) -> None:
        """`salt` changes all ids, for a session that is kept beside others of the same scenario."""
        self.scenario = scenario
        self._project = project
        write_files(scenario, project)
        seed = random.Random(scenario.name + salt)
        clock = DemoClock()
        self.pace = Pace(speed=speed, sleep=sleep)
        env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
        folder = project.parent / f"{project.name}-program"
        logs = folder / "log"
        self.counter: Counter = counter or TokenCounter(env=os.environ, log_path=logs / "counter.log")
        self.gateway = ScriptedGateway(
            scenario, counter=self.counter, sleep=self.pace.sleep, begin=self.pace.begin
        )
        rules = tuple(parse_rule(text, origin=RuleOrigin.FLAG) for text in scenario.allow)
        self.runtime = Runtime(
            Store.open(store, clock=now_ms),
            Wiring(
                config=Config(settings=scenario.settings, rules=rules),
                folder=folder,
                outputs=project / OUTPUTS,
                env=env,
                interactive=interactive,
                clock=clock,
                randbelow=seed.randrange,
                random=seed.random,
                sleep=self.pace.sleep,
                resolve=self.resolve,
                counter=self.counter,
                environment=environment,
                user_folder=folder / "user",
            ),
        )

    async def resolve(self, ref: ModelRef) -> ModelProfile:
        """The scripted model, whatever is asked for."""
        limits = self.scenario.limits_of(ref)
        info = msgspec.structs.replace(self.scenario.info, ref=ref, limits=limits)
        return ModelProfile(info=info, gateway=self.gateway, counter=self.counter, encoding=O200K)

    async def open(self) -> Worker:
        """Make the session and its worker, in a project folder that is trusted: it is ours."""
        await self.runtime.trust(self._project, True)
        return await self.runtime.new_session(self._project, self.scenario.ref)

    async def play(self, worker: Worker, watched: Callable[[], bool] = lambda: True) -> None:
        """Say and do everything that the scenario's user says and does, each when the turn before has ended,
        as long as somebody watches."""
        for turn in self.scenario.turns:
            if not watched():
                return
            await worker.submit(turn.prompt)
            await worker.idle()
            for act in turn.then:
                await perform(worker, act)
                await worker.idle()

    async def close(self) -> None:
        """End the session and every process."""
        await self.runtime.close()


def write_files(scenario: Scenario, project: Path) -> None:
    """Make the scenario's project folder."""
    project.mkdir(parents=True, exist_ok=True)
    for name, text in scenario.files:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def environment(directory: Path) -> Block:
    """The demo's machine: the same everywhere, so that every run counts the same tokens."""
    lines = ("<environment>", "Working folder: the demo project", "Date: 2026-01-01", "</environment>")
    return Block("\n".join(lines), "environment")
