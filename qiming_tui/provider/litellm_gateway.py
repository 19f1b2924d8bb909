"""The gateway to every real model: requests go to the provider child and their events come back.

The session sees nothing of the process: a request made before the child is ready waits for it; a child that
dies ends the running requests with a fault that may be repeated, and is started again (`design.md` 7).
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.model.errors import GatewayError
from qiming_tui.model.stream import Failure, Fault, FaultKind, Finish, Request, StreamEvent
from qiming_tui.provider.frames import Cancel, Delta, End, Error, Frame, Ping, Pong, Start, Taken
from qiming_tui.provider.process import ChildProcess, ChildSpec, Stage

TAKEN_BYTES: Final = 64 * 1024
"""Consumption is reported to the child in steps of this size, well below its limit for a stream."""
READY_S: Final = 120.0


class _Stream:
    """One running request on this side."""

    def __init__(self) -> None:
        self.frames: deque[tuple[tuple[StreamEvent, ...], int]] = deque()
        self.arrived = asyncio.Event()
        self.ended = False

    def put(self, events: tuple[StreamEvent, ...], size: int) -> None:
        if not self.ended:
            self.frames.append((events, size))
            self.ended = isinstance(events[-1], (Finish, Failure))
            self.arrived.set()


class LitellmGateway:
    """A `Gateway` over litellm. `env` is the child's whole environment: keys are there and nowhere else."""

    def __init__(self, *, env: Mapping[str, str], log_path: Path, python: str = sys.executable) -> None:
        spec = ChildSpec(
            module="qiming_tui.provider.child",
            env={**env, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            log_path=log_path,
            python=python,
        )
        self._child = ChildProcess(spec, on_frame=self._received, on_death=self._died)
        self._streams: dict[str, _Stream] = {}
        self._pings: dict[str, asyncio.Future[Pong]] = {}
        self._numbers = count(1)

    def start(self) -> None:
        """Begin to start the child (ready in 5 to 6 s); requests may be made at once."""
        self._child.start()

    async def ready(self, timeout_s: float = READY_S) -> str:
        """Wait for the child; returns the library's name and version. Raises GatewayError."""
        hello = await self._child.ready(timeout_s)
        return str(hello.info.get("library", ""))

    @property
    def pid(self) -> int | None:
        """The child's process id, None between two runs."""
        return self._child.pid

    async def figures(self) -> dict[str, object]:
        """What the child says of itself: running streams, bytes in flight now and at most."""
        name = f"ping{next(self._numbers)}"
        future: asyncio.Future[Pong] = asyncio.get_running_loop().create_future()
        self._pings[name] = future
        try:
            self._child.send(Ping(name))
            return dict((await future).info)
        finally:
            del self._pings[name]

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        """Events of one answer (`model.stream.Gateway`). Closing the iterator stops the request at once on
        this side; the child closes the connection to the server."""
        name = f"{request.id}-{next(self._numbers)}"  # a repeated request must not see late frames
        stream = _Stream()
        try:
            self._child.start()
            self._child.send(Start(msgspec.structs.replace(request, id=name)))
        except GatewayError as error:
            yield Failure(_child_fault(f"{error}; {error.hint}", retryable=False))
            return
        self._streams[name] = stream
        owed = 0
        try:
            while True:
                while stream.frames:
                    events, size = stream.frames.popleft()
                    for event in events:
                        yield event
                        if isinstance(event, (Finish, Failure)):
                            return
                    owed += size
                    if owed >= TAKEN_BYTES:
                        self._tell(Taken(name, owed))
                        owed = 0
                stream.arrived.clear()
                await stream.arrived.wait()
        finally:
            del self._streams[name]
            if not stream.ended:
                self._tell(Cancel(name))

    async def close(self) -> None:
        """End the child; running streams end in a fault."""
        await self._child.close()
        self._fail_all("the program is closing", retryable=False)

    def _tell(self, frame: Frame) -> None:
        """Send what only matters to a living child."""
        try:
            self._child.send(frame)
        except GatewayError:
            return

    def _received(self, frame: Frame, size: int) -> None:
        match frame:
            case Delta(id=name, events=events) if name in self._streams and events:
                self._streams[name].put(events, size)
            case End(id=name, reason=reason) if name in self._streams:
                self._streams[name].put((Finish(reason),), 0)
            case Error(id=name, fault=fault) if name in self._streams:
                self._streams[name].put((Failure(fault),), 0)
            case Pong(id=name) if name in self._pings and not self._pings[name].done():
                self._pings[name].set_result(frame)

    def _died(self, words: str) -> None:
        lost = self._child.stage is Stage.BROKEN
        what = "cannot be started" if lost else "died"
        self._fail_all(f"the provider process {what}: {words}", retryable=not lost)

    def _fail_all(self, words: str, *, retryable: bool) -> None:
        failure = Failure(_child_fault(words, retryable=retryable))
        for stream in self._streams.values():
            stream.put((failure,), 0)
        for future in self._pings.values():
            if not future.done():
                future.set_exception(GatewayError(words))


def _child_fault(words: str, *, retryable: bool) -> Fault:
    return Fault(kind=FaultKind.CHILD, message=words, retryable=retryable)
