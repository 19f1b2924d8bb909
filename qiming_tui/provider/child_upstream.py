"""The child's side of a request: litellm, the tap, and what they say when something goes wrong.

Importing this module imports litellm (about six seconds of work): only the provider child does it, in a
thread of its own. `Any` is at home here; past this module everything is ours.
"""

import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

import httpx
import litellm
import msgspec
import openai
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from qiming_tui.model.codec import canonical
from qiming_tui.model.stream import Failure, Fault, FaultKind, Request, StreamEvent, WireReport
from qiming_tui.provider import faults
from qiming_tui.provider.redact import Redactor
from qiming_tui.provider.tap import FLIGHT, Flight, StreamDamaged, Taken, Tap, objects_of
from qiming_tui.provider.wire import CUT_OFF, Answer, Reader, StreamRefused
from qiming_tui.provider.wire_anthropic import AnthropicReader
from qiming_tui.provider.wire_gemini import GeminiReader
from qiming_tui.provider.wire_litellm import LitellmReader
from qiming_tui.provider.wire_openai import OpenAIReader

READ_S: Final = 600.0
"""Longest silence of a server; reasoning models may think for minutes before the first byte."""
CONNECT_S: Final = 15.0
KEEP_CHUNKS: Final = 64
"""litellm keeps every chunk of a stream; the first and so many of the newest are left to it."""
_PREFIX: Final = {"openai": "openai", "anthropic": "anthropic", "gemini": "gemini"}

LIBRARY: Final = f"litellm {version('litellm')}"


class MissingKey(Exception):
    """The key that an endpoint names is not in the environment."""


