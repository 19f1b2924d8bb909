"""The worker of one session: takes what people want, one thing at a time, and never loses any of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from qiming_tui.model.changes import DropQueue, PutQueue, PutSession
from qiming_tui.model.errors import QimingError, SessionBusy
from qiming_tui.model.events import (
    Event,
    Failed,
    Idle,
    MessageUpdated,
    PartFinished,
    QueueChanged,
    TurnFinished,
    TurnStarted,
)
from qiming_tui.model.ledger import QueueItem
from qiming_tui.session.acting import Acting
from qiming_tui.session.admission import check_size
from qiming_tui.session.compaction import Compactor
from qiming_tui.session.context import Context
from qiming_tui.session.editor import Editor
from qiming_tui.session.loop import Turn
from qiming_tui.session.permission import Gate
from qiming_tui.session.pruning import Pruner
from qiming_tui.session.step import StepRunner
from qiming_tui.session.title import make_title, title_due
from qiming_tui.session.write import put, text_part, user_message

LOG = logging.getLogger("qiming.session")

Job = Callable[[], Awaitable[None]]


class Worker:
    """Runs one session. Everything but `abort` and `answer` waits for the turn that is under way."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.gate = Gate(ctx)
        self.editor = Editor(ctx)
        self.pruner = Pruner(ctx, self.editor)
        self.compactor = Compactor(ctx, self.editor)
        self.acting = Acting(ctx, self.editor, self.compactor)
        self.turn = Turn(ctx, StepRunner(ctx, self.gate), self.pruner, self.compactor)
        self._jobs: list[Job] = []
        self._wake = asyncio.Event()
        self._held = bool(ctx.live.queue)
        self._running: asyncio.Task[str | None] | None = None
        self._main: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self.recovered: tuple[Event, ...] = ()
        """What a crash before this start left open, and how it was ended."""
        self.lost = ""
        """Why this process may not write the session any more; empty: it may."""
        self.gone = asyncio.Event()
        """Set when the session was lost."""
        ctx.journal.on_lost = self._stop_for_good

    async def start(self) -> None:
        """Begin to work; what was queued before a restart is held until the next submit."""
        await self.gate.load()
        if self.ctx.live.queue:
            self._tell_queue()
        self._main = asyncio.create_task(self._work())

    # -- what people want --------------------------------------------------------------------------------

    async def submit(self, text: str) -> str:
        """Accept a prompt; it is sent when the turn under way has ended. Returns the queue row's id.

        Raises InputError, and stores nothing, when the text alone is larger than the window.
        """
        return await self._enqueue(text, steer=False)

    async def steer(self, text: str) -> str:
        """Accept a message that joins the next request of the turn under way; without one, a prompt."""
        return await self._enqueue(text, steer=self._running is not None)

    async def compact(self, focus: str | None = None, *, keep_turns: int | None = None) -> None:
        """Summarise the history after the turn under way; `focus` becomes part of the summary's prompt.

        `keep_turns`: so many of the newest turns stay word for word; None: the settings decide.
        """

        async def job() -> None:
            await self.editor.unlatch()
            await self.compactor.run(auto=False, overflow=False, focus=focus, keep_turns=keep_turns)
            self.turn.streak = 0
            await self.turn.show()

        self._add(job)

    async def prune(self) -> None:
        """Clear old results by the rules, now."""

        async def job() -> None:
            if await self.pruner.at_end():
                await self.editor.unlatch()
                await self.turn.show()
            else:
                self.ctx.notice("Nothing to clear: no old results beyond what is protected.")

        self._add(job)

    async def edit(self, job: Job) -> None:
        """Run an edit of the window between two turns, then tell the new verdict."""

        async def then_show() -> None:
            await job()
            await self.turn.show()

        self._add(then_show)

    async def show(self) -> None:
        """Tell the verdict of the window."""

        async def job() -> None:
            await self.turn.show()

        self._add(job)

    def answer(self, request_id: str, reply: str, reason: str = "") -> None:
        """Answer a permission. Raises InputError when it is not open or the reply is unknown."""
        self.gate.answer(request_id, reply, reason)

    def abort(self) -> bool:
        """Stop what is running, at once; what is queued is kept and held. Whether anything was running."""
        running = self._running
        if running is None or running.done():
            return False
        self._held = True
        if not running.cancelling():  # once is enough: a second one would cut off the ends of the first
            running.cancel()
        return True

    def lose(self, reason: str) -> None:
        """Another program has taken the session over: stop, and write nothing more."""
        self.ctx.journal.lose(reason)

    def resume(self) -> None:
        """Send what was queued and held."""
        self._held = False
        if self.ctx.live.queue:
            self._idle.clear()
        self._wake.set()

    @property
    def busy(self) -> bool:
        """Whether something is running."""
        return self._running is not None

    async def idle(self) -> None:
        """Return when nothing is running and nothing will start by itself."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop, save what is left, and end the bus. Raises StoreError when something stays unsaved."""
        self._closing = True
        self.abort()
        self._wake.set()
        if self._main is not None:
            await asyncio.gather(self._main, return_exceptions=True)
        try:
            await self.ctx.journal.close()
        finally:
            self.ctx.bus.close()

    # -- the work ----------------------------------------------------------------------------------------

    def _stop_for_good(self, reason: str) -> None:
        self.lost = reason
        self.gone.set()
        self.ctx.publish(
            Failed(
                session=self.ctx.session_id,
                message=f"Nothing more is written here: {reason}.",
                hint="What was saved before is kept; the other program goes on with it.",
            )
        )
        self._jobs.clear()
        self.abort()

    def _check(self) -> None:
        if self.lost:
            raise SessionBusy(self.lost, "the session is read-only here now")

    def _add(self, job: Job) -> None:
        self._check()
        self._jobs.append(job)
        self._idle.clear()
        self._wake.set()

    async def _enqueue(self, text: str, *, steer: bool) -> str:
        self._check()
        await check_size(self.ctx, text)
        item = QueueItem(
            id=self.ctx.services.ids.new("que"),
            session_id=self.ctx.session_id,
            seq=self.ctx.live.next_queue_seq(),
            text=text,
            steer=steer,
            at=self.ctx.services.clock(),
        )
        self._held = False
        await self.ctx.journal.commit(PutQueue(item))
        self._tell_queue()
        self._idle.clear()
        self._wake.set()
        return item.id

    def _tell_queue(self) -> None:
        self.ctx.publish(QueueChanged(session=self.ctx.session_id, items=tuple(self.ctx.live.queue)))

    async def _work(self) -> None:
        while not self._closing:
            await self._wake.wait()
            self._wake.clear()
            worked = False
            while (job := self._next()) is not None:
                worked = True
                await self._run(job)
            self._idle.set()
            if worked:  # who was called in the middle of the work is called again, and finds nothing to do
                self.ctx.publish(Idle(session=self.ctx.session_id))

    def _next(self) -> Callable[[], Awaitable[str | None]] | None:
        if self._closing or self.lost:
            return None
        if self._jobs:
            job = self._jobs.pop(0)

            async def run_job() -> None:
                await job()

            return run_job
        if self.ctx.live.queue and not self._held:
            return self._prompt
        return self._title if title_due(self.ctx.live) and not self._held else None

    async def _run(self, job: Callable[[], Awaitable[str | None]]) -> None:
        async def task() -> str | None:
            return await job()

        self._running = asyncio.create_task(task())
        reason: str | None = None
        try:
            reason = await asyncio.shield(self._running)
        except asyncio.CancelledError:
            if not self._running.cancelled():
                self._running.cancel()
                await asyncio.gather(self._running, return_exceptions=True)
                raise
            reason = "aborted"
        except QimingError as error:
            reason = "error"
            self.ctx.publish(Failed(session=self.ctx.session_id, message=str(error), hint=error.hint))
        except Exception as error:
            LOG.exception("the turn ended by a fault of the program")
            reason = "error"
            self.ctx.publish(
                Failed(
                    session=self.ctx.session_id,
                    message=f"A fault of this program ended the turn: {type(error).__name__}: {error}",
                    hint="The session is kept; the log has the details. Send the message again to go on.",
                )
            )
        finally:
            self._running = None
        if self.ctx.live.session.turn is not None:
            await self.ctx.at_work(turn=None)
            self.ctx.publish(TurnFinished(session=self.ctx.session_id, reason=reason or "done"))

    async def _prompt(self) -> str:
        ctx = self.ctx
        item = ctx.live.queue[0]
        message = user_message(ctx, queued_id=item.id)
        part = text_part(ctx, message.id, item.text)
        begun = ctx.live.replace_session(turn=message.id)
        await ctx.journal.commit(
            *put(message, [part], ctx.live.next_seq()), DropQueue(item.id), PutSession(begun)
        )
        self._tell_queue()
        ctx.publish(TurnStarted(session=ctx.session_id, message_id=message.id, text=item.text))
        ctx.publish(MessageUpdated(session=ctx.session_id, info=message))
        ctx.publish(PartFinished(session=ctx.session_id, part=part))
        return await self.turn.run()

    async def _title(self) -> str:
        await make_title(self.ctx)
        return "title"
