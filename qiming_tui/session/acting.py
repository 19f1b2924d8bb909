"""Edits that a person makes, for every front end: the dry run with its price first, then the edit itself."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from qiming_tui.context import acts, coverage, dryrun, fate
from qiming_tui.context.acts import Draft
from qiming_tui.context.dryrun import Preview
from qiming_tui.context.forecast import Promise, promise
from qiming_tui.context.forms import Order
from qiming_tui.context.health import Health, health
from qiming_tui.context.price import held_of, price_of
from qiming_tui.context.render import unloaded
from qiming_tui.context.state import SessionState, Window
from qiming_tui.context.summary import Skip
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.messages import Entry
from qiming_tui.model.outputs import left_in_store
from qiming_tui.model.parts import Completed, ToolPart
from qiming_tui.model.window import CompactionEnd, ContextView
from qiming_tui.session.compaction import Compactor
from qiming_tui.session.context import Context
from qiming_tui.session.editor import Editor

T = TypeVar("T")


LIVE_PIN: Final = "it is live: nothing is added, no prune takes it, and after a compaction its text is sent"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one boundary."""

    what: fate.BeforeAfter
    coverage: coverage.Coverage
    summary: str
    """Its text as it is sent now."""
    promise: Promise | None
    cleared_tokens: int
    """What was cleared before it came, by our count of the originals."""


