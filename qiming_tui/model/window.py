"""Values of the context engine: items of a request, verdicts, plans and their reasons (`data.md` 1)."""

from enum import StrEnum
from typing import Any

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.usage import Basis


class Preset(StrEnum):
    """A set of rules for counting and deciding: the table of `data.md` 4."""

    OPENCODE = "opencode"
    QIMING = "qiming"
    GUARDED = "guarded"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user may set about the context; None means the rule's own default."""

    preset: Preset = Preset.GUARDED
    policy: str = "prune+summary"
    auto: bool = True
    prune: bool = True
    reserved: int | None = None
    output_token_max: int = 32_000
    protect: int = 40_000
    minimum: int = 20_000
    protected_tools: tuple[str, ...] = ("skill",)
    tail_turns: int | None = None
    """None: the preset decides; 0: no tail; N: at most the last N turns."""
    preserve_recent_tokens: int | None = None
    """The tail's budget in tokens, if not the preset's."""
    summary_form: str | None = None
    """messages, prefix or transcript; None: the preset's."""
    summary_tokens: int | None = None
    """How long a summary may be under `guarded`; None: 8,000 or a tenth of usable, whichever is less."""


class Klass(StrEnum):
    """The class of an item, and the letter it has on every screen."""

    SYSTEM = "S"
    TOOL = "T"
    MEMORY = "M"
    SUMMARY = "Z"
    USER = "U"
    ASSISTANT = "A"
    RESULT = "R"


class ItemState(StrEnum):
    """How an item is sent."""

    SENT = "sent"
    CLEARED = "cleared"
    CLIPPED = "clipped"
    SYNTHETIC = "synthetic"


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the next request. The body is assembled from the values of the items and nothing else."""

    key: str
    """Stable name: part id with `:call` or `:result`, or `system:0`, `tool:NAME`, `memory:PATH`."""
    group: str
    """Items of one provider message share it; a new value starts a new message."""
    value: dict[str, JSON]
    """The canonical JSON value; always has `role`: tool-schema, system, user, assistant or tool."""
    blob: str
    """SHA-256 of the canonical bytes of `value`."""
    message_id: str | None
    part_id: str | None
    klass: Klass
    state: ItemState = ItemState.SENT
    pinned: bool = False
    tokens: int
    basis: Basis = Basis.ESTIMATED
    source: str = ""
    """Tool name, file path, hook, plugin, user or policy."""


class RequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of a request that is not an item."""

    model: ModelRef
    max_tokens: int | None = None
    tool_choice: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    breakpoints: tuple[str, ...] = ()
    """Keys of the items that carry a cache breakpoint."""
    dialect: str = "openai"
    """openai: plain bodies; anthropic: thinking blocks and cache breakpoints are allowed in the body."""
    renderer: int = 1
    """Version of `assemble`; a rebuild uses the version of the stored request."""


class State(StrEnum):
    """The verdict in a word, in falling precedence."""

    UNKNOWN = "unknown"
    FULL = "full"
    OVER = "over"
    LAST_TURN = "last turn"
    NEAR = "near"
    OK = "ok"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The decision about one request, with the arithmetic that led to it.

    `percent` = count / usable x 100, half up; None when usable is 0 or unknown. `overflow` already honours
    `auto`; `state` over does not. `usable` is None when the window is unknown, `reserved` where the preset
    has none.
    """

    preset: Preset
    count: int
    basis: Basis
    usable: int | None
    reserved: int | None
    max_output: int
    overflow: bool
    percent: int | None
    over_by: int
    """Tokens beyond usable; 0 when under."""
    state: State
    auto: bool
    arithmetic: str
    flags: tuple[str, ...] = ()
    """Sentences on what is odd: usage not plausible, usage missing, fixed prompt above usable."""
    limits: Limits
    refused: bool = False
    """The provider refused the last request, and the next one would not be smaller; also where the window is
    unknown, so that `state` cannot say it."""


class ContextView(msgspec.Struct, frozen=True, kw_only=True):
    """The next request: its items, its parameters, its sizes, the verdict on it and its hash."""

    items: tuple[Item, ...]
    params: RequestParams
    by_class: dict[Klass, int]
    total: int
    """Sum of the items' tokens."""
    count: int
    usable: int | None
    verdict: Verdict
    hash: str
    """`view_hash` over the canonical request (`data.md` 2)."""
    prefix_hash: str
    """The same without cache breakpoints."""
    live: tuple[str, ...] = ()
    """Message ids in the order of the request."""
    archived: tuple[str, ...] = ()
    """Message ids before the newest boundary."""


