"""The journal: every change goes through here, into memory and into the store.

A store that cannot take a write (full, locked, slow, gone) costs nothing: the changes stay in order in
memory, `unsaved` says so, and they are tried again until `saved` can be said (cases C-103). A session that
another program has taken over is not written any more (cases C-112).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from qiming_tui.model.changes import Change
from qiming_tui.model.errors import SessionBusy, StoreError
from qiming_tui.model.events import Saved, Unsaved
from qiming_tui.session.bus import Bus
from qiming_tui.session.live import Live
from qiming_tui.store.store import Store

LOG = logging.getLogger("qiming.session")

RETRY_S: Final = 2.0
"""Pause between attempts to save what could not be saved."""

PATIENCE_S: Final = 0.8
"""How long the session waits for one write; after that it goes on, and the write in the background. Below
the second in which a stop must be obeyed (cases C-056)."""

SLOW: Final = "the store does not answer yet: saving goes on in the background"


class Journal:
    """Applies changes to the live session and to the store, in one order."""

    def __init__(
        self,
        store: Store,
        live: Live,
        bus: Bus,
        sleep: Callable[[float], Awaitable[None]],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.live = live
        self.on_lost: Callable[[str], None] = LOG.warning
        """Called once, with the reason, when another program has the session: nothing more is written."""
        self._store = store
        self._bus = bus
        self._sleep = sleep
        self._patience_s = patience_s
        self._pending: list[Change] = []
        self._writer: asyncio.Task[None] | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._behind = ""
        """Why changes are in memory only, as it was said last; empty: they are not, or nobody knows yet."""
        self._sleeping = False
        self._closing = False
        self._lost = False
        self._postponed: asyncio.Task[object] | None = None

    @property
    def unsaved(self) -> int:
        """Changes that the store has not taken yet."""
        return len(self._pending)

    async def commit(self, *changes: Change) -> None:
        """Apply changes; when this returns they are durable, or `unsaved` has been published.

        A cancel that comes meanwhile is postponed to the caller's next pause (`checkpoint`, or anything that
        waits), so that what is published right after a commit is published whenever the store has it.
        """
        for change in changes:
            self.live.absorb(change)
        if self._lost or not changes:
            return
        self._pending.extend(changes)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        if not self._behind:
            await self._wait()

    async def checkpoint(self) -> None:
        """Deliver a cancel that a commit has postponed; otherwise nothing."""
        if self._postponed is not None and self._postponed is asyncio.current_task():
            self._postponed = None
            await asyncio.sleep(0)

    def lose(self, reason: str) -> None:
        """Somebody else writes the session from now on: drop what is not saved, write nothing more."""
        if self._lost:
            return
        self._lost = True
        self._pending.clear()
        self._release()
        self.on_lost(reason)

    async def close(self) -> None:
        """One last attempt to save what is left; raises StoreError, with what is at stake, when it fails."""
        self._closing = True
        if self._writer is not None:
            if self._sleeping:
                self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        if self._pending:
            batch = tuple(self._pending)
            try:
                await self._store.apply(batch)
            except StoreError as error:
                raise type(error)(f"{len(batch):,} changes are lost, {error}", error.hint) from error
            self._pending.clear()
        self._caught_up()

    # -- pieces ------------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        timer = loop.call_later(self._patience_s, self._fall_behind, SLOW)
        stopped = False
        while not waiter.done():
            try:
                await asyncio.wait((waiter,))
            except asyncio.CancelledError:
                stopped = True
        timer.cancel()
        task = asyncio.current_task()
        if stopped and task is not None:
            task.uncancel()
            task.cancel()
            self._postponed = task
        waiter.result()

    async def _write(self) -> None:
        """Save until nothing is left; runs as a task of its own whenever something is."""
        try:
            while self._pending and not await self._write_once():
                self._sleeping = True
                await self._sleep(RETRY_S)
                self._sleeping = False
        except Exception as error:
            LOG.exception("a change could not be written")
            self._release(error)
        finally:
            self._writer = None
            self._sleeping = False

    async def _write_once(self) -> bool:
        """Whether there is no reason to try again later."""
        while self._pending:
            batch = tuple(self._pending)
            try:
                await self._store.apply(batch)
            except SessionBusy as error:
                self.lose(str(error))
                return True
            except StoreError as error:
                self._fall_behind(str(error))
                return self._closing
            del self._pending[: len(batch)]
        self._caught_up()
        return True

    def _fall_behind(self, reason: str) -> None:
        """Say that changes are in memory only, once for each reason; nobody waits for the store any more."""
        if self._pending and self._behind != reason:
            self._behind = reason
            self._bus.publish(
                Unsaved(session=self.live.session.id, reason=reason, pending=len(self._pending))
            )
        self._release()

    def _caught_up(self) -> None:
        if self._behind:
            self._behind = ""
            self._bus.publish(Saved(session=self.live.session.id))
        self._release()

    def _release(self, error: Exception | None = None) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if error is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(None)
