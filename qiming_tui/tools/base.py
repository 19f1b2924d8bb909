"""What a tool is, what it is given and what it gives back (`design.md` 8).

A tool never decides whether it may: it awaits `context.ask` before it touches anything, also for reading,
and the session's gate answers from the rules or from the person. Errors:

QimingError
|-- ToolError           the call failed: the text goes to the model and says what to do next
|   `-- ArgumentError   the arguments do not fit the tool's schema
`-- Refused             the person or a rule said no; `reason` goes to the model
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import msgspec

from qiming_tui.config import ToolSettings
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import QimingError
from qiming_tui.model.parts import Attachment

OUTSIDE: Final = "external_directory"
"""The permission for everything outside the project folder."""


class ToolError(QimingError):
    """The tool could not do it; the message is for the model."""


class ArgumentError(ToolError):
    """The arguments do not fit the tool's schema."""


class Refused(QimingError):
    """The call is not allowed; `reason` is what the person (or the rule) said, "" if nothing."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(f"the user refused this call: {reason}" if reason else "the user refused this call")
        self.reason = reason


class Need(msgspec.Struct, frozen=True):
    """One thing that must be allowed for a call to go on."""

    permission: str
    """A tool's name, or `external_directory`."""
    pattern: str
    """What rules are matched with: a path (relative inside the project, absolute outside) or a command."""
    opaque: bool = False
    """It could not be judged in full (`$(...)`, a path in a variable): only a rule with the bare pattern `*`,
    or with exactly this text, allows it."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the gate: everything that one call needs, so that the person is asked once."""

    tool: str
    pattern: str
    """What a rule would match, for display; the first need's."""
    title: str
    """One clean line for people."""
    detail: str = ""
    """A diff, or a command in full with what is odd about it: clean text."""
    always: tuple[str, ...] = ()
    """Rules ("bash:git diff *") that "this session" and "always" add (`permissions.parse_rule`)."""
    needs: tuple[Need, ...] = ()
    """All of them must be allowed; empty: (tool, pattern)."""

    @property
    def wanted(self) -> tuple[Need, ...]:
        """The needs, never empty."""
        return self.needs or (Need(self.tool, self.pattern),)


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a call gave. `output` goes to the model, within the caps of `ToolSettings`."""

    output: str
    title: str = ""
    metadata: dict[str, JSON] = {}
    """For people and the store. `full_output`: the whole text where `output` was cut; `diff`: the change."""
    attachments: tuple[Attachment, ...] = ()


_LIMITS: Final = ToolSettings()


def _no_progress(_: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What the worker hands to a call."""

    directory: Path
    """The project folder: paths are relative to it, and what is outside of it asks."""
    ask: Callable[[Ask], Awaitable[None]]
    """Returns when the call may go on, raises `Refused` when it may not."""
    progress: Callable[[str], None] = _no_progress
    """Called with the newest end of the output so far: clean, at most 2,000 characters; replaces the last."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The program's own environment; the shell tool hands on a part of it."""
    hidden: frozenset[str] = frozenset()
    """Names of variables that no sub-process may see (the providers' keys), beyond the usual patterns."""
    limits: ToolSettings = _LIMITS


class Tool(Protocol):
    """One tool. It holds no state between calls."""

    @property
    def name(self) -> str:
        """The name that the model calls."""
        ...

    @property
    def description(self) -> str:
        """What the model is told about it."""
        ...

    @property
    def parameters(self) -> dict[str, JSON]:
        """JSON schema of the arguments: an object."""
        ...

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Do it. Raises `ToolError` or `Refused`; when cancelled it ends all it started, then re-raises."""
        ...
