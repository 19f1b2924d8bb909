"""Where the screen's session comes from: the program's own start, a demo, a test."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import ModelInfo, ModelRef
from qiming_tui.model.window import Settings
from qiming_tui.tui.offer import Offer

if TYPE_CHECKING:
    from qiming_tui.session.watch import Watch
    from qiming_tui.session.worker import Worker


class Paper(msgspec.Struct, frozen=True):
    """A file of the folder that is read only if the user trusts it."""

    name: str
    text: str
    """Its beginning, as it is: to be cleaned before it is shown."""


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """The models that there are."""

    models: tuple[ModelInfo, ...]
    """The user's own first."""
    settings: Settings
    """What decides how much of a window may be used."""
    ready: frozenset[str] = frozenset()
    """Providers that can be asked: their key is set, or they need none."""


class Source(Protocol):
    """Opens sessions for the screen; nothing heavy is imported before the first of its methods is called."""

    async def untrusted(self) -> tuple[Paper, ...]:
        """What is not read until the user has said whether the folder is trusted; empty: nothing waits.
        Raises QimingError."""
        ...

    async def trust(self, trusted: bool) -> None:
        """Remember the user's word about the folder."""
        ...

    async def open(self, model: ModelRef | None = None) -> "Worker":
        """The session to show first, with another model than its own if one is named. Raises NoModel,
        SessionBusy while another process writes it, or another QimingError."""
        ...

    async def offer(self, reason: str) -> Offer:
        """What can be done without a model on this machine."""
        ...

    async def catalog(self) -> Catalog:
        """The models to choose from. Raises QimingError."""
        ...

    async def new(self) -> "Worker":
        """Another, new session in the same folder."""
        ...

    async def switch(self, session_id: str, *, take: bool = False) -> "Worker":
        """Another, stored session; `take` takes it from the process that writes it. Raises SessionBusy while
        there is one, or another QimingError."""
        ...

    async def watch(self, session_id: str | None) -> "Watch":
        """Look at a session that another process writes; None: at the one that `open` would have opened."""
        ...

    async def export(self, session_id: str, target: Path) -> int:
        """Write a session to a file in OpenCode's export shape; the bytes of it. Raises QimingError."""
        ...

    async def close(self) -> None:
        """End every session and process. Raises StoreError if something stays unsaved."""
        ...


class OneSession:
    """A source that has nothing but the session it opens: a demo's, a test's."""

    words = ("a demo has one session", "leave with ^C ^C and start qiming")
    """What is refused, and what to do."""

    @abstractmethod
    async def open(self, model: ModelRef | None = None) -> "Worker":
        """The session."""

    async def untrusted(self) -> tuple[Paper, ...]:
        """The folder is the demo's own."""
        return ()

    async def trust(self, trusted: bool) -> None:
        """Never asked."""

    async def offer(self, reason: str) -> Offer:
        """There is a model."""
        raise self._refusal

    async def catalog(self) -> Catalog:
        """There is one model."""
        raise self._refusal

    async def new(self) -> "Worker":
        """There is one session."""
        raise self._refusal

    async def switch(self, session_id: str, *, take: bool = False) -> "Worker":
        """There is one session."""
        raise self._refusal

    async def watch(self, session_id: str | None) -> "Watch":
        """Nobody else writes it."""
        raise self._refusal

    async def export(self, session_id: str, target: Path) -> int:
        """Nothing to keep."""
        raise self._refusal

    async def close(self) -> None:
        """Closed by whoever set it up."""

    @property
    def _refusal(self) -> InputError:
        return InputError(*self.words)


class Farewell(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed into the normal screen after the program has left the alternate one."""

    session_id: str
    prompt: str
    answer: str


Play = Callable[["Worker"], Awaitable[None]]
"""Says what a demo's user says."""
