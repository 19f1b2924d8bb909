"""One turn: check the window, ask, run tools, until the answer is complete (conformance 1.1, `data.md` 4)."""

from statistics import median
from typing import Final

import msgspec

from qiming_tui.context import budget, edits
from qiming_tui.context.assemble import first_change, manifest
from qiming_tui.model.changes import DropQueue, PutRequest
from qiming_tui.model.events import CompactionEnded, Failed, MessageUpdated, PartFinished, QueueChanged
from qiming_tui.model.events import Context as ContextEvent
from qiming_tui.model.ledger import ManifestRow, Outcome
from qiming_tui.model.messages import AssistantMessage, Entry, UserMessage
from qiming_tui.model.parts import Failed as ToolFailed
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import usage_of
from qiming_tui.model.window import CompactionEnd, ContextView, Preset, State
from qiming_tui.session.admission import MIN_ANSWER, fixed_tokens
from qiming_tui.session.compaction import Compactor
from qiming_tui.session.context import Context
from qiming_tui.session.pruning import Pruner
from qiming_tui.session.step import StepEnd, StepRunner
from qiming_tui.session.write import put, text_part, user_message

MOST_COMPACTIONS: Final = 2
"""Automatic compactions without a successful step below usable between them (`data.md` 4)."""

BEYOND_HELP: Final = (CompactionEnd.NOTHING_TO_COMPACT, CompactionEnd.FLOOR)
"""No summary could help: what still fits the window is sent."""


def _streak(ctx: Context) -> int:
    """What the stored attempts say of it: those since the newest answer below usable, or since the person
    compacted."""
    row = ctx.engine.measured_row
    since = 0
    if row is not None and not (row.after or row.verdict).overflow:
        since = row.times.end or row.times.queued
    asked = [attempt.started_at for attempt in ctx.live.attempts if not attempt.auto]
    since = max(since, *asked) if asked else since
    return sum(one.auto and bool(one.form) and one.started_at >= since for one in ctx.live.attempts)


