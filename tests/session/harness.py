"""A session for tests: the real worker, store and engine; a model that says what the test tells it to."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from qiming_tui.config import Config, RuleOrigin
from qiming_tui.context.state import Block
from qiming_tui.model import events as e
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.limits import Limits, ModelInfo, ModelRef, Origin, Price
from qiming_tui.model.stream import (
    Failure,
    Fault,
    FaultKind,
    Finish,
    ReasoningDelta,
    Request,
    RequestKind,
    StreamEvent,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import Settings
from qiming_tui.runtime import Runtime, Wiring
from qiming_tui.session.services import ModelProfile
from qiming_tui.session.worker import Worker
from qiming_tui.store.store import Store
from qiming_tui.tools.permissions import parse_rule

REF = ModelRef("test", "model")
SUMMARY = "## Goal\nBuild it.\n## Accomplished\nSome of it."

Script = Callable[[Request], Sequence[Any]]


class QuarterCounter:
    """Counts a token for every four characters: exact, and quick."""

    async def count(self, encoding: str, texts: Sequence[str]) -> list[int]:
        return [(len(text) + 2) // 4 for text in texts]

    async def close(self) -> None:
        return None


class Model:
    """Answers each request by the next script; keeps every request. A script item that is an Event is waited
    for, so that a test can stop the answer at any place."""

    def __init__(self, *scripts: Any) -> None:
        self.scripts = list(scripts)
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []
        self.summaries: list[Any] = []
        self.closed = 0
        self.reached = asyncio.Event()

    def next_script(self, request: Request) -> Sequence[Any]:
        if request.kind is RequestKind.SUMMARY:
            script = self.summaries.pop(0) if self.summaries else say(SUMMARY)
        else:
            script = self.scripts.pop(0) if self.scripts else say("done")
        return script(request) if callable(script) else script

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        self.requests.append(request)
        self.bodies.append(canonical(request.body))
        try:
            for item in self.next_script(request):
                if isinstance(item, asyncio.Event):
                    self.reached.set()
                    await item.wait()
                else:
                    yield item
        finally:
            self.closed += 1

    async def close(self) -> None:
        return None

    def sent(self, kind: RequestKind = RequestKind.TURN) -> list[dict[str, JSON]]:
        return [request.body for request in self.requests if request.kind is kind]


def used(input: int = 0, output: int = 0, total: int | None = None, **more: int) -> UsageReport:
    total = input + output + sum(more.values()) if total is None else total
    return UsageReport(Usage(input=input, output=output, total=total, **more))


def say(text: str, usage: UsageReport | None = None, finish: str = "stop") -> list[StreamEvent]:
    return [TextDelta(text), *([usage] if usage else []), Finish(finish)]


def think(text: str, answer: str, **seal: Any) -> list[StreamEvent]:
    return [ReasoningDelta(text), ReasoningDelta("", **seal), TextDelta(answer), Finish("stop")]


def call(
    name: str, arguments: dict[str, JSON], usage: UsageReport | None = None, call_id: str = "call_1"
) -> list[StreamEvent]:
    raw = msgspec.json.encode(arguments).decode()
    return [
        ToolCallStart(0, call_id, name),
        ToolCallEnd(0, call_id, name, raw),
        *([usage] if usage else []),
        Finish("tool-calls"),
    ]


def fail(kind: FaultKind, message: str = "no", **fields: Any) -> list[StreamEvent]:
    return [Failure(Fault(kind=kind, message=message, **fields))]


def overflow(tokens: int | None = None, limit: int | None = None) -> list[StreamEvent]:
    return fail(FaultKind.OVERFLOW, "prompt is too long", status=400, tokens=tokens, limit=limit)


class Ticks:
    """A clock that moves one millisecond with every look."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


