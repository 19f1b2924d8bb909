"""L4, the composition root: the only place that knows every concrete class."""

import asyncio
import logging
import os
import platform
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

import msgspec
import platformdirs

from qiming_tui import __version__
from qiming_tui.config import Action, Config, Rule, RuleOrigin
from qiming_tui.context.budget import bound
from qiming_tui.context.state import Block
from qiming_tui.model.changes import PutSession, PutTrust, SessionRecord
from qiming_tui.model.errors import InputError, SessionBusy, StoreError
from qiming_tui.model.ids import Clock, Ids
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.messages import Session, SessionTime
from qiming_tui.model.stream import Counter
from qiming_tui.models import Models
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.counter import TokenCounter
from qiming_tui.session.context import Context
from qiming_tui.session.follow import Follower
from qiming_tui.session.live import Live
from qiming_tui.session.recovery import ends
from qiming_tui.session.services import ModelProfile, Resolve, Services
from qiming_tui.session.watch import Watch
from qiming_tui.session.worker import Worker
from qiming_tui.store.lease import BEAT_MS, taken_over
from qiming_tui.store.store import Store
from qiming_tui.tools.base import OUTSIDE
from qiming_tui.tools.instructions import instructions
from qiming_tui.tools.permissions import DEFAULT_RULES
from qiming_tui.tools.registry import default_tools

LOG = logging.getLogger("qiming")


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
        self._log = log_to(logs / "qiming.log")
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
        self._beats: dict[str, asyncio.Task[None]] = {}

    @property
    def _resolve(self) -> Resolve:
        return self.wiring.resolve or self.models.resolve

    async def new_session(self, directory: Path, model: ModelRef) -> Worker:
        """Make a session in a folder and start its worker. Nothing is stored if the model cannot be used.

        Raises InputError for an unknown model or a missing key, GatewayError if it cannot be started.
        """
        await self._ready(model)
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
        return await self._start(session.id, model)

    def running(self, session_id: str) -> Worker | None:
        """The worker that this program has for a session already; None: it has none."""
        return next((w for w in self._workers if w.ctx.session_id == session_id), None)

    async def open_session(self, session_id: str, model: ModelRef | None, *, take: bool = False) -> Worker:
        """Go on with a session; with its own model unless another is named. `take` takes it from a process
        that writes it.

        Raises NotFound, InputError without any model, SessionBusy while somebody else writes it.
        """
        await self.store.session(session_id)
        return await self._start(session_id, model, take=take)

    async def leave(self, worker: Worker) -> None:
        """Close one worker and give its session back; one in which nothing was ever said is deleted. Raises
        StoreError if something is unsaved."""
        try:
            await worker.close()
            if worker.ctx.live.blank and not worker.lost:
                await self.store.delete(worker.ctx.session_id)
        finally:
            self._workers.remove(worker)
            await self._give_back(worker.ctx.session_id)

    def follow(self, session_id: str) -> Follower:
        """Look at a session that another process writes."""
        return Follower(self.store, session_id)

    async def watch(self, session_id: str) -> Watch:
        """The same for a screen: what is shown of a session is there, nothing can be changed. No process is
        started. Raises NotFound, InputError without any model."""
        follower = self.follow(session_id)
        record = await follower.open()
        model = model_of(record) or self.config.model
        if model is None:
            raise InputError("this session names no model", "name one with --model")
        look = self.wiring.resolve or self.models.glance
        ctx = Context(self._services(look), Live(record), await look(model))
        ctx.engine.trusted = bool(await self.store.trust(record.session.directory))
        await ctx.engine.find_measured_row()
        return Watch(follower, ctx, await follower.writer())

    async def trust(self, directory: Path, trusted: bool) -> None:
        """Remember whether the user trusts a folder."""
        await self.store.apply([PutTrust(str(directory.resolve()), trusted)])

    async def close(self) -> None:
        """Stop workers, give up leases, end every process. Raises StoreError if something is unsaved."""
        async with AsyncExitStack() as stack:  # everything is closed, whatever fails
            stack.callback(self._log)
            stack.callback(self.store.close)
            stack.push_async_callback(self.counter.close)
            stack.push_async_callback(self.models.close)
            for worker in tuple(self._workers):
                stack.push_async_callback(self.leave, worker)

    async def _start(self, session_id: str, model: ModelRef | None, *, take: bool = False) -> Worker:
        if any(worker.ctx.session_id == session_id for worker in self._workers):
            raise SessionBusy("this session is open in this program already")
        if not await self.store.acquire(session_id, self._owner, force=take):
            raise SessionBusy(
                "another process is at work on this session",
                "close it there, or wait ten seconds after it has died",
            )
        self._beats[session_id] = asyncio.create_task(self._beat(session_id))
        try:
            worker = await self._worker(session_id, model)
            await worker.start()
        except BaseException:
            await self._give_back(session_id)
            raise
        self._workers.append(worker)
        return worker

    async def _give_back(self, session_id: str) -> None:
        self._beats.pop(session_id).cancel()
        await self.store.release(session_id, self._owner)

    async def _worker(self, session_id: str, model: ModelRef | None) -> Worker:
        """The worker of a session whose lease is ours; what a dead process left open is ended first."""
        found = await self.store.session(session_id)
        ended = await self.store.recover(session_id)
        if found.turn is not None or found.open_step is not None:
            await self.store.apply([PutSession(msgspec.structs.replace(found, turn=None, open_step=None))])
        record = await self.store.load(session_id)
        model = model or model_of(record) or self.config.model
        if model is None:
            raise InputError("this session names no model", "name one with --model")
        ctx = Context(self._services(self._resolve), Live(record), await self._ready(model))
        ctx.engine.trusted = bool(await self.store.trust(record.session.directory))
        await ctx.engine.find_measured_row()
        worker = Worker(ctx)
        worker.recovered = ends(found, ended)
        return worker

    async def _ready(self, model: ModelRef) -> ModelProfile:
        """The profile of a model that is to be asked. Raises ConfigError, before a turn begins, where its
        limits have no room for the settings' reserve."""
        profile = await self._resolve(model)
        bound(profile.info.limits, self.config.settings)
        return profile

    async def _beat(self, session_id: str) -> None:
        """Keep the lease; a store that cannot be written now costs a beat, not the session."""
        while True:
            await asyncio.sleep(BEAT_MS / 1000)
            try:
                if not await self.store.beat(session_id, self._owner):
                    reason = taken_over(await self.store.lease(session_id))
                    for worker in self._workers:
                        if worker.ctx.session_id == session_id:
                            worker.lose(reason)
                    return
            except StoreError as error:
                LOG.warning("the lease of %s is not renewed: %s", session_id, error)

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


def log_to(path: Path) -> Callable[[], None]:
    """Send what the program logs about itself to a private file, made when something is logged, and to
    nowhere else: a line on stderr would tear a full screen. Returns what ends it."""
    logger = logging.getLogger("qiming")
    handler = PrivateLog(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)

    def end() -> None:
        logger.removeHandler(handler)
        handler.close()

    return end


class PrivateLog(logging.FileHandler):
    """A log that only its owner may read; its folder is made with it."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        return super()._open()


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
