"""Commands that act on the window: each an edit whose price and dry run are shown before it is made."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from qiming_tui.context import acts
from qiming_tui.context.acts import Drafts
from qiming_tui.context.dryrun import Preview
from qiming_tui.context.facts import handle_of
from qiming_tui.context.forecast import forecast, trust
from qiming_tui.context.strip import turns_of
from qiming_tui.model.errors import EditRefused, InputError, QimingError
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.sanitize import clean
from qiming_tui.session.acting import Acting
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.acts.window import WindowActions
from qiming_tui.tui.screens.act import ActScreen, SummaryScreen
from qiming_tui.tui.screens.before_after import BeforeAfterScreen, Wish
from qiming_tui.tui.widgets.conversation.wishes import parts_of

Make = Callable[[Acting], Awaitable[Drafts]]
KEEP: Final = 2
"""Turns that `/keep` keeps when it is not told."""


class EditActions(Family):
    """Clear, restore, pin, clip, compact above here, edit a summary, look at what a compaction did."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does. The argument of one that is about a result or message: its ids, a path
        or command, `T3` for a turn; nothing: the block under the conversation's cursor."""
        return {
            "clear": self._clear,
            "restore": self._restore,
            "pin": self._pin,
            "unpin": self._unpin,
            "suggested": self._suggested,
            "clip": self._clip,
            "dry": self._dry,
            "above": self._above,
            "keep": self._keep,
            "summary": self._summary,
            "again": self._again,
            "fate": self._fate,
            "health": self._health,
        }

    # -- edits of parts ----------------------------------------------------------------------------------

    async def _clear(self, what: str) -> None:
        ids = self._ids(what)
        await self._propose("Clear", lambda acting: _ready(acts.clear(acting.now()[1], ids)))

    async def _restore(self, what: str) -> None:
        ids = self._ids(what)
        await self._propose("Restore", lambda acting: _ready(acts.restore(acting.now()[1], ids)))

    async def _pin(self, what: str) -> None:
        ids = self._ids(what)
        await self._propose("Pin", lambda acting: acting.pin(ids))

    async def _unpin(self, what: str) -> None:
        ids = self._ids(what) if what or self._app.main.conversation.selected is not None else ()
        await self._propose("Unpin", lambda acting: _ready(acts.unpin(acting.now()[1], ids)))

    async def _suggested(self, _: str) -> None:
        await self._propose("Clear what is suggested", lambda acting: acting.suggested())

    async def _clip(self, _: str) -> None:
        await self._propose("Clear old call arguments", lambda acting: _ready(acts.clip_old(*acting.now())))

    # -- compactions and their summaries -----------------------------------------------------------------

    async def _dry(self, focus: str) -> None:
        await self._propose_compaction(focus, None)

    async def _above(self, what: str) -> None:
        acting = self._worker().acting
        state, window = acting.now()
        wanted = self._ids(what)[0]
        message = next(
            (e.id for e in state.entries if wanted == e.id or any(wanted == p.id for p in e.parts)), ""
        )
        await self._propose_compaction("", acts.turns_kept(state, window, message))

    async def _keep(self, number: str) -> None:
        if number and not number.isdecimal():
            raise InputError(f"{number!r} is no number of turns", "/keep 2")
        turns = int(number) if number else KEEP
        window = self._worker().acting.now()[1]
        await self._propose_compaction("", acts.check_keep(window, turns))

    async def _summary(self, _: str) -> None:
        acting = self._worker().acting
        window = acting.now()[1]
        if window.boundary is None:
            raise EditRefused("there is no summary to edit", "/compact writes one")
        report = await acting.report(window.boundary.summary_id)
        old = clean(report.summary)[0]

        async def written(text: str | None) -> None:
            if text is None or text == old:
                return
            await self._told(
                self._propose("Edit the summary", lambda a: _ready(acts.edit_summary(a.now()[1], text)))
            )

        await self._app.push_screen(SummaryScreen(old, name=report.what.mark.name), written)

    async def _again(self, focus: str) -> None:
        worker = self._worker()

        async def job() -> None:
            end = await worker.acting.again(focus)
            self._app.notify(end.sentence, title="compacted again", markup=False)

        await worker.edit(job)

    async def _fate(self, name: str) -> None:
        worker = self._worker()
        report = await worker.acting.report(name)
        view = await worker.ctx.engine.view(worker.ctx.profile)
        health = await worker.acting.health(view)

        async def wished(wish: Wish | None) -> None:
            if wish is not None:
                await self._told(self._carry_out(wish))

        screen = BeforeAfterScreen(
            report, health, glyphs=self._app.main.glyphs, title=worker.ctx.live.session.title
        )
        await self._app.push_screen(screen, wished)

    async def _carry_out(self, wish: Wish) -> None:
        match wish.do:
            case "go":
                self._app.main.conversation.go_to(wish.message_id)
                self._app.main.set_focus(self._app.main.conversation)
            case "pin" if wish.text:
                drafts = acts.pin_text(wish.target, wish.text, wish.source)
                await self._propose("Put back as a pin", lambda acting: _ready(drafts))
            case "pin":
                await self._pin(wish.target)
            case "edit":
                await self._summary("")
            case "again":
                self._app.main.prompt_bar.write("/again ")
                self._app.main.set_focus(self._app.main.prompt_bar.prompt)
            case "undo":
                await WindowActions(self._app).commands()["undo"](wish.target)
            case "other":
                await self._fate(wish.target)

    async def _health(self, _: str) -> None:
        worker = self._worker()
        ctx = worker.ctx
        view = await ctx.engine.view(ctx.profile)
        rows = tuple(ctx.live.ledger.values())
        lasts = forecast(view, rows, turn=ctx.engine.growth)
        honest = trust(ctx.engine.measured_row, await ctx.engine.calibration(ctx.profile))
        found = await worker.acting.health(view)
        self._app.notify(
            "\n".join((found.words, lasts.words, honest.words)),
            title="health and forecast",
            severity="information" if found.good else "error",
            timeout=20,
            markup=False,
        )

    # -- how an edit is made -----------------------------------------------------------------------------

    async def _propose(self, title: str, make: Make) -> None:
        """Show what an edit would do; make it when that is wanted, between two turns."""
        worker = self._worker()

        async def job() -> None:
            await worker.acting.apply(await make(worker.acting))
            view = await worker.ctx.engine.view(worker.ctx.profile)
            found = await worker.acting.health(view)
            words = f"{title}: done, ^X u takes it back\n{found.words}"
            self._app.notify(words, severity="information" if found.good else "error", markup=False)

        preview = await worker.acting.preview(title, await make(worker.acting))
        await self._confirm(preview, lambda: worker.edit(job))

    async def _propose_compaction(self, focus: str, keep_turns: int | None) -> None:
        worker = self._worker()
        preview = await worker.acting.compaction(focus, keep_turns)
        await self._confirm(preview, lambda: worker.compact(focus or None, keep_turns=keep_turns))

    async def _confirm(self, preview: Preview, do: Callable[[], Awaitable[None]]) -> None:
        async def answered(yes: bool | None) -> None:
            if yes:
                await self._told(do())

        await self._app.push_screen(ActScreen(preview, glyphs=self._app.main.glyphs), answered)

    async def _told(self, done: Awaitable[None]) -> None:
        """Await it; a refusal is told."""
        try:
            await done
        except QimingError as error:
            self._app.tell(error)

    def _ids(self, what: str) -> tuple[str, ...]:
        """Ids of the parts or messages that are meant. Raises InputError where nothing is."""
        entries = self._worker().ctx.live.entries
        if not what:
            block = self._app.main.conversation.selected
            if block is None:
                raise InputError("what is meant?", "choose a row of the conversation, or name a path")
            return parts_of(block) or (block.message_id,)
        known = {entry.id for entry in entries} | {part.id for entry in entries for part in entry.parts}
        words = tuple(what.replace(",", " ").split())
        if all(word in known for word in words):
            return words
        if what[:1] in "tT" and what[1:].isdecimal():
            turns = turns_of(entries)
            found = next((e.id for e in entries if e.real_user and turns[e.id] == int(what[1:])), None)
            if found is not None:
                return (found,)
        for entry in reversed(entries):
            for part in reversed(entry.parts):
                if isinstance(part, ToolPart) and _about(handle_of(part), what):
                    return (part.id,)
        raise InputError(f"nothing in the session is about {what!r}")


def _about(handle: str, what: str) -> bool:
    return bool(handle) and (handle == what or handle.endswith(f"/{what}"))


def _ready(drafts: Drafts) -> Awaitable[Drafts]:
    future: asyncio.Future[Drafts] = asyncio.get_running_loop().create_future()
    future.set_result(drafts)
    return future
