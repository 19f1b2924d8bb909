"""Sessions and models to pick from, and a page for pickers to stand on."""

from typing import Any

from textual.app import ComposeResult
from textual.widgets import Static

from qiming_tui.context.fit import fit
from qiming_tui.model.changes import SessionLine
from qiming_tui.model.limits import Limits, ModelInfo, ModelRef, Origin, Price
from qiming_tui.model.window import Settings
from qiming_tui.tui.model_rows import ModelLine
from tests.tui.frames import Bench

NOW = 1_800_000_000_000
HERE = "/home/ann/src/retry"
MIN, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def line(id: str, title: str, ago: int = 0, percent: int | None = 50, **fields: Any) -> SessionLine:
    """A session of 168,000 usable."""
    values: dict[str, Any] = {
        "id": id,
        "title": title,
        "directory": HERE,
        "created": NOW - ago - DAY,
        "updated": NOW - ago,
        "messages": 12,
        "boundaries": 0,
        "requests": 7,
        "count": None if percent is None else 1_680 * percent,
        "usable": None if percent is None else 168_000,
        "percent": percent,
        "model": "anthropic/sonnet-200k",
        "cost": 0.25,
    }
    return SessionLine(**{**values, **fields})


def sessions() -> list[SessionLine]:
    """Those of the picture."""
    return [
        line("s1", "flaky-retry", 0, 61, boundaries=1, requests=46),
        line("s2", "clock-injection", 2 * HOUR, 9),
        line("s3", "docs-pass", DAY, 34, model="openai/gpt-mini"),
        line("s4", "backoff with a fake clock", DAY + HOUR, 78, boundaries=2, requests=211),
        line("s5", "why does CI fail on Mondays", 3 * DAY, 44),
        line("s6", "time zones in the scheduler", 4 * HOUR, 52, directory="/home/ann/src/cron"),
        line("s7", "wall clock vs monotonic", 2 * DAY, 118, directory="/home/ann/src/cron"),
        line("s8", "old-refactor", 21 * DAY, None, directory="/srv/old", cost=None, model=""),
    ]


def hostile() -> list[SessionLine]:
    """Titles that want to be markup, sequences, and wide."""
    return [
        line("h1", "[stage] x [/] [@click=app.quit]y[/]"),
        line("h2", "\x1b]0;owned\x07\x1b[31mred\nsecond line"),
        line(
            "h3", "修复不稳定的重试测试并解释为什么会发生竞争条件以及如何避免它再次发生", directory="/家/源码"
        ),
        line("h4", ""),
    ]


def model(ref: str, limits: Limits, *, count: int | None = 102_000, group: str = "all models", **f: Any):
    """A model with the fit of a session of `count` tokens."""
    info = ModelInfo(ref=ModelRef.parse(ref), limits=limits, **f)
    return ModelLine(info, fit(limits, Settings(), count=count), group)


def models() -> list[ModelLine]:
    """Every kind of fit."""
    dev = Origin.MODELS_DEV
    return [
        model(
            "anthropic/sonnet-200k",
            Limits(200_000, None, 32_000, dev),
            group="recent",
            price=Price(3, 15, 0.3),
            name="Sonnet 200k",
            reasoning=True,
        ),
        model("openai/gpt-mini", Limits(128_000, None, 16_384, dev), price=Price(0.15, 0.6)),
        model("openai/gpt-tiny", Limits(64_000, None, 4_096, Origin.LITELLM), price=None),
        model("google/gemini-1m", Limits(1_048_576, None, 65_536, Origin.USER), overrides=("output",)),
        model("azure/gpt-wide", Limits(400_000, 272_000, 128_000, dev), price=Price(1.25, 10)),
        model("local/smollm2", Limits(8_192, None, 512, Origin.SERVER), price=Price(), tools=False),
        model("acme/[b]mystery[/b]", Limits(0, None, 0), price=None),
    ]


class Page(Bench):
    """A page with words on it; hears what pickers post and what they are dismissed with."""

    CSS = "Screen { overflow: hidden; }"

    def __init__(self, make) -> None:
        super().__init__(styles=("base", "prompt", "dialogs"))
        self._make = make

    def compose(self) -> ComposeResult:
        yield Static("\n".join("the page behind " * 3 for _ in range(60)), markup=False)

    def on_mount(self) -> None:
        self.push_screen(self._make(), self.heard.append)

    def on_sessions_screen_searched(self, message) -> None:
        self.heard.append(("search", message.words))

    def on_sessions_screen_renamed(self, message) -> None:
        self.heard.append(("rename", message.session_id, message.title))
