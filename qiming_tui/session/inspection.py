"""What the inspector asks of a session: its requests, one of them whole, what a prune would do."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from qiming_tui.context import prune
from qiming_tui.context.dryrun import names_of
from qiming_tui.context.past_request import (
    Shown,
    Step,
    reconstruct,
    reconstructed,
    verified,
    window_at,
)
from qiming_tui.context.state import SessionState
from qiming_tui.context.timeline_past import rebuilt
from qiming_tui.context.tokens import Tally
from qiming_tui.model.edits import Edit, EditKind, EditRecord
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.limits import Limits, Price
from qiming_tui.model.outputs import filled, left_in_store
from qiming_tui.model.window import PrunePlan, Settings
from qiming_tui.session.context import Context

T = TypeVar("T")


class Inspection:
    """The past of one session. What was read once is kept."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._state: SessionState | None = None
        self._past: tuple[Step, ...] | None = None

    async def steps(self) -> tuple[Step, ...]:
        """Every turn and summary request with its items, those without a ledger reconstructed. Raises
        StoreError, ConfigError."""
        ctx = self._ctx
        rows = {row.id: row for row in await ctx.services.store.requests(ctx.session_id)}
        for row in ctx.live.ledger.values():
            held = rows.get(row.id)
            last = ctx.live.last_request
            items = held.manifest if held else last.manifest if last and last.id == row.id else ()
            rows[row.id] = msgspec.structs.replace(row, manifest=items)
        ledger = sorted((row for row in rows.values() if row.step > 0), key=lambda row: (row.step, row.seq))
        if self._past is None:
            self._past = await self._reconstructed(ledger)
        return (*self._past, *(Step(row=row, manifest=row.manifest) for row in ledger))

    async def _reconstructed(self, ledger: list[RequestRow]) -> tuple[Step, ...]:
        live = self._ctx.live
        rows, _ = rebuilt(
            live.entries,
            live.edits,
            known=[row.message_id for row in ledger],
            settings=self.settings,
            limits=self.limits,
        )
        if not rows:
            return ()
        state = await self._whole()
        return await self._weighed(lambda tally: reconstructed(state, rows, self.settings, tally))

    async def request(self, step: Step) -> Shown:
        """A request with its values: rebuilt and checked against its hash, or reconstructed. Raises
        QimingError where it is not what was sent."""
        if step.rebuilt:
            state = await self._whole()
            return await self._weighed(lambda tally: reconstruct(state, step.row, self.settings, tally))
        blobs = await self._ctx.services.store.blobs([row.blob for row in step.manifest])
        items, body, found = verified(msgspec.structs.replace(step.row, manifest=step.manifest), blobs)
        return Shown(step=step, items=items, body=body, hash=found)

    async def plan(self, step: Step) -> PrunePlan:
        """What a prune would have done after a step's answer, part by part."""
        state = await self._whole()
        window = window_at(state, step.row, self.settings)
        return await self._weighed(lambda tally: prune.plan(window, self.settings, tally))

    async def sizes(self) -> dict[str, int]:
        """Tokens of every result, as a prune counts them."""
        ctx = self._ctx
        state = ctx.engine.state(ctx.profile)
        window = ctx.engine.window(state)
        always = msgspec.structs.replace(self.settings, prune=True)
        plan = await self._weighed(lambda tally: prune.plan(window, always, tally, entries=state.entries))
        return {fate.part_id: fate.tokens for fate in plan.fates}

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self._ctx.engine.settings

    @property
    def limits(self) -> Limits:
        """Of the model at work."""
        return self._ctx.profile.info.limits

    @property
    def price(self) -> Price | None:
        """Of the model at work."""
        return self._ctx.profile.info.price

    @property
    def edits(self) -> tuple[EditRecord, ...]:
        """The log."""
        return tuple(self._ctx.live.edits)

    @property
    def by_user(self) -> frozenset[str]:
        """Ids of parts that a person cleared."""
        made = (edit for edit in self.edits if isinstance(edit, Edit) and edit.kind is EditKind.CLEAR)
        return frozenset(part for edit in made if edit.by == "user" for part in edit.targets)

    def names(self) -> dict[str, str]:
        """Words for every part and message."""
        return names_of(self._ctx.live.entries)

    async def _whole(self) -> SessionState:
        """The session with every output, without what stands before the messages: that is not known of a
        past that has no ledger."""
        live = self._ctx.live
        if self._state is None or len(self._state.entries) != len(live.entries):
            state = self._ctx.engine.state(self._ctx.profile)
            state = msgspec.structs.replace(state, system=(), memory=(), tools=())
            texts = await self._ctx.services.store.outputs(left_in_store(state.entries))
            self._state = msgspec.structs.replace(state, entries=filled(state.entries, texts))
        return self._state

    async def _weighed(self, make: Callable[[Tally], T]) -> T:
        """What `make` makes, with exact counts."""
        engine, profile = self._ctx.engine, self._ctx.profile
        tally = await engine.tally(profile)
        made = make(tally)
        while await engine.counted(profile, tally):
            made = make(tally)
        return made
