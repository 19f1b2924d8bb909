"""Where the screen's session comes from: the program's own start, a demo, a test."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker


class Source(Protocol):
    """Opens sessions for the screen; nothing heavy is imported before `open` is called."""

    async def open(self) -> "Worker":
        """The session to show first. Raises QimingError."""
        ...

    async def new(self) -> "Worker":
        """Another, new session in the same folder."""
        ...

    async def switch(self, session_id: str) -> "Worker":
        """Another, stored session. Raises QimingError."""
        ...

    async def close(self) -> None:
        """End every session and process. Raises StoreError if something stays unsaved."""
        ...


class Farewell(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed into the normal screen after the program has left the alternate one."""

    session_id: str
    prompt: str
    answer: str


Play = Callable[["Worker"], Awaitable[None]]
"""Says what a demo's user says."""
