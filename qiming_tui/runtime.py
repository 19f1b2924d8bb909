"""L4, the composition root: the only place that knows every concrete class."""

import asyncio
import os
import platform
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import platformdirs

from qiming_tui import __version__
from qiming_tui.config import Action, Config, Rule, RuleOrigin
from qiming_tui.context.state import Block
from qiming_tui.model.changes import Change, PutSession, PutTrust, SessionRecord
from qiming_tui.model.errors import InputError, SessionBusy
from qiming_tui.model.events import Event
from qiming_tui.model.ids import Clock, Ids
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.messages import Session, SessionTime
from qiming_tui.model.stream import Counter
from qiming_tui.models import Models
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.counter import TokenCounter
from qiming_tui.session.context import Context
from qiming_tui.session.live import Live
from qiming_tui.session.recovery import needs_recovery, recover
from qiming_tui.session.services import Resolve, Services
from qiming_tui.session.worker import Worker
from qiming_tui.store.store import Store
from qiming_tui.tools.base import OUTSIDE
from qiming_tui.tools.instructions import instructions
from qiming_tui.tools.permissions import DEFAULT_RULES
from qiming_tui.tools.registry import default_tools


def data_dir() -> Path:
    """The user's data folder: the store, logs and whole tool outputs."""
    return platformdirs.user_data_path("qiming-tui")


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the program, the demo and the tests."""

    config: Config
    folder: Path
    """Where logs and fetched limits go."""
    outputs: Path
    """Where whole tool outputs are kept."""
    env: Mapping[str, str]
    interactive: bool = True
    clock: Clock = now_ms
    randbelow: Callable[[int], int] = secrets.randbelow
    random: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    resolve: Resolve | None = None
    """Instead of the real models: the demo's scripted one."""
    counter: Counter | None = None
    environment: Callable[[Path], Block] | None = None
    user_folder: Path | None = None
    """Where the global AGENTS.md is; None: no instruction files are read at all."""


