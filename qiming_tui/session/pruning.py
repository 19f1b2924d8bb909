"""Prune as the session does it: plan, tell, apply as one edit, tell again (`design.md` 5.4)."""

import msgspec

from qiming_tui.model.changes import Change, PutRequest
from qiming_tui.model.edits import EditKind
from qiming_tui.model.events import Prune
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import PrunePlan
from qiming_tui.session.context import Context
from qiming_tui.session.editor import Editor


class Pruner:
    """Clears old tool results when the plan says so."""

    def __init__(self, ctx: Context, editor: Editor) -> None:
        self._ctx = ctx
        self._editor = editor

    async def at_end(self) -> bool:
        """At the end of the loop, under every preset; whether anything was cleared."""
        return await self._prune() is not None

    async def enough(self) -> bool:
        """Before a summary (preset guarded): whether clearing alone brings the request below usable."""
        if await self._prune() is None:
            return False
        verdict = (await self._ctx.engine.view(self._ctx.profile)).verdict
        return not verdict.overflow and not verdict.refused

    async def _prune(self) -> PrunePlan | None:
        if not self._ctx.engine.settings.prune:
            return None
        plan = await self._ctx.engine.prune_plan(self._ctx.profile)
        if not plan.cleared:
            return None
        session, step = self._ctx.session_id, self._ctx.live.step or None
        self._ctx.publish(Prune(session=session, step=step, phase="planned", plan=plan))
        before = (await self._ctx.engine.view(self._ctx.profile)).count
        edit = self._editor.edit(
            EditKind.CLEAR,
            plan.cleared,
            by=self._ctx.engine.settings.policy,
            sizes=(before, max(0, before - plan.tokens)),
        )
        await self._editor.apply(edit, also=self._noted(plan))
        self._ctx.publish(Prune(session=session, step=step, phase="applied", plan=plan, group=edit.group))
        return plan

    def _noted(self, plan: PrunePlan) -> list[Change]:
        """The plan, with the reason of every result, in the row of the step whose answer led to it."""
        row = self._ctx.live.last_request
        if row is None or row.kind is not RequestKind.TURN:
            return []
        return [PutRequest(msgspec.structs.replace(row, prune=plan))]
