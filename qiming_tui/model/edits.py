"""Edits of the window: an append-only log, folded into what is cleared, pinned and hidden (`data.md` 3)."""

from enum import StrEnum

import msgspec

from qiming_tui.model.codec import JSON


class EditKind(StrEnum):
    """What an edit does to the next request."""

    CLEAR = "clear"
    RESTORE = "restore"
    CLIP = "clip"
    """Shorten the arguments of a call; params {"chars": N}."""
    PIN = "pin"
    """Keep a part or message in every request; params {"text", "source"}: a snapshot taken when pinning."""
    UNPIN = "unpin"
    COMPACT = "compact"
    """A boundary: targets = compaction user message, summary message, then what came with it
    (Continue message or replayed copy)."""
    SUMMARY_EDIT = "summary_edit"
    """The user's text for a summary; targets = summary message; params {"text"}."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the window. Edits of one `group` are undone together."""

    id: str
    session_id: str
    seq: int
    group: str
    kind: EditKind
    targets: tuple[str, ...]
    params: dict[str, JSON] = {}
    by: str = "user"
    """user, a policy's name, a plugin's name, or "import"."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    at: int


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """An undo (`on` false) or a redo (`on` true) of a group: a record of its own; the log only grows."""

    id: str
    session_id: str
    seq: int
    group: str
    on: bool
    by: str = "user"
    at: int


EditRecord = Edit | Switch
