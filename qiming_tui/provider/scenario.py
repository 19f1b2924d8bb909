"""Scenarios: what a scripted model says, and the small world that it says it in (`design.md` 7).

A scenario holds no token counts: usage is counted from the requests that come (`scripted.py`).
"""

from typing import Final

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import Limits, ModelInfo, ModelRef, Origin, Price
from qiming_tui.model.stream import Fault
from qiming_tui.model.window import Settings

PROVIDER: Final = "scripted"


class Call(msgspec.Struct, frozen=True):
    """A tool call of the model. `arguments` is an object, or text that is sent as it stands."""

    tool: str
    arguments: dict[str, JSON] | str = {}


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. With a `fault` it breaks off after `fault_after` pieces (0: before the first) and the
    request's repetition gets the next reply."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    """None: tool-calls where there are calls, else stop."""
    fault: Fault | None = None
    fault_after: int = 0
    usage: bool = True
    """Whether the provider reports usage (cases C-074)."""


class Act(msgspec.Struct, frozen=True):
    """What the user does to the window between two turns."""

    do: str
    """clear, restore, pin, unpin, compact, undo, redo or model."""
    what: str = ""
    """The path or command of the call whose newest result is meant; the focus of a compaction; the model
    (empty: the first one)."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the user writes, and the answers until the model is done. The replies are given in order to the
    requests that hold the prompt; when they are used up the model has nothing more to say."""

    prompt: str = ""
    replies: tuple[Reply, ...]
    then: tuple[Act, ...] = ()
    """What the user does when the turn has ended."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast the model is, in milliseconds: before the first piece, and between two."""

    first_ms: int = 400
    piece_ms: int = 20


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A model with its limits, what it says, and what the user wants of it."""

    name: str
    sentence: str = ""
    """What is to be seen, for `qiming demo --list`."""
    limits: Limits = Limits(32_000, None, 4_000, Origin.ARGUMENT)
    """What the catalogue says of the model."""
    small: Limits | None = None
    """Of a second model, NAME-small, that the user may switch to."""
    refuses_above: int | None = None
    """The largest request in tokens that the provider really takes; None: what `limits` says."""
    refuses_after: int | None = None
    """After so many answered turn requests every further one is refused, without numbers; None: never."""
    counting_error: float = 1.0
    """The provider counts so many times the true number of tokens."""
    settings: Settings = Settings()
    allow: tuple[str, ...] = ()
    """Permission rules ("edit:src/*") for a run without a person."""
    files: tuple[tuple[str, str], ...] = ()
    """Relative path and text of every file of the project folder."""
    turns: tuple[Turn, ...] = ()
    summaries: tuple[Reply, ...] = ()
    """Answers to summary requests, in order; the last one is repeated."""
    title: str = ""
    pace: Pace = Pace()
    price: Price | None = Price(3.0, 15.0, 0.3, 3.75)

    @property
    def ref(self) -> ModelRef:
        """The model's name: scripted/NAME."""
        return ModelRef(PROVIDER, self.name)

    @property
    def info(self) -> ModelInfo:
        """The model as a catalogue would describe it."""
        return ModelInfo(
            ref=self.ref, name=f"scripted model ({self.name})", limits=self.limits, price=self.price
        )

    @property
    def small_ref(self) -> ModelRef:
        """The second model's name."""
        return ModelRef(PROVIDER, f"{self.name}-small")

    def limits_of(self, ref: ModelRef) -> Limits:
        """Those of one of its models."""
        return self.small if self.small is not None and ref == self.small_ref else self.limits

    @property
    def window(self) -> int | None:
        """The largest request that is taken; None: any."""
        return self.limits.window or None if self.refuses_above is None else self.refuses_above
