"""What can be written to a store: values, applied in order inside one transaction.

The session keeps a list of changes that a store could not take (`unsaved`) and hands it over again later;
every change is an upsert, so handing it over twice is harmless.
"""

import msgspec

from qiming_tui.model.edits import EditRecord
from qiming_tui.model.ledger import Attempt, CalibrationRow, QueueItem, RequestRow
from qiming_tui.model.messages import Entry, Message, Session
from qiming_tui.model.parts import Part
from qiming_tui.model.usage import Basis


class PutSession(msgspec.Struct, frozen=True):
    session: Session


class PutMessage(msgspec.Struct, frozen=True):
    """`seq` orders the messages of a session; it never changes after the first write."""

    message: Message
    seq: int


class PutPart(msgspec.Struct, frozen=True):
    """`seq` orders the parts of a message. A completed tool part whose output was left in the store
    (`state.stored`) keeps the stored text."""

    part: Part
    seq: int


class PutEdit(msgspec.Struct, frozen=True):
    record: EditRecord


class PutRequest(msgspec.Struct, frozen=True):
    """A ledger row with the canonical bytes of those blobs that may be new: ((hash, bytes), ...)."""

    row: RequestRow
    blobs: tuple[tuple[str, bytes], ...] = ()


class PutAttempt(msgspec.Struct, frozen=True):
    attempt: Attempt


class PutQueue(msgspec.Struct, frozen=True):
    item: QueueItem


class DropQueue(msgspec.Struct, frozen=True):
    id: str


class PutCalibration(msgspec.Struct, frozen=True):
    row: CalibrationRow


class PutRule(msgspec.Struct, frozen=True):
    """A permission rule that the user made for a project folder ("always")."""

    directory: str
    tool: str
    pattern: str
    action: str


class PutTrust(msgspec.Struct, frozen=True):
    """Whether the user trusts a project folder (its AGENTS.md and settings)."""

    directory: str
    trusted: bool


Change = (
    PutSession
    | PutMessage
    | PutPart
    | PutEdit
    | PutRequest
    | PutAttempt
    | PutQueue
    | DropQueue
    | PutCalibration
    | PutRule
    | PutTrust
)


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of one session that the worker needs to go on. Outputs of cleared parts are not loaded."""

    session: Session
    entries: tuple[Entry, ...] = ()
    """In stored order (`seq`)."""
    edits: tuple[EditRecord, ...] = ()
    """In `seq` order."""
    queue: tuple[QueueItem, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    last_request: RequestRow | None = None
    """The newest turn or summary request, manifest included."""
    requests: int = 0
    """How many turn and summary requests the ledger holds (the number of the last step)."""


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of sessions."""

    id: str
    title: str
    directory: str
    created: int
    updated: int
    messages: int
    boundaries: int
    requests: int
    count: int | None
    usable: int | None
    percent: int | None
    basis: Basis | None = None
    """Of `count`; None: there is none."""
    model: str = ""
    """That of the newest turn's request; empty: none was made."""
    cost: float | None
