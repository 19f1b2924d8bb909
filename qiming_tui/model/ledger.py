"""The ledger: one row per request, enough to rebuild it byte for byte (`data.md` 2)."""

from enum import StrEnum

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import Limits
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import ItemState, Klass, PrunePlan, RequestParams, Verdict


class ManifestRow(msgspec.Struct, frozen=True, array_like=True):
    """One item of a stored request; its value lies in the blob table."""

    blob: str
    key: str
    group: str
    message_id: str | None
    part_id: str | None
    klass: Klass
    state: ItemState
    pinned: bool
    tokens: int
    basis: Basis
    source: str


class Outcome(StrEnum):
    """How a request ended; `open` until it has."""

    OPEN = "open"
    OK = "ok"
    REFUSED = "refused"
    ERROR = "error"
    ABORTED = "aborted"
    INTERRUPTED = "interrupted"


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds since the epoch."""

    queued: int
    sent: int | None = None
    first_token: int | None = None
    end: int | None = None


class CacheAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What the provider's prompt cache did, and where our prefix changed."""

    read: int = 0
    write: int = 0
    first_changed: str | None = None
    """Key of the first item that differs from the request before."""
    cause: str = ""


class RequestRow(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it was decided, sent and answered."""

    id: str
    session_id: str
    message_id: str | None
    """The assistant message that the answer became."""
    step: int
    """1-based number of the request among the session's turn and summary requests."""
    seq: int
    kind: RequestKind
    model: str
    limits: Limits
    preset: str
    policy: str
    reserved: int | None
    tokenizer: str
    calibration: float
    manifest: tuple[ManifestRow, ...]
    params: RequestParams
    view_hash: str
    prefix_hash: str
    wire_hash: str | None = None
    wire_bytes: int | None = None
    library: str | None = None
    verdict: Verdict
    """The verdict before sending (predicted)."""
    after: Verdict | None = None
    """The first verdict after its answer, what its tools brought included: it decided what came next."""
    prune: PrunePlan | None = None
    """What was cleared after its answer, and why the rest was kept; None: nothing was cleared."""
    usage: Usage | None = None
    cost: float | None = None
    cache: CacheAccount = CacheAccount()
    outcome: Outcome = Outcome.OPEN
    fault: str | None = None
    times: Times
    odd: tuple[str, ...] = ()
    """Sentences on what did not add up: broken totals, implausible usage."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try to compact: written when it starts, ended on every way out (cases C-068)."""

    id: str
    session_id: str
    seq: int
    auto: bool
    form: str
    before: int | None
    after: int | None = None
    end: str | None = None
    """A CompactionEnd; None: still running, or the process died."""
    reason: str = ""
    started_at: int
    ended_at: int | None = None


class QueueItem(msgspec.Struct, frozen=True, kw_only=True):
    """Accepted input that waits: sent in `seq` order after the turn, or joined to the next step (`steer`)."""

    id: str
    session_id: str
    seq: int
    text: str
    steer: bool = False
    at: int
    files: tuple[JSON, ...] = ()


class CalibrationRow(msgspec.Struct, frozen=True, kw_only=True):
    """Learned factor provider tokens / our tokens for one model; moving average over `samples`."""

    model: str
    factor: float = 1.0
    samples: int = 0
    error: float = 0.0
    """Moving average of |measured - predicted| / measured."""