class Rig:
    """A running session with what a test looks at."""

    def __init__(self, runtime: Runtime, worker: Worker, model: Model, sleeps: list[float]) -> None:
        self.runtime = runtime
        self.worker = worker
        self.model = model
        self.sleeps = sleeps
        self.events: list[e.Event] = list(worker.recovered)
        worker.ctx.bus.listen(self.events.append)

    async def ask(self, text: str) -> None:
        await self.worker.submit(text)
        await self.idle()

    async def idle(self) -> None:
        async with asyncio.timeout(20):
            await self.worker.idle()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait(self, kind: type) -> Any:
        """The next event of a kind, or one that has come already."""
        async with asyncio.timeout(20):
            while not (found := self.of(kind)):
                await asyncio.sleep(0)
        return found[-1]

    @property
    def live(self) -> Any:
        return self.worker.ctx.live

    @property
    def verdict(self) -> Any:
        return self.of(e.Context)[-1].verdict


def limits(context: int, output: int = 500, input: int | None = None) -> Limits:
    return Limits(context, input, output, Origin.ARGUMENT)


WINDOW = limits(20_000)
DEFAULTS = Settings()
SMALL = ModelRef("test", "small")


@dataclass(kw_only=True)
class Setup:
    """What differs between the sessions of the tests."""

    window: Limits = WINDOW
    settings: Settings = DEFAULTS
    allow: Sequence[str] = ("*",)
    interactive: bool = True
    tools: bool = True
    seed: int = 1
    dialect: str = "openai"
    price: Price | None = None
    small: tuple[Model, Limits] | None = None
    """A model of its own for summaries."""
    environment: str = "test machine"
    pause: asyncio.Event | None = None
    """Every sleep waits for it."""
    user_folder: Path | None = None
    """Where the global AGENTS.md is; None: no instruction files."""

    def profile(self, ref: ModelRef, model: Model) -> ModelProfile:
        window = self.window
        if self.small is not None and ref == SMALL:
            model, window = self.small
        return ModelProfile(
            info=ModelInfo(ref=ref, limits=window, tools=self.tools, price=self.price),
            gateway=model,
            counter=QuarterCounter(),
            encoding="o200k_base",
            tools=self.tools,
            dialect=self.dialect,
        )

    def wiring(self, folder: Path, model: Model, clock: Ticks, sleeps: list[float]) -> Wiring:
        seeded = random.Random(self.seed)

        async def sleep(seconds: float) -> None:
            sleeps.append(seconds)
            await asyncio.sleep(0)
            if self.pause is not None:
                await self.pause.wait()

        async def resolve(ref: ModelRef) -> ModelProfile:
            return self.profile(ref, model)

        rules = tuple(parse_rule(text, origin=RuleOrigin.FLAG) for text in self.allow)
        small = SMALL if self.small is not None else None
        return Wiring(
            config=Config(settings=self.settings, rules=rules, compaction_model=small),
            folder=folder / "data",
            outputs=folder / "outputs",
            env={},
            interactive=self.interactive,
            clock=clock,
            randbelow=seeded.randrange,
            random=lambda: 0.0,
            sleep=sleep,
            resolve=resolve,
            counter=QuarterCounter(),
            environment=lambda directory: Block(self.environment, "environment"),
            user_folder=self.user_folder,
        )


@asynccontextmanager
async def session(folder: Path, model: Model, *, session_id: str | None = None, **options: Any):
    """A session in `folder`/project with its store in `folder`/store.db; `session_id` goes on with one;
    `options` are those of `Setup`."""
    setup = Setup(**options)
    project = folder / "project"
    project.mkdir(exist_ok=True)
    clock = Ticks()
    clock.now += setup.seed * 1_000_000
    sleeps: list[float] = []
    wiring = setup.wiring(folder, model, clock, sleeps)
    runtime = Runtime(Store.open(str(folder / "store.db"), clock=clock), wiring)
    try:
        if session_id is None:
            worker = await runtime.new_session(project, REF)
        else:
            worker = await runtime.open_session(session_id, None)
        yield Rig(runtime, worker, model, sleeps)
    finally:
        await runtime.close()
