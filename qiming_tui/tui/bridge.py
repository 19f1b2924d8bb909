"""From the session's bus to the screen: deltas gathered, views made when the window changed.

A fast model must not make a slow screen: text is handed over at most fifteen times a second, and a view is
asked for once for all the context events that came meanwhile.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec
from textual.message import Message

from qiming_tui.model.events import Context, Event, PartDelta, PartFinished
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.window import State
from qiming_tui.tui.messages import Deltas, SessionEvent, ViewChanged

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker

FLUSH_S: Final = 0.066


class Bridge:
    """Listens to one worker and posts messages."""

    def __init__(self, worker: "Worker", post: Callable[[Message], object]) -> None:
        self._worker = worker
        self._post = post
        self._texts: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._viewing: asyncio.Task[None] | None = None
        self._again = False
        self._rows: dict[str, RequestRow] | None = None
        self._end = worker.ctx.bus.listen(self._event)
        for event in worker.recovered:
            self._event(event)

    def close(self) -> None:
        """Listen no longer."""
        self._end()
        if self._timer is not None:
            self._timer.cancel()
        if self._viewing is not None:
            self._viewing.cancel()

    def refresh(self) -> None:
        """Ask for a view, as after every context event."""
        if self._viewing is not None and not self._viewing.done():
            self._again = True
            return
        self._viewing = asyncio.create_task(self._view())

    def _event(self, event: Event) -> None:
        if isinstance(event, PartDelta):
            self._texts[event.part_id] = self._texts.get(event.part_id, "") + event.text
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self._flush)
            return
        if isinstance(event, PartFinished):
            self._flush()
        self._post(SessionEvent(event))
        if isinstance(event, Context):
            self.refresh()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts:
            texts, self._texts = self._texts, {}
            self._post(Deltas(texts))

    async def _view(self) -> None:
        ctx = self._worker.ctx
        self._again = True
        while self._again:
            self._again = False
            view = await ctx.engine.view(ctx.profile)
            if self._rows is None:
                stored = await ctx.services.store.requests(ctx.session_id)
                self._rows = {row.id: msgspec.structs.replace(row, manifest=()) for row in stored}
            self._rows.update(ctx.live.ledger)
            clearable = 0
            if view.verdict.state is not State.OK and ctx.engine.settings.prune:
                clearable = (await ctx.engine.prune_plan(ctx.profile)).tokens
            self._post(ViewChanged(view, tuple(self._rows.values()), clearable))