class Runtime:
    """Opens sessions and closes everything again."""

    def __init__(self, store: Store, wiring: Wiring) -> None:
        self.store = store
        self.config = wiring.config
        self.wiring = wiring
        self.ids = Ids(wiring.clock, wiring.randbelow)
        logs = wiring.folder / "log"
        self.counter: Counter = wiring.counter or TokenCounter(env=wiring.env, log_path=logs / "counter.log")
        self.models = Models(
            config=wiring.config,
            catalogue=Catalogue(env=wiring.env, cache_dir=wiring.folder / "cache"),
            counter=self.counter,
            env=wiring.env,
            log_dir=logs,
            new_key=lambda: secrets.token_urlsafe(24),
            clock=wiring.clock,
        )
        self._owner = f"{os.getpid()}:{secrets.token_hex(4)}"
        self._workers: list[Worker] = []
        self._beats: list[asyncio.Task[None]] = []

    async def new_session(self, directory: Path, model: ModelRef) -> Worker:
        """Make a session in a folder and start its worker."""
        now = self.wiring.clock()
        session = Session(
            id=self.ids.new("ses"),
            directory=str(directory.resolve()),
            version=__version__,
            time=SessionTime(created=now, updated=now),
            model={"providerID": model.provider, "id": model.model},
            preset=self.config.settings.preset.value,
        )
        await self.store.apply([PutSession(session)])
        return await self._start(SessionRecord(session=session), model)

    async def open_session(self, session_id: str, model: ModelRef | None) -> Worker:
        """Go on with a session; with its own model unless another is named.

        Raises NotFound, InputError without any model, SessionBusy while another process writes it.
        """
        record = await self.store.load(session_id)
        if model is None:
            model = model_of(record) or self.config.model
        if model is None:
            raise InputError("this session names no model", "name one with --model")
        return await self._start(record, model)

    async def trust(self, directory: Path, trusted: bool) -> None:
        """Remember whether the user trusts a folder."""
        await self.store.apply([PutTrust(str(directory.resolve()), trusted)])

    async def close(self) -> None:
        """Stop workers, give up leases, end every process. Raises StoreError if something is unsaved."""
        try:
            for worker in self._workers:
                await worker.close()
        finally:
            for beat in self._beats:
                beat.cancel()
            for worker in self._workers:
                await self.store.release(worker.ctx.session_id, self._owner)
            await self.models.close()
            await self.counter.close()
            self.store.close()

    async def _start(self, record: SessionRecord, model: ModelRef) -> Worker:
        session_id = record.session.id
        if not await self.store.acquire(session_id, self._owner):
            raise SessionBusy(
                "another process is at work on this session",
                "close it there, or wait ten seconds after it has died",
            )
        resolve = self.wiring.resolve or self.models.resolve
        profile = await resolve(model)
        trusted = await self.store.trust(record.session.directory)
        changes: tuple[Change, ...] = ()
        events: tuple[Event, ...] = ()
        if needs_recovery(record):
            rows = await self.store.requests(session_id)
            opened = tuple(row for row in rows if row.outcome is Outcome.OPEN)
            changes, events = recover(record, opened, self.wiring.clock())
        ctx = Context(self._services(resolve), Live(record), profile)
        ctx.engine.trusted = bool(trusted)
        if changes:
            await ctx.journal.commit(*changes)
        await ctx.engine.find_measured_row()
        worker = Worker(ctx)
        worker.recovered = tuple(events)
        self._workers.append(worker)
        self._beats.append(asyncio.create_task(self._beat(session_id)))
        await worker.start()
        return worker

    async def _beat(self, session_id: str) -> None:
        while True:
            await asyncio.sleep(2.0)
            await self.store.beat(session_id, self._owner)

    def _services(self, resolve: Resolve) -> Services:
        config, wiring = self.config, self.wiring
        tools = tuple(tool for tool in default_tools() if tool.name not in config.tools.disabled)
        return Services(
            store=self.store,
            resolve=resolve,
            tools=tools,
            settings=config.settings,
            rules=(*DEFAULT_RULES, *self._output_rules(), *config.rules),
            clock=wiring.clock,
            ids=self.ids,
            random=wiring.random,
            sleep=wiring.sleep,
            environment=wiring.environment or environment,
            instructions=self._instructions,
            tool_env=lambda: dict(wiring.env),
            hidden_env=config.key_names(),
            tool_limits=config.tools,
            keep_output=self._keep_output,
            compaction_model=config.compaction_model,
            interactive=wiring.interactive,
            owner=self._owner,
        )

    def _instructions(self, directory: Path, trusted: bool) -> tuple[Block, ...]:
        folder = self.wiring.user_folder
        return () if folder is None else instructions(directory, trusted=trusted, user_folder=folder)

    def _output_rules(self) -> tuple[Rule, ...]:
        """The model may look at whole tool outputs without asking, wherever they are kept."""
        pattern = f"{self.wiring.outputs.resolve()}/*"
        names = (OUTSIDE, "read", "grep")
        return tuple(Rule(name, pattern, Action.ALLOW, RuleOrigin.DEFAULT) for name in names)

    async def _keep_output(self, part_id: str, text: str) -> Path:
        path = self.wiring.outputs / f"{part_id}.txt"
        await asyncio.to_thread(_write_private, path, text)
        return path


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))


def environment(directory: Path) -> Block:
    """The system block on the machine, the folder and the date."""
    lines = (
        "<environment>",
        f"Working folder: {directory}",
        f"Git repository: {'yes' if (directory / '.git').exists() else 'no'}",
        f"Platform: {platform.system().lower()}",
        f"Date: {datetime.now(UTC).date().isoformat()}",
        "</environment>",
    )
    return Block("\n".join(lines), "environment")


def model_of(record: SessionRecord) -> ModelRef | None:
    """The model that a session was working with last."""
    for entry in reversed(record.entries):
        model = getattr(entry.info, "model", None)
        if isinstance(model, ModelRef):
            return model
    stored = record.session.model
    if isinstance(stored, dict) and "providerID" in stored and "id" in stored:
        return ModelRef(str(stored["providerID"]), str(stored["id"]))
    return None
