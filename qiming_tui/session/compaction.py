"""Compaction as the session does it: ask for a summary, judge it, write the boundary in one transaction.

Until the summary is accepted nothing of it is stored but the attempt, so that there is no half boundary: not
after a fault, not after an abort, not after a crash (cases C-034 to C-069).
"""

import asyncio
from typing import Final

import msgspec

from qiming_tui.context import forms
from qiming_tui.context.health import health
from qiming_tui.context.outcome import Identity, check, continue_entry, needs_continue, replay_entry
from qiming_tui.context.summary import Skip, SummaryRequest
from qiming_tui.model.changes import Change, PutAttempt, PutMessage, PutPart
from qiming_tui.model.codec import JSON
from qiming_tui.model.edits import EditKind
from qiming_tui.model.events import CompactionEnded, CompactionStarted, MessageUpdated, PartFinished
from qiming_tui.model.ledger import Attempt
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.parts import CompactionPart, Part, StepFinishPart, StepStartPart
from qiming_tui.model.stream import FaultKind
from qiming_tui.model.usage import tokens_of
from qiming_tui.model.window import CompactionEnd, ContextView
from qiming_tui.session.context import Context
from qiming_tui.session.editor import Editor
from qiming_tui.session.services import ModelProfile
from qiming_tui.session.summarise import Outcome, Summariser
from qiming_tui.session.write import put, user_message

SHORTER: Final = "Your last summary was cut off. Write a much shorter one: at most {words} words."
"""Said once more after a summary that did not fit (cases C-043)."""

TOO_LARGE: Final = "Session too large to compact: even the summary request exceeds the model's limit"
"""What is said when the summary request itself is refused (fact 25)."""


