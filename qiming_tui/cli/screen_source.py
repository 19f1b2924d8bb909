"""Where the full screen's sessions come from: the command line's start, or a demo's stage."""

import asyncio
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qiming_tui.config import PROVIDERS
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import ModelInfo, ModelRef
from qiming_tui.tui.offer import Key, Offer
from qiming_tui.tui.source import Catalog, OneSession, Paper

if TYPE_CHECKING:
    from qiming_tui.cli.start import Start
    from qiming_tui.demo.play import Stage
    from qiming_tui.runtime import Runtime
    from qiming_tui.session.watch import Watch
    from qiming_tui.session.worker import Worker

PAPER_CHARS: Final = 4_000
"""So much of a file is shown before it is trusted."""


class StartSource:
    """Opens what the command line asks for. The imports run in a thread, beside the screen."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._runtime: Runtime | None = None
        self._start: Start | None = None
        self._worker: Worker | None = None

    async def untrusted(self) -> tuple[Paper, ...]:
        """Files of the folder about which nothing was said yet."""
        runtime, start = await self._ready()
        if await runtime.store.trust(str(start.directory)) is not None:
            return ()
        module = await _start_module()
        names = module.waits_for_trust(start.directory)
        return tuple(
            [Paper(name, await asyncio.to_thread(_beginning, start.directory / name)) for name in names]
        )

    async def trust(self, trusted: bool) -> None:
        """Remembered; the folder's settings are in force from now on if it is trusted."""
        runtime, start = await self._ready()
        await (await _start_module()).decide_trust(runtime, start, trusted)

    async def open(self, model: ModelRef | None = None) -> "Worker":
        """The session that was named, the newest one, or a new one."""
        runtime, start = await self._ready()
        module = await _start_module()
        named = module.with_model(start, model) if model is not None else start
        self._worker = await module.open_worker(runtime, named)
        return self._worker

    async def offer(self, reason: str) -> Offer:
        """What is installed, and which keys are set."""
        runtime, _ = await self._ready()
        module = await _start_module()
        missing = await asyncio.to_thread(module.local.missing, module.LOCAL)
        env = runtime.wiring.env
        keys = [
            Key(name, table.key_env, bool(env.get(table.key_env)))
            for name, table in PROVIDERS.items()
            if table.key_env and name != "google"  # gemini by another name
        ]
        words = "" if missing is None else f"{missing}; {missing.hint}"
        return Offer(reason=reason, local=module.LOCAL, local_missing=words, keys=tuple(keys))

    async def catalog(self) -> Catalog:
        """All that are known, the user's own and the local one first."""
        runtime, _ = await self._ready()
        config = runtime.config
        listing = await asyncio.to_thread(import_module, "qiming_tui.cli.models")
        models = await asyncio.to_thread(listing.matching, config, "")
        ready = await asyncio.to_thread(_with_key, runtime, models)
        return Catalog(models=tuple(models), settings=config.settings, ready=ready)

    async def new(self) -> "Worker":
        """A new session with the same model."""
        runtime, start = await self._ready()
        self._worker = await runtime.new_session(start.directory, self._open.ctx.profile.info.ref)
        return self._worker

    async def switch(self, session_id: str, *, take: bool = False) -> "Worker":
        """A stored session."""
        runtime, _ = await self._ready()
        held = runtime.running(session_id)
        if held is not None and held.lost:
            await runtime.leave(held)
            held = None
        self._worker = held or await runtime.open_session(session_id, None, take=take)
        return self._worker

    async def watch(self, session_id: str | None) -> "Watch":
        """A session that another process writes."""
        runtime, start = await self._ready()
        wanted = session_id or await (await _start_module()).find_session(runtime, start)
        if wanted is None:
            raise InputError("no session is named")
        return await runtime.watch(wanted)

    async def export(self, session_id: str, target: Path) -> int:
        """As `qiming export` writes it."""
        runtime, _ = await self._ready()
        return await _export(runtime, session_id, target)

    async def close(self) -> None:
        """End every process."""
        if self._runtime is not None:
            await self._runtime.close()

    async def _ready(self) -> "tuple[Runtime, Start]":
        if self._runtime is None or self._start is None:
            module = await _start_module()
            self._start = module.Start(directory=Path.cwd(), **self._options)
            self._runtime = await module.open_runtime(self._start)
        return self._runtime, self._start

    @property
    def _open(self) -> "Worker":
        if self._worker is None:
            raise InputError("no session is open yet", "try again in a moment")
        return self._worker


async def _start_module() -> Any:  # noqa: ANN401 (cli.start, imported only now)
    return await asyncio.to_thread(import_module, "qiming_tui.cli.start")


async def _export(runtime: "Runtime", session_id: str, target: Path) -> int:
    module = await asyncio.to_thread(import_module, "qiming_tui.cli.export")
    data: bytes = await module.exported(runtime.store, session_id)
    await asyncio.to_thread(module.write_private, target, data)
    return len(data)


def _beginning(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(PAPER_CHARS)


def _with_key(runtime: "Runtime", models: Iterable[ModelInfo]) -> frozenset[str]:
    """Providers whose models can be asked here."""
    first = {info.ref.provider: info.ref for info in models}
    return frozenset(name for name, ref in first.items() if runtime.models.ready(ref))


class DemoSource(OneSession):
    """A demo's stage as the screen's source."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage

    async def open(self, model: ModelRef | None = None) -> "Worker":
        """The demo's session."""
        return await self._stage.open()

    async def export(self, session_id: str, target: Path) -> int:
        """As `qiming export` writes it."""
        return await _export(self._stage.runtime, session_id, target)