class Acting:
    """What a person does to the window of one session."""

    def __init__(self, ctx: Context, editor: Editor, compactor: Compactor) -> None:
        self._ctx = ctx
        self._editor = editor
        self._compactor = compactor

    def now(self) -> tuple[SessionState, Window]:
        """The session and its live window."""
        state = self._ctx.engine.state(self._ctx.profile)
        return state, self._ctx.engine.window(state)

    async def suggested(self) -> acts.Drafts:
        """Clear what a prune would clear."""
        return acts.suggested(await self._ctx.engine.prune_plan(self._ctx.profile))

    async def pin(self, ids: Sequence[str]) -> acts.Drafts:
        """Pin parts or messages as they are now; the texts of cleared ones come from the store."""
        state, window = self.now()
        return acts.pin(state, window, ids, texts=await self._stored(state.entries, ids))

    async def preview(self, title: str, drafts: Sequence[Draft]) -> Preview:
        """The dry run of an edit: nothing is changed."""
        ctx = self._ctx
        before = await ctx.engine.view(ctx.profile)
        state, _ = self.now()
        settings = ctx.engine.settings
        tried = acts.tried(state, drafts)
        wanted = unloaded(window_of(tried, settings))
        if wanted:
            tried = acts.tried(state, drafts, await ctx.services.store.outputs(wanted))
        growth = ctx.engine.growth
        after = await self._weighed(lambda tally: build(tried, settings, tally, growth=growth))
        return Preview(
            title=title,
            rows=dryrun.difference(before, after, dryrun.names_of(state.entries)),
            price=price_of(before, after, cached=await self._held(), price=ctx.profile.info.price),
            notes=(LIVE_PIN,) if before.hash == after.hash and _pins(drafts) else (),
            health=health(after, window_of(tried, settings), growth=growth),
        )

    async def compaction(self, focus: str = "", keep_turns: int | None = None) -> Preview:
        """The dry run of a compaction; the summary is taken to be as long as it may be. Raises EditRefused
        where there is nothing to summarise."""
        ctx = self._ctx
        view = await ctx.engine.view(ctx.profile)
        order = Order(auto=False, focus=focus, keep_turns=keep_turns)
        prepared = await ctx.engine.prepare(ctx.profile, order)
        if isinstance(prepared, Skip):
            raise EditRefused(prepared.words)
        rows, notes, after = dryrun.compaction(prepared, view, ctx.live.entries)
        price = price_of(view, after, cached=await self._held(), price=ctx.profile.info.price)
        title = f"compact with the focus {focus!r}" if focus else "compact"
        return Preview(title=title, rows=rows, price=price, notes=notes)

    async def apply(self, drafts: Sequence[Draft]) -> tuple[Edit, ...]:
        """Make the edits, as one group."""
        ctx = self._ctx
        before = (await ctx.engine.view(ctx.profile)).total
        state, _ = self.now()
        texts = await self._stored(state.entries, [t for draft in drafts for t in draft.targets])
        tried, settings = acts.tried(state, drafts, texts), ctx.engine.settings
        after = (await self._weighed(lambda tally: build(tried, settings, tally))).total
        made: list[Edit] = []
        for index, draft in enumerate(drafts):
            edit = self._editor.edit(
                draft.kind,
                draft.targets,
                group=made[0].group if made else None,
                params=draft.params,
                sizes=(None, None) if made else (before, after),
            )
            made.append(msgspec.structs.replace(edit, seq=edit.seq + index))
        await self._editor.apply(*made)
        return tuple(made)

    async def again(self, focus: str) -> CompactionEnd:
        """Take the newest compaction back and summarise once more with a focus; if that fails, it is as it
        was."""
        _, window = self.now()
        if window.boundary is None:
            raise EditRefused("there is no compaction to run again", "/compact makes one")
        mark = fate.mark_of(self.marks(), window.boundary.summary_id)
        if mark is None or mark.group is None:
            raise EditRefused("this compaction was imported: it cannot be taken back")
        await self._editor.undo(mark.group)
        end = await self._compactor.run(auto=False, overflow=False, focus=focus)
        if end is CompactionEnd.FINISHED:
            await self._editor.unlatch()
        else:
            await self._editor.redo(mark.group)
        return end

    def marks(self) -> tuple[fate.Mark, ...]:
        """Every boundary of the session."""
        state, _ = self.now()
        return fate.marks_of(state, self._ctx.engine.settings.preset)

    async def report(self, name: str = "") -> Report:
        """What a compaction did: by its name (C1), its summary's id, or the newest. Raises EditRefused."""
        ctx, settings = self._ctx, self._ctx.engine.settings
        state, window = self.now()
        mark = fate.mark_of(self.marks(), name)
        if mark is None:
            raise EditRefused(f"there is no compaction {name}" if name else "nothing was compacted yet")
        at = fate.moment(state, mark)
        wanted = at.wanted(settings)
        at = at.loaded(await ctx.services.store.outputs(wanted)) if wanted else at
        what = await self._weighed(lambda tally: fate.before_after(at, settings, tally))
        texts = await self._stored(what.archived, [p.id for e in what.archived for p in e.parts])
        summary = fate.current_summary(state, mark.summary_id, what.summary)
        gone = {entry.id for entry in what.archived}
        rest = (e for e in at.after.entries if e.id not in gone and e.id in what.after.live[2:])
        kept = [*_texts(rest), *(pin.text for pin in window.edits.pins)]
        fixed = [str(item.value) for item in what.after.items if item.message_id is None]
        tally = await ctx.engine.tally(ctx.profile)
        cleared = sum(tally.tokens(texts[id]) for id in what.cleared if id in texts)
        found = await asyncio.to_thread(
            coverage.cover, what.archived, summary, still_sent=[*kept, *fixed], texts=texts
        )
        return Report(
            what=what,
            coverage=found,
            summary=summary,
            promise=promise(await self._rows(), mark.summary_id),
            cleared_tokens=cleared,
        )

    async def health(self, view: ContextView) -> Health:
        """The invariants of the next request."""
        return health(view, self.now()[1], growth=self._ctx.engine.growth)

    async def _held(self) -> int:
        ctx = self._ctx
        return held_of(await self._rows(), model=ctx.profile.info.ref, now=ctx.services.clock())

    async def _rows(self) -> tuple[RequestRow, ...]:
        ctx = self._ctx
        rows = {row.id: row for row in await ctx.services.store.requests(ctx.session_id)}
        return tuple((rows | ctx.live.ledger).values())

    async def _weighed(self, make: Callable[[Tally], T]) -> T:
        """What `make` makes, with exact counts."""
        engine, profile = self._ctx.engine, self._ctx.profile
        tally = await engine.tally(profile)
        made = make(tally)
        while await engine.counted(profile, tally):
            made = make(tally)
        return made

    async def _stored(self, entries: Iterable[Entry], ids: Sequence[str]) -> dict[str, str]:
        return await self._ctx.services.store.outputs(left_in_store(entries, set(ids)))


def _pins(drafts: Sequence[Draft]) -> bool:
    return any(draft.kind is EditKind.PIN for draft in drafts)


def _texts(entries: Iterable[Entry]) -> list[str]:
    found = []
    for entry in entries:
        found.append(entry.text)
        for part in entry.parts:
            if isinstance(part, ToolPart) and isinstance(part.state, Completed):
                found.append(part.state.output)
    return found
