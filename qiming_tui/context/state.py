"""What the engine is given and what its first stages hand on: SessionState, WindowEdits, Window."""

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.edits import EditRecord
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.usage import Usage


class Block(msgspec.Struct, frozen=True):
    """A system block or a memory file (AGENTS.md): text that is always sent, and where it came from."""

    text: str
    source: str


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as the model is told about it."""

    name: str
    description: str
    parameters: dict[str, JSON]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The newest answer whose usage counts: after the newest boundary, finished, not a summary."""

    message_id: str
    usage: Usage
    manifest: tuple[ManifestRow, ...] | None = None
    """What that request held; None where no ledger row exists (imported sessions)."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of a pinned thing, taken when it was pinned."""

    target: str
    text: str
    source: str


class WindowEdits(msgspec.Struct, frozen=True, kw_only=True):
    """The fold over the active edits: what they mean for the next request."""

    cleared: frozenset[str] = frozenset()
    """Part ids whose last active edit clears them."""
    restored: frozenset[str] = frozenset()
    """Part ids whose last active edit restores them: prune leaves them alone."""
    touched: frozenset[str] = frozenset()
    """Part ids that any clear or restore edit ever named, active or not: for the others the stored
    projection `state.time.compacted` decides."""
    clipped: dict[str, int] = {}
    """Part id -> characters that remain of its call's arguments."""
    pins: tuple[Pin, ...] = ()
    """In the order of pinning."""
    hidden: frozenset[str] = frozenset()
    """Message ids that belong to an undone compaction."""
    summaries: dict[str, str] = {}
    """Summary message id -> the user's text for it."""
    inactive: frozenset[str] = frozenset()
    """Groups that are switched off."""


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the next request is made from."""

    entries: tuple[Entry, ...]
    """All messages in stored order (`seq`)."""
    edits: tuple[EditRecord, ...] = ()
    """In `seq` order."""
    system: tuple[Block, ...] = ()
    memory: tuple[Block, ...] = ()
    tools: tuple[ToolSchema, ...] = ()
    model: ModelRef
    limits: Limits
    dialect: str = "openai"
    measured: Measured | None = None
    refused: tuple[int | None, int | None] | None = None
    """(tokens, limit) as the provider stated them when it refused the last request; None: it did not."""
    refused_manifest: tuple[ManifestRow, ...] | None = None
    """What the refused request held: what was taken out since makes the next one smaller."""


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """A valid summary boundary."""

    message_id: str
    """The user message with the compaction part (UC)."""
    summary_id: str
    """The summary message (S)."""
    tail_start_id: str | None = None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The live window, in the order of the request, and what lies before it."""

    live: tuple[Entry, ...]
    """UC, S, tail, Continue, rest; or all entries without a boundary. Hidden messages are left out."""
    archived: tuple[str, ...]
    """Message ids before the boundary, in stored order."""
    boundary: Boundary | None
    edits: WindowEdits

    @property
    def finished(self) -> AssistantMessage | None:
        """The newest assistant message of the window, in stored order, that finished and is no summary."""
        best: Entry | None = None
        for entry in self.live:
            info = entry.info
            if isinstance(info, AssistantMessage) and info.finish and not info.summary and not info.error:
                best = entry if best is None or entry.seq > best.seq else best
        return best.info if best is not None and isinstance(best.info, AssistantMessage) else None