class Compactor:
    """Runs compactions of one session."""

    def __init__(self, ctx: Context, editor: Editor) -> None:
        self._ctx = ctx
        self._editor = editor

    async def run(
        self, *, auto: bool, overflow: bool, focus: str | None = None, keep_turns: int | None = None
    ) -> CompactionEnd:
        """Summarise what can be summarised; `keep_turns`: so many of the newest turns stay word for word.
        Whatever goes wrong, the history stays as it was."""
        ctx = self._ctx
        profile = await self._model()
        order = forms.Order(
            auto=auto,
            overflow=overflow,
            focus=focus or "",
            keep_turns=keep_turns,
            compactor=_other(ctx, profile),
        )
        view = await ctx.engine.view(ctx.profile)
        prepared = await ctx.engine.prepare(ctx.profile, order)
        attempt = self._attempt(auto, view.count, prepared)
        if isinstance(prepared, Skip):
            await self._skip(attempt, prepared)
            return prepared.end
        await ctx.journal.commit(PutAttempt(attempt))
        ctx.publish(
            CompactionStarted(
                session=ctx.session_id,
                step=ctx.live.step or None,
                auto=auto,
                form=prepared.form,
                before=view.count,
                reason=_why(view, auto=auto, overflow=overflow, note=prepared.note),
            )
        )
        follows: Entry | None = None
        try:
            outcome = await self._summarise(prepared, order, profile, view)
            if outcome.end is CompactionEnd.FINISHED:
                follows = await self._write(outcome, focus, view)
        except BaseException as error:
            stopped = isinstance(error, asyncio.CancelledError)
            end = CompactionEnd.ABORTED if stopped else CompactionEnd.FAILED
            await self._end(attempt, end, end.sentence)
            raise
        attempt = msgspec.structs.replace(attempt, form=outcome.request.form)
        after = None
        try:
            if outcome.end is CompactionEnd.FINISHED:
                after = await self._checked()
        finally:  # the boundary stands, even if a stop comes just now
            await self._end(attempt, outcome.end, outcome.words, after)
            self._tell_entry(follows)
        return outcome.end

    async def _checked(self) -> int:
        """The window after a boundary; where things are pinned it is said whether all of them are in it."""
        ctx = self._ctx
        view = await ctx.engine.view(ctx.profile)
        window = ctx.engine.window(ctx.engine.state(ctx.profile))
        if window.edits.pins:
            ctx.notice(health(view, window).words)
        return view.count

    async def _model(self) -> ModelProfile:
        ref = self._ctx.services.compaction_model
        return self._ctx.profile if ref is None else await self._ctx.services.resolve(ref)

    def _attempt(self, auto: bool, before: int, prepared: SummaryRequest | Skip) -> Attempt:
        return Attempt(
            id=self._ctx.services.ids.new("att"),
            session_id=self._ctx.session_id,
            seq=len(self._ctx.live.attempts),
            auto=auto,
            form=prepared.form if isinstance(prepared, SummaryRequest) else "",
            before=before,
            started_at=self._ctx.services.clock(),
        )

    async def _summarise(
        self, prepared: SummaryRequest, order: forms.Order, profile: ModelProfile, view: ContextView
    ) -> Outcome:
        """Ask; once more in another form if the request is refused, once more for a shorter text if the
        summary was cut off."""
        summariser = Summariser(self._ctx, profile, view)
        outcome = self._judge(await summariser.ask(prepared))
        again = None
        if outcome.end is CompactionEnd.REFUSED and prepared.form == forms.PREFIX:
            again = msgspec.structs.replace(order, overflow=True)
        elif outcome.end is CompactionEnd.TRUNCATED:
            words = max(60, outcome.request.max_tokens // 3)
            again = msgspec.structs.replace(order, hook_context=(SHORTER.format(words=words),))
        if again is None:
            return outcome
        second = await self._ctx.engine.prepare(self._ctx.profile, again)
        if isinstance(second, Skip):
            return outcome
        return self._judge(await summariser.ask(second))

    def _judge(self, outcome: Outcome) -> Outcome:
        request = outcome.request
        if outcome.fault is not None:
            if outcome.fault.kind is FaultKind.OVERFLOW:
                return outcome.ended(CompactionEnd.REFUSED, f"{TOO_LARGE} ({outcome.fault.message})")
            return outcome.ended(CompactionEnd.FAILED, outcome.fault.message)
        end = check(
            outcome.text,
            outcome.finish,
            preset=self._ctx.engine.settings.preset,
            tool_calls=outcome.calls,
            replaced_tokens=request.replaced_tokens,
            summary_tokens=outcome.tokens,
            limit=request.limit,
        )
        sizes = f"summary ~{outcome.tokens:,} tokens for ~{request.replaced_tokens:,}"
        return outcome.ended(end, f"{end.sentence} ({sizes})")

    async def _write(self, outcome: Outcome, focus: str | None, view: ContextView) -> Entry | None:
        """The boundary and what comes with it: one transaction, one group of edits. Returns the message that
        goes on behind it, which is told once the compaction has been."""
        ctx, request = self._ctx, outcome.request
        seq = ctx.live.next_seq()
        asked = user_message(ctx)
        part = CompactionPart(
            id=ctx.services.ids.new("prt"),
            session_id=ctx.session_id,
            message_id=asked.id,
            auto=request.order.auto,
            overflow=request.order.overflow,
            tail_start_id=request.tail_start_id,
            focus=focus,
        )
        summary, parts = self._summary(outcome, asked.id)
        changes: list[Change] = [*put(asked, [part], seq), PutMessage(summary, seq + 1)]
        changes += [PutPart(each, index) for index, each in enumerate(parts)]
        targets = [asked.id, summary.id]
        after = self._afterwards(request)
        if after is not None:
            changes.append(PutMessage(after.info, seq + 2))
            changes += [PutPart(each, index) for index, each in enumerate(after.parts)]
            targets.append(after.id)
        freed = view.count - request.replaced_tokens + outcome.tokens
        by = ctx.engine.settings.policy if request.order.auto else "user"
        edit = self._editor.edit(EditKind.COMPACT, targets, by=by, sizes=(view.count, max(0, freed)))
        await self._editor.apply(edit, also=changes)
        ctx.publish(MessageUpdated(session=ctx.session_id, info=asked))
        ctx.publish(MessageUpdated(session=ctx.session_id, info=summary))
        return after

    def _tell_entry(self, entry: Entry | None) -> None:
        if entry is None:
            return
        self._ctx.publish(MessageUpdated(session=self._ctx.session_id, info=entry.info))
        for each in entry.parts:
            self._ctx.publish(PartFinished(session=self._ctx.session_id, part=each))

    def _summary(self, outcome: Outcome, parent_id: str) -> tuple[AssistantMessage, list[Part]]:
        draft = msgspec.structs.replace(outcome.message, parent_id=parent_id)
        tokens = tokens_of(outcome.usage) if outcome.usage is not None else draft.tokens
        time = msgspec.structs.replace(draft.time, completed=self._ctx.services.clock())
        summary = msgspec.structs.replace(
            draft, tokens=tokens, cost=outcome.cost or 0, finish=outcome.finish, time=time
        )
        ids = self._ctx.services.ids
        identity: dict[str, JSON] = {"session_id": summary.session_id, "message_id": summary.id}
        start = StepStartPart(id=ids.new("prt"), **identity)
        finish = StepFinishPart(
            id=ids.new("prt"),
            reason=outcome.finish or "unknown",
            tokens=tokens,
            cost=outcome.cost or 0,
            **identity,
        )
        return summary, [start, outcome.part, finish]

    def _afterwards(self, request: SummaryRequest) -> Entry | None:
        """The copy of a refused message, or Continue, or nothing (`data.md` 4)."""
        ctx = self._ctx
        ids = ctx.services.ids
        identity = Identity(
            session_id=ctx.session_id,
            message_id=ids.new("msg"),
            part_id=lambda: ids.new("prt"),
            now=ctx.services.clock(),
            model=ctx.profile.info.ref,
        )
        order, preset = request.order, ctx.engine.settings.preset
        if order.auto and request.replay is not None:
            return replay_entry(request.replay, identity)
        history = ctx.engine.window(ctx.engine.state(ctx.profile)).live
        if needs_continue(history, preset=preset, auto=order.auto, waiting=request.waiting, replayed=False):
            return continue_entry(history, identity, preset=preset, overflow=order.overflow)
        return None

    async def _skip(self, attempt: Attempt, skip: Skip) -> None:
        now = self._ctx.services.clock()
        done = msgspec.structs.replace(attempt, end=skip.end.value, reason=skip.words, ended_at=now)
        await self._ctx.journal.commit(PutAttempt(done))
        self._tell("skipped", attempt, None, skip.end, skip.words)

    async def _end(self, attempt: Attempt, end: CompactionEnd, words: str, after: int | None = None) -> None:
        now = self._ctx.services.clock()
        done = msgspec.structs.replace(attempt, end=end.value, reason=words, after=after, ended_at=now)
        await self._ctx.journal.commit(PutAttempt(done))
        self._tell("finished" if end is CompactionEnd.FINISHED else "failed", attempt, after, end, words)

    def _tell(self, phase: str, attempt: Attempt, after: int | None, end: CompactionEnd, words: str) -> None:
        self._ctx.publish(
            CompactionEnded(
                session=self._ctx.session_id,
                step=self._ctx.live.step or None,
                phase=phase,
                auto=attempt.auto,
                before=attempt.before,
                after=after,
                reason=end.value,
                words=words,
            )
        )


def _other(ctx: Context, profile: ModelProfile) -> forms.Compactor | None:
    if profile is ctx.profile:
        return None
    return forms.Compactor(model=profile.info.ref, limits=profile.info.limits, dialect=profile.dialect)


def _why(view: ContextView, *, auto: bool, overflow: bool, note: str) -> str:
    if not auto:
        why = "asked for by the user"
    elif overflow:
        return f"the provider refused the request: {view.verdict.arithmetic}"
    else:
        why = view.verdict.arithmetic
    return f"{why}; {note}" if note else why
