"""The provider child against a program that reads the same answers through litellm itself, from one server.

Both sides of a pair read one after the other. CPU of the child is the whole process's, by its CPU clock
(Linux only); CPU of the screen is this process's, which does nothing else.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import Endpoint, Finish, Request, RequestKind, StreamEvent, TextDelta
from qiming_tui.provider.litellm_gateway import LitellmGateway
from tests.bench.measure import Row

LINES = 2000
PACED_LINES, PACED_RATE = 25, 100
CANCEL_LINES, CANCEL_RATE, CANCEL_AFTER = 2000, 400, 20
AGAINST = "a bare litellm client reads the same answer"
TIMEOUT_S = 300
_NONCES = count(1)


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One answer read by us; CPU in seconds."""

    wall_s: float
    child_s: float
    screen_s: float
    chars: int


def prompt(lines: int, rate: int) -> tuple[str, str]:
    """What makes the server stream, and the nonce that is in it."""
    nonce = f"n{next(_NONCES)}"
    return f"benchstream {lines} {rate} {nonce}", nonce


def cpu_of(pid: int | None) -> float:
    """CPU seconds that a process has used, all threads together."""
    assert pid is not None
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3), as Linux makes it


class Program:
    """A program of ours that speaks lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        async with asyncio.timeout(TIMEOUT_S):
            return (await self.process.stdout.readline()).decode().strip()

    async def ask(self, command: str) -> dict[str, Any]:
        """Hand a line over and take the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(command.encode() + b"\n")
        return json.loads(await self.line())


@asynccontextmanager
async def program(module: str, *args: str) -> AsyncIterator[Program]:
    """A running program; its input is closed at the end, which ends it."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *args, stdin=pipe, stdout=pipe, env={**os.environ, "NO_PROXY": "*"}
    )
    try:
        yield Program(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


class Bench:
    """The server, the floor and our gateway, all running."""

    def __init__(self, url: str, floor: Program, gateway: LitellmGateway) -> None:
        self.url, self.floor, self.gateway = url, floor, gateway

    def events(self, text: str, *, tap: bool) -> Any:
        """The events of an answer through our gateway."""
        return self.gateway.stream(
            Request(
                id="bench",
                kind=RequestKind.TURN,
                model=ModelRef("openai", "mock"),
                body={"model": "openai/mock", "messages": [{"role": "user", "content": text}]},
                endpoint=Endpoint(wire="openai", base_url=f"{self.url}/v1"),
                tap=tap,
            )
        )

    async def read(self, text: str, *, tap: bool) -> Sample:
        """Read an answer to its end."""
        wall, child, screen = time.monotonic(), cpu_of(self.gateway.pid), time.process_time()
        chars, last = 0, None
        event: StreamEvent
        async for event in self.events(text, tap=tap):
            last = event
            if isinstance(event, TextDelta):
                chars += len(event.text)
        if not isinstance(last, Finish):
            raise RuntimeError(f"the answer ended in {last}")
        return Sample(
            wall_s=time.monotonic() - wall,
            child_s=cpu_of(self.gateway.pid) - child,
            screen_s=time.process_time() - screen,
            chars=chars,
        )

    async def cancel(self, text: str, *, tap: bool) -> dict[str, float]:
        """Read a few events, then close; when that was, and how long it took here."""
        stream = self.events(text, tap=tap)
        seen = 0
        async for event in stream:
            seen += isinstance(event, TextDelta)
            if seen >= CANCEL_AFTER // 4:  # ours are gathered
                break
        began = time.monotonic()
        await stream.aclose()
        return {"at": began, "wall_s": time.monotonic() - began}

    async def ended(self, nonce: str) -> float:
        """When the server noticed the end of a stream."""
        async with asyncio.timeout(30):
            while True:
                stats = await asyncio.to_thread(_stats, self.url)
                for stat in stats:
                    if stat["nonce"] == nonce and stat["ended"] is not None:
                        return stat["ended"]


def _stats(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/stats", timeout=10) as reply:
        return json.load(reply)


class Pairs:
    """Samples under names, in the order of the table."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[list[float], list[float], dict[str, Any]]] = {}

    def add(self, name: str, ours: float, floor: float, **fields: Any) -> None:
        """One pair; `fields` are the row's."""
        held = self.rows.setdefault(name, ([], [], fields))
        held[0].append(ours)
        held[1].append(floor)

    def table(self) -> list[Row]:
        """The rows."""
        return [
            Row(area="provider", name=name, ours=tuple(a), floor=tuple(b), **fields)
            for name, (a, b, fields) in self.rows.items()
        ]


