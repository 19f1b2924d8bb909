"""The journal: every change goes through here, into memory and into the store.

A store that cannot take a write (full, locked, gone) costs nothing: the changes stay in order in memory,
`unsaved` says so, and they are tried again until `saved` can be said (cases C-103).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from qiming_tui.model.changes import Change
from qiming_tui.model.errors import StoreError, StoreReadOnly
from qiming_tui.model.events import Saved, Unsaved
from qiming_tui.session.bus import Bus
from qiming_tui.session.live import Live
from qiming_tui.store.store import Store

RETRY_S: Final = 2.0
"""Pause between attempts to save what could not be saved."""


class Journal:
    """Applies changes to the live session and to the store, in one order."""

    def __init__(self, store: Store, live: Live, bus: Bus, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.live = live
        self._store = store
        self._bus = bus
        self._sleep = sleep
        self._pending: list[Change] = []
        self._lock = asyncio.Lock()
        self._retry: asyncio.Task[None] | None = None

    @property
    def unsaved(self) -> int:
        """Changes that the store has not taken yet."""
        return len(self._pending)

    async def commit(self, *changes: Change) -> None:
        """Apply changes; when this returns they are durable, or `unsaved` has been published.

        Raises StoreReadOnly when this process may not write the session.
        """
        for change in changes:
            self.live.absorb(change)
        self._pending.extend(changes)
        if self._retry is None:
            await self._flush()

    async def _flush(self) -> None:
        async with self._lock:
            batch = tuple(self._pending)
            if not batch:
                return
            try:
                await self._store.apply(batch)
            except StoreReadOnly:
                del self._pending[: len(batch)]
                raise
            except StoreError as error:
                self._bus.publish(
                    Unsaved(session=self.live.session.id, reason=str(error), pending=len(self._pending))
                )
                if self._retry is None:
                    self._retry = asyncio.create_task(self._keep_trying())
                return
            del self._pending[: len(batch)]

    async def _keep_trying(self) -> None:
        while self._pending:
            await self._sleep(RETRY_S)
            batch = tuple(self._pending)
            try:
                await self._store.apply(batch)
            except StoreError as error:
                self._bus.publish(
                    Unsaved(session=self.live.session.id, reason=str(error), pending=len(self._pending))
                )
                continue
            del self._pending[: len(batch)]
        self._retry = None
        self._bus.publish(Saved(session=self.live.session.id))

    async def close(self) -> None:
        """One last attempt to save what is left; raises StoreError when it fails."""
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._pending:
            await self._store.apply(tuple(self._pending))
            self._pending.clear()
