"""The tap: litellm builds and sends the request, we read the event stream (`mechanisms.md` 1).

An httpx transport of ours is handed to litellm by its public `client=` argument. It sends the library's
bytes unchanged, notes what left and what was refused, and takes a successful event stream out of the
library's hands with an exception of its own. Any other reply goes back to the library.
"""

import hashlib
import urllib.request
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Final

import httpx
import msgspec

from qiming_tui.model.codec import JSON

REFUSAL_BYTES: Final = 1024 * 1024
"""So much of a refusal's body is kept."""
EVENT_BYTES: Final = 64 * 1024 * 1024
"""A longer single event is not an event stream."""
_PATHS: Final = {
    "openai": "/chat/completions",
    "anthropic": "/messages",
    "gemini": ":streamGenerateContent",
}


class Refusal(msgspec.Struct, frozen=True):
    """A reply that is not 200, as it came from the server."""

    status: int
    headers: dict[str, str]
    text: str


class Flight:
    """One request on its way: what left, and what came back instead of an answer."""

    def __init__(self, wire: str, *, take: bool) -> None:
        self.wire = wire
        self.take = take
        self.sent: tuple[str, int] | None = None
        """SHA-256 and length of the newest body that left."""
        self.refusal: Refusal | None = None


FLIGHT: Final[ContextVar[Flight | None]] = ContextVar("flight", default=None)
"""The request that the current task makes; set before litellm is called."""


class Taken(BaseException):
    """Carries an open event stream past the library's error handling, which catches Exception."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self.response = response


class Tap(httpx.AsyncBaseTransport):
    """The transport; one for the whole process, connections are kept and reused."""

    def __init__(self) -> None:
        self._routes: dict[str | None, httpx.AsyncHTTPTransport] = {}

    def _route(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        """A transport for this address, through the proxy of the environment if there is one."""
        proxy = None if urllib.request.proxy_bypass(url.host) else urllib.request.getproxies().get(url.scheme)
        if proxy not in self._routes:
            self._routes[proxy] = httpx.AsyncHTTPTransport(proxy=proxy)
        return self._routes[proxy]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; raises Taken with the open stream when the flight wants it."""
        flight = FLIGHT.get()
        body = await request.aread()
        if flight is not None and request.method == "POST":
            flight.sent = (hashlib.sha256(body).hexdigest(), len(body))
        response = await self._send(request)
        if flight is None:
            return response
        if response.status_code != 200:
            data = await response.aread()
            flight.refusal = Refusal(
                response.status_code, dict(response.headers), data[:REFUSAL_BYTES].decode("utf-8", "replace")
            )
        elif flight.take and _is_ours(flight, request, response):
            raise Taken(response)
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """A kept connection that the server has closed meanwhile is tried once more, at once, as long as not
        one byte of a reply has come."""
        route = self._route(request.url)
        try:
            return await route.handle_async_request(request)
        except httpx.RemoteProtocolError as error:
            if "without sending a response" not in str(error):
                raise
            return await route.handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        for route in self._routes.values():
            await route.aclose()


def _is_ours(flight: Flight, request: httpx.Request, response: httpx.Response) -> bool:
    suffix = _PATHS.get(flight.wire)
    streamed = "event-stream" in response.headers.get("content-type", "")
    return streamed and suffix is not None and request.url.path.endswith(suffix)


class StreamDamaged(ValueError):
    """The event stream holds something that is not JSON."""


class Events:
    """Cuts an event stream into decoded objects (server-sent events; `[DONE]` and comments are left out)."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[dict[str, JSON]]:
        """The objects that are complete with this chunk; raises StreamDamaged."""
        out: list[dict[str, JSON]] = []
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > EVENT_BYTES:
            raise StreamDamaged("an event is too long")
        for line in lines:
            line = line.removesuffix(b"\r")
            if not line:
                self._close(out)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
        return out

    def end(self) -> list[dict[str, JSON]]:
        """What the last, unterminated event holds; a torn one is dropped."""
        out: list[dict[str, JSON]] = []
        try:
            out += self.feed(b"\n\n")
        except StreamDamaged:
            return []
        return out

    def _close(self, out: list[dict[str, JSON]]) -> None:
        data, self._data = b"\n".join(self._data), []
        if not data or data == b"[DONE]":
            return
        try:
            value = msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise StreamDamaged(f"an event is not JSON: {error}") from error
        if isinstance(value, dict):
            out.append(value)


async def objects_of(response: httpx.Response) -> AsyncIterator[dict[str, JSON]]:
    """The decoded objects of a taken stream; closes the response in the end."""
    events = Events()
    try:
        async for chunk in response.aiter_bytes():
            for value in events.feed(chunk):
                yield value
        for value in events.end():
            yield value
    finally:
        await response.aclose()