class Turn:
    """Runs the turns of one session; keeps what must be remembered between them."""

    def __init__(self, ctx: Context, steps: StepRunner, pruner: Pruner, compactor: Compactor) -> None:
        self._ctx = ctx
        self._steps = steps
        self._pruner = pruner
        self._compactor = compactor
        self._manifest: tuple[ManifestRow, ...] | None = None
        self._total: int | None = None
        self._growths: list[int] = []
        self.streak = _streak(ctx)
        """Automatic compactions since the last successful step below usable, before a restart too."""
        self.deferred = False
        """The user put the next automatic compaction off: it waits for the end of the turn that needs it, as
        long as the requests leave room for an answer."""
        self._put_off = False

    async def run(self) -> str:
        """Work until the newest user message is answered; returns TurnFinished's reason."""
        if self._put_off:
            self.deferred = self._put_off = False
        while True:
            await self._join_steering()
            view = await self._checked()
            if view is None:
                return "done" if self.answered() else "needs_you"
            if any(item.steer for item in self._ctx.live.queue):
                continue  # said while the window was checked or compacted: it joins this very request
            if self.answered():
                if await self._pruner.at_end():
                    view = await self.show()
                self._note_growth(view)
                return "done"
            match await self._step(view):
                case StepEnd.GO_ON:
                    self._note_progress(view)
                case StepEnd.REFUSED:
                    pass
                case StepEnd.BLOCKED:
                    await self.show()
                    return "blocked"
                case StepEnd.ERROR:
                    await self.show()
                    return "error"

    async def show(self) -> ContextView:
        """Tell the verdict of the window as it is now."""
        view = await self._ctx.engine.view(self._ctx.profile)
        step = self._ctx.live.step or None
        await self._note_after(view)
        self._ctx.publish(ContextEvent(session=self._ctx.session_id, step=step, verdict=view.verdict))
        return view

    async def _note_after(self, view: ContextView) -> None:
        """Write the first verdict after an answer into its row: it decides what comes next, and whoever
        follows or lists the session sees the same."""
        ctx, row = self._ctx, self._ctx.live.last_request
        if ctx.live.session.turn is None or row is None or row.kind is not RequestKind.TURN:
            return
        if row.outcome is Outcome.OK and row.after is None:
            await ctx.journal.commit(PutRequest(msgspec.structs.replace(row, after=view.verdict)))

    def answered(self) -> bool:
        """Whether the newest message that was said to the model has its complete answer (facts 150, 151)."""
        hidden = edits.fold(self._ctx.live.edits).hidden
        said = done = -1
        for entry in self._ctx.live.entries:
            if entry.id in hidden:
                continue
            if isinstance(entry.info, UserMessage):
                said = entry.seq if entry.compaction is None else said
            elif _complete(entry, entry.info):
                done = entry.seq
        return done > said

    async def _step(self, view: ContextView) -> StepEnd:
        before = self._manifest
        self._manifest = manifest(view.items)
        changed = first_change(before, self._manifest) if before is not None else None
        return await self._steps.run(view, self._parent_id(), changed)

    def _parent_id(self) -> str:
        hidden = edits.fold(self._ctx.live.edits).hidden
        for entry in reversed(self._ctx.live.entries):
            if entry.user and entry.id not in hidden and entry.compaction is None:
                return entry.id
        return ""

    def _note_growth(self, view: ContextView) -> None:
        """Median growth of the last three turns: what one more turn is expected to add (`ux.md` 5.5)."""
        if self._total is not None and view.total > self._total:
            self._growths = [*self._growths[-2:], view.total - self._total]
            self._ctx.engine.growth = int(median(self._growths))
        self._total = view.total

    def _note_progress(self, view: ContextView) -> None:
        last = self._ctx.live.last_assistant
        if last is None or view.usable is None:
            return
        usage = usage_of(last.tokens)
        count = budget.count_usage(view.verdict.preset, usage) if not usage.empty else view.count
        if not budget.is_over(view.verdict.preset, count, view.usable):
            self.streak = 0

    async def _checked(self) -> ContextView | None:
        """The next request, after pruning and compaction where they are due; None: it may not be sent."""
        ctx = self._ctx
        while True:
            view = await self.show()
            full = view.verdict.refused
            if not (view.verdict.overflow or (full and view.verdict.auto)):
                return view if self._may_send(view) else None
            if self.deferred and not full and self._fits(view):
                self._tell_put_off(view)
                return view
            if self.streak >= MOST_COMPACTIONS:
                self._explain(view)
                return None
            if ctx.engine.settings.preset is Preset.GUARDED and await self._pruner.enough():
                continue
            end = await self._compactor.run(auto=True, overflow=full)
            if end in BEYOND_HELP and not full and self._fits(view):
                return view
            self.streak += 1
            if end is not CompactionEnd.FINISHED:
                self._stuck(view, end)
                return None
            if ctx.engine.settings.preset is not Preset.GUARDED:
                ctx.engine.forget_refusal()

    def _tell_put_off(self, view: ContextView) -> None:
        if not self._put_off:
            self._put_off = True
            self._ctx.notice(f"Compaction put off until this turn has ended: {view.verdict.arithmetic}")

    def _may_send(self, view: ContextView) -> bool:
        """Whether a request goes out: after an undo, one that would not fit does not (`data.md` 3)."""
        ctx, verdict = self._ctx, view.verdict
        if not ctx.live.session.latched:
            return True
        if verdict.refused or verdict.state is State.OVER:
            end = CompactionEnd.LATCHED
            ctx.publish(self._skipped(view, end, f"{end.sentence}: {verdict.arithmetic}"))
        window = verdict.limits.window
        size = view.count if verdict.preset is Preset.GUARDED else max(view.count, view.total)
        fits = not window or size + MIN_ANSWER < window
        if self.answered() or (fits and not verdict.refused):
            return True
        ctx.publish(
            Failed(
                session=ctx.session_id,
                message=f"Not sent: ~{size:,} tokens do not fit the window"
                f"{f' of {window:,}' if window else ', says the provider'}.",
                hint="Compact, clear results, or choose a model with more room; your message is kept.",
            )
        )
        return False

    @staticmethod
    def _fits(view: ContextView) -> bool:
        """Whether the request, though over usable, by our own count leaves room for an answer."""
        return view.total + MIN_ANSWER < view.verdict.limits.window

    def _stuck(self, view: ContextView, end: CompactionEnd) -> None:
        """A compaction was due and did not happen: what that means for the person who waits."""
        if self.answered():
            return
        self._ctx.publish(
            Failed(
                session=self._ctx.session_id,
                message=f"The window is full and was not compacted: {end.sentence}.",
                hint="Your message is kept. Try /compact, clear results, or choose a model with more room.",
                data={"reason": end.value, "arithmetic": view.verdict.arithmetic},
            )
        )

    def _explain(self, view: ContextView) -> None:
        """Two compactions did not help: say what is in the way, and stop."""
        ctx = self._ctx
        fixed = fixed_tokens(view)
        of = "unknown" if view.usable is None else f"{view.usable:,}"
        if view.verdict.refused:
            why = "the provider still refuses the request"
        else:
            why = f"the request still holds {view.count:,} tokens of {of} usable"
        floor = f"the fixed prompt alone is ~{fixed:,} of {of} usable"
        words = f"stopped after {self.streak} compactions in a row: {why}; {floor}"
        ctx.publish(self._skipped(view, CompactionEnd.FLOOR, words))
        ctx.publish(
            Failed(
                session=ctx.session_id,
                message=words[0].upper() + words[1:] + ".",
                hint="Choose a model with a larger window, clear results, or start a new session with /new.",
            )
        )

    def _skipped(self, view: ContextView, end: CompactionEnd, words: str) -> CompactionEnded:
        return CompactionEnded(
            session=self._ctx.session_id,
            step=self._ctx.live.step or None,
            phase="skipped",
            auto=True,
            before=view.count,
            after=None,
            reason=end.value,
            words=words,
        )

    async def _join_steering(self) -> None:
        """Steering messages join the next request of a turn that is under way."""
        ctx = self._ctx
        items = [item for item in ctx.live.queue if item.steer]
        for item in items:
            message = user_message(ctx, queued_id=item.id)
            part = text_part(ctx, message.id, item.text)
            await ctx.journal.commit(*put(message, [part], ctx.live.next_seq()), DropQueue(item.id))
            ctx.publish(MessageUpdated(session=ctx.session_id, info=message))
            ctx.publish(PartFinished(session=ctx.session_id, part=part))
        if items:
            ctx.publish(QueueChanged(session=ctx.session_id, items=tuple(ctx.live.queue)))


def _complete(entry: Entry, info: AssistantMessage) -> bool:
    if info.summary or info.error is not None or info.finish in (None, "tool-calls"):
        return False
    return not any(isinstance(part, ToolPart) and not _interrupted(part) for part in entry.parts)


def _interrupted(part: ToolPart) -> bool:
    return isinstance(part.state, ToolFailed) and (part.state.metadata or {}).get("interrupted") is True
