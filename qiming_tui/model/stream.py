"""What goes to a model gateway and what comes back: Request, StreamEvent, Fault (`design.md` 7)."""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Protocol

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.usage import Usage


class RequestKind(StrEnum):
    """Why a request is made; the ledger keeps it."""

    TURN = "turn"
    SUMMARY = "summary"
    TITLE = "title"
    SUBTASK = "subtask"


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is reached. Keys are not here: they travel in the child's environment only."""

    wire: str = "other"
    """openai, anthropic, gemini (read by the tap) or other (litellm reads it)."""
    base_url: str | None = None
    key_env: str | None = None
    """Name of the environment variable that holds the key; None: no key is needed."""
    litellm_model: str = ""
    """The model string for litellm; empty: `provider/model`."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One model request, as handed to a gateway. `body` is the canonical request of the view."""

    id: str
    kind: RequestKind
    model: ModelRef
    body: dict[str, JSON]
    """OpenAI chat shape: model, messages, and where they apply tools, tool_choice, max_tokens,
    temperature, reasoning_effort."""
    endpoint: Endpoint = Endpoint()
    session_id: str = ""
    tap: bool = True
    """False forces litellm's own reading of the stream (tests compare both paths)."""


class FaultKind(StrEnum):
    """Classes of failures (conformance 1.7)."""

    OVERFLOW = "overflow"
    OUTPUT_TOO_LARGE = "output_too_large"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    NETWORK = "network"
    CONTENT_FILTER = "content_filter"
    ABORTED = "aborted"
    INVALID = "invalid"
    """The request is refused for another reason (a 400 that repeating cannot cure)."""
    CHILD = "child"
    """The provider process died; the request may be repeated."""
    UNKNOWN = "unknown"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request failed, classified by us from status, code and text."""

    kind: FaultKind
    message: str
    """Short, for people, without secrets."""
    status: int | None = None
    code: str | None = None
    retryable: bool = False
    retry_after_ms: int | None = None
    tokens: int | None = None
    """Size of the refused request as the provider stated it."""
    limit: int | None = None
    """The window as the provider stated it."""


class TextDelta(msgspec.Struct, frozen=True, tag="text"):
    """More answer text."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning"):
    """More thinking. `block` numbers thinking blocks of one answer; `signature` and `redacted` are opaque
    and complete when they come."""

    text: str
    block: int = 0
    signature: str | None = None
    redacted: str | None = None


class ToolCallStart(msgspec.Struct, frozen=True, tag="tool_start"):
    """A call begins; `slot` names it within this answer (unique even where a provider repeats its index)."""

    slot: int
    call_id: str
    name: str


class ToolCallDelta(msgspec.Struct, frozen=True, tag="tool_delta"):
    """More of a call's JSON arguments."""

    slot: int
    arguments: str


class ToolCallEnd(msgspec.Struct, frozen=True, tag="tool_end"):
    """A call is complete; `arguments` is the whole JSON text ("" means {})."""

    slot: int
    call_id: str
    name: str
    arguments: str


class UsageReport(msgspec.Struct, frozen=True, tag="usage"):
    """Normalised usage; when several come, the last one counts (cases C-083)."""

    usage: Usage


class WireReport(msgspec.Struct, frozen=True, tag="wire"):
    """The bytes that left: `wire_hash` of `data.md` 2."""

    sha256: str
    bytes: int
    library: str
    """Name and version of the library that wrote them."""


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """The answer ended: stop, tool-calls, length, content-filter, unknown. The last event of a success."""

    reason: str


class Failure(msgspec.Struct, frozen=True, tag="failure"):
    """The request failed; always the last event."""

    fault: Fault


StreamEvent = (
    TextDelta
    | ReasoningDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | UsageReport
    | WireReport
    | Finish
    | Failure
)


class Gateway(Protocol):
    """Anything that answers model requests."""

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        """Events of one answer, ending in exactly one Finish or Failure. Never raises for a provider's fault.
        Closing the iterator (`aclose`) cancels the request within 250 ms."""
        ...

    async def close(self) -> None:
        """End everything that this gateway started."""
        ...


class Counter(Protocol):
    """Counts tokens of texts; the one counter of every front (`data.md` 5)."""

    async def count(self, encoding: str, texts: list[str]) -> list[int]:
        """Exact tokens of each text under `encoding` (o200k_base or cl100k_base), special tokens as text."""
        ...

    async def close(self) -> None:
        """End the counting process."""
        ...
