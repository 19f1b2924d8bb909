"""The decision: the next request is built, a prune planned, the verdict reached.

cold: nothing is known, as at the first step after a start; counted: the same once the counter has answered;
warm: one tool result came since the last time. The floor writes the same history as JSON.
"""

from collections.abc import Iterator

import msgspec

from qiming_tui.context import prune
from qiming_tui.context.assemble import manifest
from qiming_tui.context.cache import Cache
from qiming_tui.context.state import Measured, SessionState
from qiming_tui.context.tokens import Tally, estimate
from qiming_tui.context.view import build, window_of
from qiming_tui.model.messages import Entry
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import ContextView, PrunePlan, Settings
from tests.bench.history import session
from tests.bench.measure import Row, cpu_ms
from tests.context.make import tool

SETTINGS = Settings()
SIZES = ((2_000, 50), (20_000, 400))
"""Parts, and the milliseconds that a decision on them may take."""
MOST = {"cold": 150.0, "counted": 120.0, "warm": 30.0}
"""Ratios that are far beyond what was measured."""


class Desk:
    """A session at which decisions are made; keeps what the session keeps between two of them."""

    def __init__(self, parts: int) -> None:
        self.state = session(parts)
        self.tally = Tally()
        self.cache = Cache()

    def decide(self) -> tuple[ContextView, PrunePlan]:
        """What is measured."""
        window = window_of(self.state, SETTINGS, cache=self.cache)
        plan = prune.plan(window, SETTINGS, self.tally, entries=self.state.entries)
        return build(self.state, SETTINGS, self.tally, cache=self.cache, window=window), plan

    def count(self) -> None:
        """The counter answers; its figures do not matter here."""
        texts = list(self.tally.missing.values())
        self.tally.learn(texts, [estimate(text) for text in texts])

    def measure(self) -> None:
        """The provider reports a usage for the request as it is, and the ledger has its manifest."""
        items = build(self.state, SETTINGS, self.tally, cache=self.cache).items
        usage = Usage(input=sum(item.tokens for item in items), output=10)
        measured = Measured(message_id=self.state.entries[-1].id, usage=usage, manifest=manifest(items))
        self.state = msgspec.structs.replace(self.state, measured=measured)

    def append(self, number: int) -> None:
        """One more part of the newest message."""
        *rest, last = self.state.entries
        part = tool(last.id, f"{last.id}.new{number}", f"result {number} " * 200)
        entries = (*rest, Entry(last.info, (*last.parts, part), last.seq))
        self.state = msgspec.structs.replace(self.state, entries=entries)


def _floor(state: SessionState) -> float:
    return cpu_ms(lambda: msgspec.json.encode(state.entries))


def _first(parts: int, runs: int) -> Iterator[tuple[str, float, float]]:
    """Samples of cold and counted decisions, each on a history of its own."""
    for _ in range(runs):
        desk = Desk(parts)
        yield "cold", cpu_ms(desk.decide), _floor(desk.state)
        desk.count()
        yield "counted", cpu_ms(desk.decide), _floor(desk.state)


def _later(parts: int, runs: int) -> Iterator[tuple[str, float, float]]:
    """Samples of warm decisions in one session."""
    desk = Desk(parts)
    desk.decide()
    desk.count()
    desk.measure()
    desk.decide()
    for number in range(runs):
        desk.append(number)
        yield "warm", cpu_ms(desk.decide), _floor(desk.state)
        desk.count()


def rows(runs: int, sizes: tuple[tuple[int, int], ...] = SIZES) -> list[Row]:
    """The table's lines."""
    out = []
    for parts, target_ms in sizes:
        samples = [*_first(parts, runs), *_later(parts, 4 * runs)]
        for name, most in MOST.items():
            pairs = [(ours, floor) for kind, ours, floor in samples if kind == name]
            out.append(
                Row(
                    area="decision",
                    name=f"{parts:,} parts, {name}",
                    unit="ms CPU",
                    ours=tuple(ours for ours, _ in pairs),
                    floor=tuple(floor for _, floor in pairs),
                    against="msgspec writes the history as JSON",
                    target=f"<= {target_ms} ms",
                    most=most,
                )
            )
    return out
