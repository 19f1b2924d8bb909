"""An HTTP server on the loopback that answers as it is told and remembers what it was sent.

It runs in a thread of its own, so that tests in a loop and programs in a pseudo-terminal can use it alike.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

HOLD = object()
"""In a reply's chunks: send nothing more until the client closes or `Received.release` is set."""


@dataclass
class Reply:
    """What the server answers. `chunks` are written one HTTP chunk each; `cut` drops the connection after
    them, without an end; `body` is a plain reply. Without either the connection is closed without a byte."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    chunks: Sequence[object] | None = None
    cut: bool = False
    hold: bool = False
    """Like HOLD, before the first byte of the reply."""

    @classmethod
    def error(cls, status: int, body: object, **headers: str) -> "Reply":
        """A refusal with a JSON (or text) body; header names have `_` for `-`."""
        text = body if isinstance(body, str) else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status=status, headers=named, body=text)


class Received:
    """One request as it came, and what became of its connection."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.closed = threading.Event()
        self.closed_at = 0.0
        self.holding = threading.Event()
        self.release = threading.Event()

    @property
    def json(self) -> dict:
        """The body, decoded."""
        return json.loads(self.body)

    def gone(self) -> None:
        """The client closed the connection."""
        self.closed_at = time.monotonic()
        self.closed.set()


class Loopback:
    """Use as a context manager; `answer` is called with each request, or replies are taken in order."""

    def __init__(self, *replies: Reply, answer: Callable[[Received], Reply] | None = None) -> None:
        self._replies = list(replies)
        self._answer = answer or self._next
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[asyncio.Task] = set()
        self.requests: list[Received] = []
        self.port = 0

    @property
    def url(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def _next(self, _: Received) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def __enter__(self) -> "Loopback":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in head[1:]:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        received = Received(head[0].split()[1], headers, body)
        self.requests.append(received)
        reply = self._answer(received)
        watcher = asyncio.ensure_future(reader.read(1))
        try:
            return await self._write(writer, reply, received, watcher)
        except ConnectionError:
            received.gone()
            return False
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def _write(
        self, writer: asyncio.StreamWriter, reply: Reply, received: Received, watcher: asyncio.Future
    ) -> bool:
        if reply.chunks is None and reply.body is None:
            return False
        if reply.hold and not await self._hold(received, watcher):
            return False
        headers = dict(reply.headers)
        if reply.chunks is None:
            data = (reply.body or "").encode()
            headers.setdefault("content-type", "application/json")
            headers["content-length"] = str(len(data))
            writer.write(_head(reply.status, headers) + data)
            await writer.drain()
            return True
        headers.setdefault("content-type", "text/event-stream")
        headers["transfer-encoding"] = "chunked"
        writer.write(_head(reply.status, headers))
        for chunk in reply.chunks:
            if chunk is HOLD:
                await writer.drain()
                if not await self._hold(received, watcher):
                    return False
            elif isinstance(chunk, (int, float)):
                await asyncio.sleep(chunk)
            else:
                assert isinstance(chunk, bytes)
                writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                await writer.drain()
                await asyncio.sleep(0)
                if watcher.done():
                    received.gone()
                    return False
        if reply.cut:
            await writer.drain()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _hold(self, received: Received, watcher: asyncio.Future) -> bool:
        """Wait for a release (True) or for the client to go (False)."""
        received.holding.set()
        release = asyncio.ensure_future(asyncio.to_thread(received.release.wait))
        try:
            await asyncio.wait((watcher, release), return_when=asyncio.FIRST_COMPLETED)
        finally:
            released = received.release.is_set()
            received.release.set()
        if not released:
            received.gone()
        return released


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} reply", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
