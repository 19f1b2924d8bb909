"""The provider child: litellm in a process of its own (`data.md` 5, `mechanisms.md` 1).

Order matters: the pipes are taken first, the thread that ends the process with its parent runs next, and only
then is litellm imported, by a nicer thread, while the loop already answers.
"""

import asyncio
import gc
import importlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Final, Protocol

from qiming_tui.model.stream import Failure, Fault, FaultKind, Finish, Request, StreamEvent
from qiming_tui.provider.frames import Cancel, End, Error, Frame, Hello, Ping, Pong, Quit, Start, Taken
from qiming_tui.provider.outlet import Harbour, Outlet
from qiming_tui.provider.pipes import Pipes, lower_priority
from qiming_tui.provider.redact import RedactedLog, Redactor

YIELD_S: Final = 0.010
IMPORT_NICE: Final = 10


class Source(Protocol):
    """Whatever makes requests (`child_upstream.Upstream`)."""

    def events(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Events of one answer, the last one a Finish or a Failure."""
        ...

    async def warm(self) -> None:
        """Do once what the first request would have to wait for."""
        ...


class Worker:
    """Runs the requests of a child, each in a task of its own, in one loop."""

    def __init__(self, pipes: Pipes, source: "asyncio.Future[Source]") -> None:
        self._pipes = pipes
        self._source = source
        self._harbour = Harbour()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._outlets: dict[str, Outlet] = {}
        self.done = asyncio.Event()

    def handle(self, frame: Frame) -> None:
        """Do what the parent asks."""
        match frame:
            case Start(request=request):
                self._tasks[request.id] = asyncio.get_running_loop().create_task(self._run(request))
            case Cancel(id=name) if name in self._tasks:
                self._tasks[name].cancel()
            case Taken(id=name, bytes=count) if name in self._outlets:
                self._outlets[name].taken(count)
            case Ping(id=name):
                info = {
                    "streams": len(self._tasks),
                    "flying": self._harbour.flying,
                    "peak": self._harbour.peak,
                }
                self._pipes.send(Pong(name, info))
            case Quit():
                self.done.set()

    async def _run(self, request: Request) -> None:
        name = request.id
        outlet = Outlet(name, send=self._pipes.send, harbour=self._harbour, clock=time.monotonic)
        self._outlets[name] = outlet
        try:
            last = await self._pump(request, outlet)
            outlet.flush()
            if isinstance(last, Finish):
                self._pipes.send(End(name, last.reason))
            else:
                self._pipes.send(Error(name, last.fault))
        finally:
            outlet.close()
            del self._tasks[name], self._outlets[name]

    async def _pump(self, request: Request, outlet: Outlet) -> Finish | Failure:
        """Move events to the outlet. Buffered chunks never let the loop run by themselves, so it is let run
        every 10 ms: cancels, timers and other streams depend on it."""
        source = await asyncio.shield(self._source)
        events = source.events(request)
        turn_s = time.monotonic()
        try:
            async for event in events:
                if isinstance(event, (Finish, Failure)):
                    return event
                outlet.put(event)
                if outlet.full:
                    await outlet.room()
                elif time.monotonic() - turn_s >= YIELD_S:
                    await asyncio.sleep(0)
                    turn_s = time.monotonic()
        finally:
            if hasattr(events, "aclose"):
                await events.aclose()
        return Failure(Fault(kind=FaultKind.UNKNOWN, message="the answer has no end"))


def _load(redact: Redactor) -> Source:
    """Import litellm and make the source; about six seconds."""
    lower_priority(IMPORT_NICE)
    gc.disable()
    upstream = importlib.import_module("qiming_tui.provider.child_upstream")
    gc.enable()
    gc.freeze()
    source: Source = upstream.Upstream(os.environ, redact, now_ms=upstream.now_ms)
    asyncio.run(source.warm())
    return source


async def serve(pipes: Pipes, redact: Redactor) -> None:
    """Answer frames until the parent says quit (or goes away: then the reading thread ends us)."""
    loop = asyncio.get_running_loop()
    source: asyncio.Future[Source] = loop.create_future()
    worker = Worker(pipes, source)
    inbox: deque[Frame] = deque()

    def drain() -> None:
        while inbox:
            worker.handle(inbox.popleft())

    def arrived(frame: Frame) -> None:
        inbox.append(frame)
        loop.call_soon_threadsafe(drain)

    def loaded() -> None:
        try:
            made = _load(redact)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        loop.call_soon_threadsafe(source.set_result, made)

    pipes.listen(arrived)
    threading.Thread(target=loaded, name="import", daemon=True).start()
    await source
    pipes.send(Hello(os.getpid(), {"library": sys.modules["qiming_tui.provider.child_upstream"].LIBRARY}))
    await worker.done.wait()


def main() -> None:
    """The process."""
    pipes = Pipes.take()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # An answer may repeat itself (a line of dashes); the library would break it off at the hundredth time.
    os.environ["REPEATED_STREAMING_CHUNK_LIMIT"] = str(sys.maxsize)
    redact = Redactor(os.environ)
    sys.stdout = sys.stderr = RedactedLog(2, redact)
    asyncio.run(serve(pipes, redact))
    os._exit(0)


if __name__ == "__main__":
    main()
