"""The shipped fake: a gateway that plays a scenario and behaves like a provider otherwise (`design.md` 7).

It counts what it is sent with the real counter, by the rule of `context.weigh.recount`; it has a prompt cache
(the common beginning with an earlier request is read from it), it refuses what is larger than its window, it
has a pace, faults, and if wanted its own error of counting. Every request's canonical body is logged.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final

import msgspec

from qiming_tui.context.tokens import O200K, Tally, half_up
from qiming_tui.context.weigh import MESSAGE_TOKENS, recount
from qiming_tui.model.codec import JSON, canonical, digest
from qiming_tui.model.stream import (
    Counter,
    Failure,
    Fault,
    FaultKind,
    Finish,
    ReasoningDelta,
    Request,
    RequestKind,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
    WireReport,
)
from qiming_tui.model.usage import Usage
from qiming_tui.provider.scenario import Call, Reply, Scenario

LIBRARY: Final = "scripted 1"
NOTHING_MORE: Final = Reply(text="There is nothing more to do here.")
CACHED_REQUESTS: Final = 8
"""How many earlier requests the simulated prompt cache remembers."""
_PIECES: Final = re.compile(r"\s*\S{1,10}|\s+\Z")


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came, and what the provider made of it."""

    id: str
    kind: RequestKind
    body: bytes
    """The canonical body; its SHA-256 is the `view_hash` of the ledger."""
    tokens: int
    cached: int
    refused: bool

    @property
    def hash(self) -> str:
        """SHA-256 of the body."""
        return digest(self.body)


class ScriptedGateway:
    """Implements `model.stream.Gateway` for one scenario and one session.

    `speed` divides every wait; 0 means: do not wait. The counter stays the caller's.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        counter: Counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        speed: float = 1.0,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`begin` is awaited before each answer, titles excepted: a demo may stand still there."""
        self._scenario = scenario
        self._counter = counter
        self._sleep = sleep
        self._speed = speed
        self._begin = begin
        self._tally = Tally(O200K)
        self._script = _Script(scenario)
        self._seen: list[tuple[JSON, list[JSON]]] = []
        self.log: list[Logged] = []
        """Every request, in order."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        """The events of the scenario's answer to this request."""
        body = canonical(request.body)
        yield WireReport(digest(body), len(body), LIBRARY)
        tokens = await self._count(request.body)
        cached = min(tokens, await self._cached(request.body))
        window = self._scenario.window
        over = window is not None and tokens > window
        refused = over or self._stubborn(request.kind)
        self.log.append(
            Logged(id=request.id, kind=request.kind, body=body, tokens=tokens, cached=cached, refused=refused)
        )
        if self._begin is not None and request.kind is not RequestKind.TITLE:
            await self._begin()
        await self._wait(self._scenario.pace.first_ms)
        if refused:
            yield Failure(_overflow(tokens, window if over else None))
            return
        self._remember(request.body)
        reply = self._script.reply(request)
        prefix = f"call_{digest(body)[:12]}"
        for index, event in enumerate(_events(reply, prefix)):
            if reply.fault is not None and index >= reply.fault_after:
                break
            if index:
                await self._wait(self._scenario.pace.piece_ms)
            yield event
        if reply.fault is not None:
            yield Failure(reply.fault)
            return
        if reply.usage:
            yield UsageReport(await self._usage(reply, tokens, cached))
        yield Finish(reply.finish or ("tool-calls" if reply.calls else "stop"))

    async def close(self) -> None:
        """Nothing was started."""

    async def _count(self, body: dict[str, JSON]) -> int:
        """Tokens of a request as this provider counts them."""
        return half_up(await self._true_count(body) * self._scenario.counting_error)

    async def _true_count(self, body: dict[str, JSON]) -> int:
        total = recount(body, self._tally)
        while not self._tally.exact:
            texts = list(self._tally.missing.values())
            self._tally.learn(texts, await self._counter.count(O200K, texts))
            total = recount(body, self._tally)
        return total

    async def _cached(self, body: dict[str, JSON]) -> int:
        """Tokens of the longest beginning that this request shares with one of the last ones to its model."""
        units = _units(body)
        alike = (old for model, old in self._seen if model == body.get("model"))
        shared = max((_common(units, old) for old in alike), default=0)
        tools = body.get("tools") or []
        if shared < len(tools) or not shared:
            return 0
        return await self._count({**body, "messages": body["messages"][: shared - len(tools)]})

    def _remember(self, body: dict[str, JSON]) -> None:
        self._seen = [*self._seen[1 - CACHED_REQUESTS :], (body.get("model"), _units(body))]

    async def _usage(self, reply: Reply, tokens: int, cached: int) -> Usage:
        """What is reported: the answer is counted as it will weigh in the next request, without a frame."""
        functions = [{"name": call.tool, "arguments": _arguments(call)} for call in reply.calls]
        answer = {"content": reply.text, "tool_calls": [{"function": function} for function in functions]}
        error = self._scenario.counting_error
        counts = [await self._true_count({"messages": [m]}) for m in (answer, {"content": reply.reasoning})]
        output, reasoning = (half_up((count - MESSAGE_TOKENS) * error) for count in counts)
        return Usage(
            input=tokens - cached,
            output=output,
            reasoning=reasoning,
            cache_read=cached,
            total=tokens + output + reasoning,
        )

    def _stubborn(self, kind: RequestKind) -> bool:
        after = self._scenario.refuses_after
        return kind is RequestKind.TURN and after is not None and self._script.answered >= after

    async def _wait(self, milliseconds: int) -> None:
        """Wait as the pace says; at speed 0 only let others run."""
        if self._speed > 0:
            await self._sleep(milliseconds / 1000 / self._speed)
        else:
            await asyncio.sleep(0)