PATHS = ((True, "tap"), (False, "acompletion"))


async def _answers(bench: Bench, pairs: Pairs, name: str, *, lines: int, rate: int) -> None:
    """One answer on both of our paths and by the floor."""
    floor = await bench.floor.ask("read " + prompt(lines, rate)[0])
    events = floor["events"]
    base = floor["cpu_s"] / events * 1e6
    for tap, path in PATHS:
        ours = await bench.read(prompt(lines, rate)[0], tap=tap)
        if abs(ours.chars - floor["chars"]) > 8:  # nonces differ in length
            raise RuntimeError(f"{ours.chars} characters came, {floor['chars']} to the floor")
        if not rate:
            goal = {"target": "<= 0.25 x", "most": 0.5} if tap else {"most": 1.5}
            wall = ours.wall_s * 1000, floor["wall_s"] * 1000
            pairs.add(f"{name}, {path}: until the end", *wall, against=AGAINST, **goal)
        kind = {"unit": "us CPU", "against": f"{AGAINST}; {events:,} events"}
        most = (0.5 if tap else 1.5) if not rate else 2.5
        pairs.add(f"{name}, {path}: child, an event", ours.child_s / events * 1e6, base, most=most, **kind)
        pairs.add(f"{name}, {path}: screen, an event", ours.screen_s / events * 1e6, base, most=0.5, **kind)


async def _cancels(bench: Bench, pairs: Pairs) -> None:
    """How long until an answer that is not wanted any more is left alone, here and at the server."""
    text, nonce = prompt(CANCEL_LINES, CANCEL_RATE)
    floor = await bench.floor.ask(f"cancel {CANCEL_AFTER} {text}")
    floor_ms = (await bench.ended(nonce) - floor["at"]) * 1000
    for tap, path in PATHS:
        text, nonce = prompt(CANCEL_LINES, CANCEL_RATE)
        ours = await bench.cancel(text, tap=tap)
        ours_ms = (await bench.ended(nonce) - ours["at"]) * 1000
        kind = {"against": "a litellm task is cancelled", "most": 25.0}
        pairs.add(f"cancel, {path}: back here", ours["wall_s"] * 1000, floor["wall_s"] * 1000, **kind)
        kind["target"] = "<= 250 ms"
        pairs.add(f"cancel, {path}: the server sees it", ours_ms, floor_ms, **kind)


async def _start(url: str, log: Path, pairs: Pairs) -> None:
    """Starts, ours and a bare import, each in a new process."""
    began = time.monotonic()
    async with program("tests.bench.litellm_floor", url) as floor:
        said = json.loads(await floor.line())
        bare_ms = (time.monotonic() - began) * 1000
    gateway = LitellmGateway(env=_env(), log_path=log)
    began = time.monotonic()
    gateway.start()
    await gateway.ready()
    ours_ms = (time.monotonic() - began) * 1000
    cpu = cpu_of(gateway.pid)
    await gateway.close()
    against = "a new process imports litellm"
    pairs.add("child: start to ready", ours_ms, bare_ms, against=against, most=3.0)
    kind = {"unit": "ms CPU", "against": against, "most": 3.0}
    pairs.add("child: CPU until ready", cpu * 1000, said["cpu_s"] * 1000, **kind)


def _env() -> dict[str, str]:
    return {**os.environ, "NO_PROXY": "*"}


async def _all(runs: int) -> list[Row]:
    pairs = Pairs()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "child.log"
        async with program("tests.bench.stream_server") as server:
            url = (await server.line()).removeprefix("READY ")
            for _ in range(runs):
                await _start(url, log, pairs)
            async with program("tests.bench.litellm_floor", url) as floor:
                await floor.line()
                gateway = LitellmGateway(env=_env(), log_path=log)
                gateway.start()
                await gateway.ready()
                bench = Bench(url, floor, gateway)
                for tap, _ in PATHS:
                    await bench.read(prompt(5, 0)[0], tap=tap)
                for _ in range(runs):
                    await _answers(bench, pairs, "big reply", lines=LINES, rate=0)
                    await _answers(bench, pairs, "paced", lines=PACED_LINES, rate=PACED_RATE)
                    for _ in range(3):
                        await _cancels(bench, pairs)
                await gateway.close()
    return pairs.table()


def rows(runs: int) -> list[Row]:
    """The table's lines."""
    return asyncio.run(_all(runs))