class Upstream:
    """Makes requests. One per child process."""

    def __init__(self, env: Mapping[str, str], redact: Redactor, *, now_ms: Callable[[], int]) -> None:
        litellm.suppress_debug_info = True
        litellm.drop_params = True
        litellm.telemetry = False
        self._env = env
        self._redact = redact
        self._now_ms = now_ms
        self._timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        self._tap = Tap()
        self._http = httpx.AsyncClient(transport=self._tap, timeout=self._timeout)
        self._handler = AsyncHTTPHandler(timeout=self._timeout, transport=self._tap)
        self._openai: dict[tuple[str | None, str], openai.AsyncOpenAI] = {}

    async def warm(self) -> None:
        """Let the library do its first-call imports (about half a second) on an answer that it makes up
        itself; nothing is sent anywhere."""
        stream = await litellm.acompletion(
            model="openai/warm", messages=[{"role": "user", "content": "x"}], mock_response="x", stream=True
        )
        async for _ in stream:
            pass

    async def events(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Events of one answer, ending in a Finish or a Failure; never raises but when cancelled."""
        flight = Flight(request.endpoint.wire, take=request.tap)
        FLIGHT.set(flight)
        answer = Answer(request.id)
        reported = False
        fault: Fault | None = None
        try:
            async for event in self._answer(request, answer):
                if not reported and flight.sent is not None:
                    reported = True
                    yield WireReport(*flight.sent, LIBRARY)
                yield event
        except Exception as error:
            # Everything that the library or a server can raise becomes a fault; only a cancel passes.
            fault = self._fault(error, flight, request)
            if fault.kind is FaultKind.UNKNOWN:
                traceback.print_exception(error)
        if not reported and flight.sent is not None:
            yield WireReport(*flight.sent, LIBRARY)
        if fault is not None and not (answer.reason and fault.kind is FaultKind.NETWORK):
            yield Failure(fault)
        elif answer.reason is None:
            yield Failure(CUT_OFF)
        else:
            for event in answer.end():
                yield event

    async def _answer(self, request: Request, answer: Answer) -> AsyncIterator[StreamEvent]:
        try:
            async for event in self._library(request, answer):
                yield event
        except Taken as taken:
            reader = _reader(request, answer)
            async for value in objects_of(taken.response):
                for event in reader.feed(value):
                    yield event

    async def _library(self, request: Request, answer: Answer) -> AsyncIterator[StreamEvent]:
        """litellm's own stream. Raises Taken, here or at the first chunk, when the tap takes over."""
        stream = await litellm.acompletion(**self._arguments(request))
        claude = request.endpoint.wire == "anthropic" or "claude" in request.model.model
        reader = LitellmReader(answer, guesses_reasoning=claude)
        seen = 0
        try:
            async for chunk in stream:
                kept = stream.chunks
                for old in kept[seen:]:
                    if getattr(old, "usage", None) is not None:
                        reader.measure(old.usage)
                if len(kept) > 2 * KEEP_CHUNKS:
                    del kept[1:-KEEP_CHUNKS]
                seen = len(kept)
                for event in reader.feed(chunk):
                    yield event
        finally:
            await stream.aclose()

    def _arguments(self, request: Request) -> dict[str, Any]:
        endpoint = request.endpoint
        key = self._key(request)
        prefix = _PREFIX.get(endpoint.wire, request.model.provider)
        out: dict[str, Any] = {name: value for name, value in request.body.items() if value is not None}
        out.update(
            model=endpoint.litellm_model or f"{prefix}/{request.model.model}",
            stream=True,
            stream_options={"include_usage": True},
            max_retries=0,
            num_retries=0,
            timeout=self._timeout,
        )
        if endpoint.base_url:
            out["api_base"] = endpoint.base_url
        if endpoint.wire == "openai":
            out["client"] = self._client(endpoint.base_url, key or "none")
        elif endpoint.wire in _PREFIX:
            out["client"] = self._handler
        if key or endpoint.wire in _PREFIX:
            out["api_key"] = key or "none"
        return out

    def _key(self, request: Request) -> str | None:
        name = request.endpoint.key_env
        if name is None:
            return None
        key = self._env.get(name, "")
        if not key:
            raise MissingKey(name)
        self._redact.add(key)
        return key

    def _client(self, base_url: str | None, key: str) -> openai.AsyncOpenAI:
        if (base_url, key) not in self._openai:
            plain: dict[str, Any] = {"http_client": self._http, "timeout": self._timeout}
            # The SDK takes httpx clients although its types name a fork of httpx.
            self._openai[base_url, key] = openai.AsyncOpenAI(
                api_key=key, base_url=base_url, max_retries=0, **plain
            )
        return self._openai[base_url, key]

    def _fault(self, error: Exception, flight: Flight, request: Request) -> Fault:
        """The fault behind an exception: what the server said, if it said something; else the exception."""
        provider = request.model.provider
        if isinstance(error, MissingKey):
            return Fault(kind=FaultKind.AUTH, message=f"the environment variable {error} is not set")
        if flight.refusal is not None:
            said = flight.refusal
            status: int | None = said.status
            text, headers = said.text, said.headers
        elif isinstance(error, StreamRefused):
            status, text, headers = error.status, error.text, {}
        else:
            status, text, headers = _excavate(error)
        fault = faults.classify(status, None, text, headers, now_ms=self._now_ms(), provider=provider)
        return msgspec.structs.replace(fault, message=self._redact(fault.message))


def _reader(request: Request, answer: Answer) -> Reader:
    match request.endpoint.wire:
        case "anthropic":
            return AnthropicReader(answer)
        case "gemini":
            return GeminiReader(answer, request.id)
        case _:
            return OpenAIReader(answer)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that led to it, newest first."""
    seen: set[int] = set()
    queue: list[BaseException] = [error]
    while queue:
        one = queue.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        nexts = (getattr(one, "original_exception", None), one.__cause__, one.__context__)
        queue += [item for item in nexts if isinstance(item, BaseException)]


def _excavate(error: Exception) -> tuple[int | None, str, dict[str, str]]:
    """Status, text and headers of a failure that only the library saw. Transport errors have no status: the
    library's own 500 for a cut stream is not the server's."""
    headers: dict[str, str] = {}
    status: int | None = None
    words = str(error)
    for one in _chain(error):
        if isinstance(one, (httpx.TransportError, StreamDamaged)) or type(one) is openai.APIConnectionError:
            return None, f"network error: {one or type(one).__name__}", headers
        found: Any = getattr(one, "litellm_response_headers", None)
        if hasattr(found, "items"):
            headers = {**{str(name): str(value) for name, value in found.items()}, **headers}
        code = getattr(one, "status_code", None)
        if isinstance(code, int):
            status = code  # the innermost is the server's own
        body = getattr(one, "body", None)
        if isinstance(body, dict) and body:
            words = canonical({"error": body.get("error", body)}).decode()
            status = code if isinstance(code, int) else None
    return status, words, headers


def now_ms() -> int:
    """The time, for waits until a date."""
    return time.time_ns() // 1_000_000
