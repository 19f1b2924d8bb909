"""The parent's side of a child of ours: start it, speak frames, notice its death, start it again.

Used for the provider, the counter and the local model alike (`data.md` 5). A child's stderr goes to a log
file; a child that dies is reported and started again; one that cannot start three times in a row is given
up until somebody asks for it again.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from qiming_tui.model.errors import GatewayError
from qiming_tui.provider.frames import Frame, FrameError, Hello, Quit, Splitter, pack

LOG_BYTES: Final = 5 * 1024 * 1024
"""A log that is longer when a child starts is put aside (one old log is kept)."""
START_TRIES: Final = 3
RETRY_S: Final = 0.2
CLOSE_S: Final = 1.0


class ChildSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How a child is started: `python -m module args`, with exactly this environment."""

    module: str
    env: Mapping[str, str]
    log_path: Path
    args: tuple[str, ...] = ()
    python: str = sys.executable
    restart: bool = True


class Stage(Enum):
    """Where a child is in its life."""

    IDLE = "idle"
    STARTING = "starting"
    READY = "ready"
    BROKEN = "broken"
    CLOSED = "closed"


FrameCallback = Callable[[Frame, int], None]
"""Called in the loop with every frame but Hello, and its size in bytes."""
DeathCallback = Callable[[str], None]
"""Called in the loop when the process died unasked, with a sentence; frames sent before it are lost."""


class _Link(asyncio.SubprocessProtocol):
    """One run of the process: bytes to frames, and its end."""

    def __init__(self, owner: "ChildProcess") -> None:
        self._owner = owner
        self._splitter = Splitter()
        self.code: int | None = None
        self.gone = asyncio.Event()
        self._exited = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        try:
            for frame, size in self._splitter.feed(data):
                self._owner._received(self, frame, size)
        except FrameError as error:
            self._owner._broke(self, str(error))

    def process_exited(self) -> None:
        self._exited = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and its pipes are read to their end."""
        self.gone.set()
        self._owner._died(self)


class ChildProcess:
    """A child process of ours. All methods are called in one running loop."""

    def __init__(self, spec: ChildSpec, *, on_frame: FrameCallback, on_death: DeathCallback) -> None:
        self._spec = spec
        self._on_frame = on_frame
        self._on_death = on_death
        self._stage = Stage.IDLE
        self._settled = asyncio.Event()
        self._hello: Hello | None = None
        self._link: _Link | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._outbox: list[bytes] = []
        self._early_deaths = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def stage(self) -> Stage:
        """Where the child is in its life."""
        return self._stage

    @property
    def pid(self) -> int | None:
        """The process id of the running child, None between two runs."""
        return self._transport.get_pid() if self._transport is not None else None

    @property
    def hello(self) -> Hello | None:
        """What the running child said when it was ready; None before."""
        return self._hello

    def start(self) -> None:
        """Begin to start the child unless it runs already; returns at once. A given-up one is tried anew."""
        if self._stage is Stage.CLOSED:
            raise GatewayError("this process was closed")
        if self._stage in (Stage.IDLE, Stage.BROKEN):
            self._early_deaths = 0
            self._stage = Stage.STARTING
            self._settled.clear()
            self._task = asyncio.get_running_loop().create_task(self._spawn(0.0))

    async def ready(self, timeout_s: float) -> Hello:
        """Wait until the child says hello; raises GatewayError when it cannot start or takes too long."""
        self.start()
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError as error:
            raise self._failed(f"was not ready after {timeout_s:g} s") from error
        if self._hello is None:
            raise self._failed("could not be started")
        return self._hello

    def send(self, frame: Frame) -> None:
        """Hand a frame over; kept until the child runs. Raises GatewayError when there is no child."""
        if self._stage in (Stage.IDLE, Stage.BROKEN, Stage.CLOSED):
            raise self._failed("does not run")
        data = pack(frame)
        pipe = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if isinstance(pipe, asyncio.WriteTransport):
            pipe.write(data)
        else:
            self._outbox.append(data)

    async def close(self) -> None:
        """End the child and wait for it: a quit frame, then SIGTERM, then SIGKILL, one second apart."""
        if self._stage is Stage.CLOSED:
            return
        running = self._stage is not Stage.IDLE
        if running and self._transport is not None:
            self.send(Quit())
        self._stage = Stage.CLOSED
        self._settled.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        link, transport = self._link, self._transport
        if link is None or transport is None:
            return
        pipe = transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        for end in (transport.terminate, transport.kill):
            if await _within(link.gone, CLOSE_S):
                break
            _signal(end)
        await link.gone.wait()
        transport.close()

    def _failed(self, what: str) -> GatewayError:
        return GatewayError(f"{self._spec.module} {what}", hint=f"its log is {self._spec.log_path}")

    async def _spawn(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        link = _Link(self)
        spec = self._spec
        command = (spec.python, "-P", "-m", spec.module, *spec.args)
        try:
            with _log(spec.log_path) as log:
                transport, _ = await asyncio.get_running_loop().subprocess_exec(
                    lambda: link, *command, stderr=log, env=_environment(spec.env), start_new_session=True
                )
        except OSError as error:
            self._give_up(f"{spec.module} could not be started: {error.strerror}")
            return
        self._link, self._transport = link, transport
        waiting, self._outbox = self._outbox, []
        pipe = transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport):
            pipe.writelines(waiting)
        if link.gone.is_set():
            self._died(link)

    def _received(self, link: _Link, frame: Frame, size: int) -> None:
        if self._stage is Stage.CLOSED:
            return
        if isinstance(frame, Hello):
            self._hello = frame
            self._early_deaths = 0
            self._stage = Stage.READY
            self._settled.set()
        else:
            self._on_frame(frame, size)

    def _broke(self, link: _Link, words: str) -> None:
        """The pipe is out of step: the run is ended; `_died` does the rest."""
        if link is self._link and self._transport is not None:
            _signal(self._transport.kill)

    def _died(self, link: _Link) -> None:
        if link is not self._link or self._transport is None or self._stage is Stage.CLOSED:
            return
        code = self._transport.get_returncode()
        self._transport.close()
        self._link = self._transport = None
        self._outbox.clear()
        early = self._hello is None
        self._hello = None
        words = f"{self._spec.module} ended with code {code}"
        self._early_deaths += early
        if not self._spec.restart or self._early_deaths >= START_TRIES:
            self._give_up(words)
            return
        self._stage = Stage.STARTING
        self._settled.clear()
        delay_s = RETRY_S * self._early_deaths
        self._task = asyncio.get_running_loop().create_task(self._spawn(delay_s))
        self._on_death(words)

    def _give_up(self, words: str) -> None:
        self._stage = Stage.BROKEN
        self._outbox.clear()
        self._settled.set()
        self._on_death(words)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _signal(end: Callable[[], None]) -> None:
    try:
        end()
    except ProcessLookupError:
        return


@contextmanager
def _log(path: Path) -> Iterator[BinaryIO]:
    """The child's log, open for appending, readable by the user only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0) as file:
        yield file


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """`env`, and where our package is imported from if it is not installed.

    The child runs with `-P`: nothing is imported from the folder that the program was started in.
    """
    out = dict(env)
    root = Path(__file__).resolve().parent.parent.parent
    if root.name not in ("site-packages", "dist-packages"):
        out["PYTHONPATH"] = os.pathsep.join(filter(None, (str(root), env.get("PYTHONPATH"))))
    return out
