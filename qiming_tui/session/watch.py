"""A session that another process writes, in the shape of a worker that takes nothing (`data.md` 5).

What a screen reads from a worker (the live session, the engine's view, the bus) is there and follows the
store; what would change the session is refused.
"""

from qiming_tui.model.events import Context as ContextEvent
from qiming_tui.model.events import Event
from qiming_tui.session.context import Context
from qiming_tui.session.follow import Follower
from qiming_tui.session.live import Live
from qiming_tui.session.worker import Worker
from qiming_tui.store.lease import Lease

AGENT = "read-only"
"""Stands where a screen names the agent."""


class Watch:
    """Made by `Runtime.watch`. `worker` is never started and never writes."""

    def __init__(self, follower: Follower, ctx: Context, writer: Lease | None) -> None:
        self.follower = follower
        self.writer = writer
        """Who wrote the session when the watch began; None: nobody did any more."""
        self.worker = Worker(ctx)
        self.worker.lost = self.words
        ctx.agent = AGENT
        self._record = follower.record
        self._told = ctx.live.last_request
        self._end = follower.bus.listen(self._event)
        follower.on_read = self._caught_up

    @property
    def words(self) -> str:
        """Who writes it."""
        if self.writer is None:
            return "another program writes this session"
        return f"process {self.writer.pid} on {self.writer.host} writes this session"

    async def until_free(self) -> None:
        """Follow until nobody writes the session any more. Raises NotFound when it is deleted, StoreError."""
        await self.follower.until_free()

    def close(self) -> None:
        """Tell nothing more."""
        self._end()
        self.worker.ctx.bus.close()

    def _event(self, event: Event) -> None:
        """What was read is in force before what is new in it is told."""
        self._read()
        self.worker.ctx.publish(event)

    def _caught_up(self) -> None:
        """A request that was answered changes the count, and nothing else tells so."""
        self._read()
        newest = self.worker.ctx.live.last_request
        if newest is not None and newest != self._told:
            self._told = newest
            verdict = newest.after or newest.verdict
            self.worker.ctx.publish(
                ContextEvent(session=self.follower.session_id, step=newest.step, verdict=verdict)
            )

    def _read(self) -> None:
        record = self.follower.record
        if record is None or record is self._record:
            return
        self._record = record
        ctx = self.worker.ctx
        live = Live(record)
        live.ledger = ctx.live.ledger
        newest = record.last_request
        if newest is not None:
            live.ledger[newest.id] = newest
            ctx.engine.note_row(newest)
        ctx.live = ctx.journal.live = live
