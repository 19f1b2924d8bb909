"""A session that another process writes, read-only: what is new in the store becomes events (`data.md` 5)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.events import Idle
from qiming_tui.session.bus import Bus
from qiming_tui.session.differences import differences
from qiming_tui.store.lease import Lease
from qiming_tui.store.store import Store

POLL_S: Final = 0.25
"""How often the store is asked whether something changed; asking costs next to nothing."""

SHARE: Final = 4
"""A session that takes long to load is loaded seldom: pauses are this many times the time of a load."""


class Follower:
    """Publishes on `bus` what another process writes to a session. Nothing is ever written."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bus = Bus()
        self.session_id = session_id
        self.record: SessionRecord | None = None
        """The session as it was read last."""
        self.on_read: Callable[[], None] = lambda: None
        """Called when it was read again and what is new was told."""
        self._store = store
        self._sleep = sleep
        self._timer = timer
        self._version = -1
        self._pause = POLL_S

    async def open(self) -> SessionRecord:
        """Read the session; what changes from now on is told. Raises NotFound."""
        self._version = await self._store.version(self.session_id)
        self.record = await self._store.load(self.session_id)
        return self.record

    async def poll(self) -> bool:
        """Tell what is new; whether anything is. Raises NotFound when the session was deleted."""
        if self.record is None or not await self._store.changed_since(self._version, self.session_id):
            return False
        started, old = self._timer(), self.record
        record = await self.open()
        self._pause = max(POLL_S, SHARE * (self._timer() - started))
        for event in differences(old, record):
            self.bus.publish(event)
        if old.session.turn is not None and record.session.turn is None:
            self.bus.publish(Idle(session=self.session_id))
        self.on_read()
        return True

    async def writer(self) -> Lease | None:
        """Who writes the session now; None if nobody does any more."""
        return await self._store.lease(self.session_id)

    async def until_free(self) -> None:
        """Follow until nobody writes the session: its process has left it, or died."""
        while await self.writer() is not None:
            await self.poll()
            await self._sleep(self._pause)
        await self.poll()