class Keep(StrEnum):
    """Why prune keeps a part."""

    PROTECTED_TURN = "protected_turn"
    PROTECTED_TOOL = "protected_tool"
    WITHIN_PROTECT = "within_protect"
    PINNED = "pinned"
    RESTORED = "restored"
    ALREADY_CLEARED = "already_cleared"
    NOT_COMPLETED = "not_completed"
    SMALLER_THAN_PLACEHOLDER = "smaller_than_placeholder"
    BEFORE_BOUNDARY = "before_boundary"
    BELOW_MINIMUM = "below_minimum"

    @property
    def sentence(self) -> str:
        """The reason in words, for people."""
        return _KEEP[self]


_KEEP: dict[Keep, str] = {
    Keep.PROTECTED_TURN: "one of the last two turns",
    Keep.PROTECTED_TOOL: "a protected tool's result",
    Keep.WITHIN_PROTECT: "among the newest results that are kept",
    Keep.PINNED: "pinned by the user",
    Keep.RESTORED: "restored by the user",
    Keep.ALREADY_CLEARED: "cleared already",
    Keep.NOT_COMPLETED: "not a completed result",
    Keep.SMALLER_THAN_PLACEHOLDER: "smaller than the placeholder that would replace it",
    Keep.BEFORE_BOUNDARY: "before the summary, not sent anyway",
    Keep.BELOW_MINIMUM: "clearing all candidates would free too little",
}


class PartFate(msgspec.Struct, frozen=True, kw_only=True):
    """What a prune plan does to one tool part; `reason` None means: clear it."""

    part_id: str
    tool: str
    tokens: int
    reason: Keep | None


class PrunePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Every tool part of the window with its fate; `fates` are newest to oldest, as the walk goes."""

    fates: tuple[PartFate, ...]
    tokens: int
    """Sum of what would be cleared; 0 when nothing is."""
    candidates_tokens: int
    """Sum beyond the protected span, before the minimum was applied."""

    @property
    def cleared(self) -> tuple[str, ...]:
        """Ids of the parts to clear, oldest first."""
        return tuple(fate.part_id for fate in reversed(self.fates) if fate.reason is None)


class CompactionEnd(StrEnum):
    """How a compaction ended. Everything but `finished` leaves the history as it was."""

    FINISHED = "finished"
    NOTHING_TO_COMPACT = "nothing_to_compact"
    BLANK = "blank"
    TRUNCATED = "truncated"
    TOOL_CALL = "tool_call"
    NOT_SMALLER = "not_smaller"
    REFUSED = "refused_by_provider"
    ABORTED = "aborted"
    INTERRUPTED = "interrupted"
    HOOK_FAILED = "hook_failed"
    FLOOR = "floor"
    LATCHED = "latched"
    FAILED = "failed"

    @property
    def sentence(self) -> str:
        """The outcome in words, for people."""
        return _END[self]


_END: dict[CompactionEnd, str] = {
    CompactionEnd.FINISHED: "the summary stands for the history before it",
    CompactionEnd.NOTHING_TO_COMPACT: "there is nothing to summarise",
    CompactionEnd.BLANK: "the model returned no text; the history stays",
    CompactionEnd.TRUNCATED: "the summary was cut off; the history stays",
    CompactionEnd.TOOL_CALL: "the model called a tool instead of summarising; the history stays",
    CompactionEnd.NOT_SMALLER: "the summary is not smaller than what it replaces; the history stays",
    CompactionEnd.REFUSED: "the provider refused the summary request; the history stays",
    CompactionEnd.ABORTED: "stopped by the user; the history stays",
    CompactionEnd.INTERRUPTED: "the program ended before the summary did; the history stays",
    CompactionEnd.HOOK_FAILED: "a plugin's hook failed",
    CompactionEnd.FLOOR: "what is always sent does not fit; summarising cannot help",
    CompactionEnd.LATCHED: "automatic compaction is paused until you choose",
    CompactionEnd.FAILED: "the summary request failed; the history stays",
}


def as_dict(value: msgspec.Struct) -> dict[str, Any]:
    """A value as plain JSON types."""
    out: dict[str, Any] = msgspec.to_builtins(value)
    return out