class _Script:
    """Where in the scenario we are."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._turn = 0
        self._given = 0
        self._summaries = 0
        self.answered = 0
        """Turn requests that were answered."""

    def reply(self, request: Request) -> Reply:
        """The answer to this request."""
        match request.kind:
            case RequestKind.TITLE:
                return Reply(text=self._scenario.title)
            case RequestKind.SUMMARY:
                return self._summary()
            case _:
                self.answered += 1
                return self._next(list(_user_texts(request.body)))

    def _summary(self) -> Reply:
        replies = self._scenario.summaries
        if not replies:
            return Reply()
        self._summaries += 1
        return replies[min(self._summaries, len(replies)) - 1]

    def _next(self, texts: Sequence[str]) -> Reply:
        turns = self._scenario.turns
        for index in range(len(turns) - 1, self._turn, -1):
            prompt = turns[index].prompt
            if prompt and any(prompt in text for text in texts):
                self._turn, self._given = index, 0
                break
        replies = turns[self._turn].replies if turns else ()
        if self._given >= len(replies):
            return NOTHING_MORE
        self._given += 1
        return replies[self._given - 1]


def _events(reply: Reply, prefix: str) -> Iterator[StreamEvent]:
    for piece in _PIECES.findall(reply.reasoning):
        yield ReasoningDelta(piece)
    for piece in _PIECES.findall(reply.text):
        yield TextDelta(piece)
    for slot, call in enumerate(reply.calls):
        name = f"{prefix}{slot:02d}"
        arguments = _arguments(call)
        yield ToolCallStart(slot, name, call.tool)
        for start in range(0, len(arguments), 40):
            yield ToolCallDelta(slot, arguments[start : start + 40])
        yield ToolCallEnd(slot, name, call.tool, arguments)


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else canonical(call.arguments).decode()


def _units(body: dict[str, JSON]) -> list[JSON]:
    """What a prompt cache compares, in order: tools, then messages."""
    return [*(body.get("tools") or []), *body["messages"]]


def _common(one: Sequence[JSON], two: Sequence[JSON]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def _user_texts(body: dict[str, JSON]) -> Iterator[str]:
    for message in body["messages"]:
        if message["role"] == "user":
            content = message["content"]
            blocks = [content] if isinstance(content, str) else [block.get("text", "") for block in content]
            yield "\n".join(blocks)


def _overflow(tokens: int, window: int | None) -> Fault:
    """The refusal of a request that is too large; without numbers where the provider gives none."""
    words = "Input is too long for requested model."
    if window is not None:
        words = f"This model's maximum context length is {window} tokens, the request has {tokens} tokens."
    return Fault(
        kind=FaultKind.OVERFLOW,
        message=words,
        status=400,
        code="context_length_exceeded",
        tokens=tokens if window is not None else None,
        limit=window,
    )
