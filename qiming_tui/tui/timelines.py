"""The timeline in full at work: where its columns come from, and what is done with its answer."""

from typing import TYPE_CHECKING, Final

import msgspec
from textual import work

from qiming_tui.context.strip import turns_of
from qiming_tui.context.timeline import Column, columns_of
from qiming_tui.context.timeline_past import Past, rebuilt
from qiming_tui.context.timeline_share import Share, Weigher
from qiming_tui.context.timeline_words import texts_of
from qiming_tui.model.errors import InputError, NotFound
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.parts import Completed, ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.tui.commands import BY_ID
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.screens.timeline import TimelineScreen
from qiming_tui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.app import QimingApp

_WHY: Final = ("why", "inspect")
"""Commands that explain a step, the first that is there is taken."""


class Feed:
    """The columns of one session as they are now; what a request was made of is weighed once."""

    def __init__(self, worker: "Worker") -> None:
        self._worker = worker
        self._rows: dict[str, RequestRow] | None = None
        self._shares: dict[str, Share] = {}
        self._weigher = Weigher()
        self._unknown: set[str] = set()
        """Requests that ended and of which nothing is stored."""
        self._past: Past = ((), {})

    async def columns(self) -> tuple[Column, ...]:
        """All steps. Raises StoreError, ConfigError."""
        ctx = self._worker.ctx
        live = ctx.live
        if self._rows is None:
            stored = await ctx.services.store.requests(ctx.session_id)
            self._rows = {row.id: msgspec.structs.replace(row, manifest=()) for row in stored}
            self._weigh(stored)
            self._past = rebuilt(
                live.entries,
                live.edits,
                known=[row.message_id for row in stored],
                settings=ctx.engine.settings,
                limits=ctx.profile.info.limits,
            )
        self._rows |= live.ledger
        await self._weigh_new()
        rows, shares = self._past
        return columns_of(
            tuple(self._rows.values()),
            {**shares, **self._shares},
            live.edits,
            turns_of(live.entries),
            past=rows,
        )

    def _weigh(self, rows: list[RequestRow]) -> None:
        for row in rows:
            if row.kind is RequestKind.TURN and row.manifest and row.id not in self._shares:
                self._shares[row.id] = self._weigher.take(row.manifest)

    async def _weigh_new(self) -> None:
        """Weigh the requests that were made since."""
        assert self._rows is not None
        ctx = self._worker.ctx
        last = ctx.live.last_request
        for row in self._rows.values():
            if row.kind is not RequestKind.TURN or row.id in self._shares or row.id in self._unknown:
                continue
            if last is not None and last.id == row.id and last.manifest:
                self._weigh([last])
                continue
            try:
                self._weigh([await ctx.services.store.request(ctx.session_id, row.step)])
            except NotFound:
                continue  # not written yet
            if row.id not in self._shares:
                self._unknown.add(row.id)

    def texts(self) -> dict[str, str]:
        """What was said around each step."""
        return texts_of(self._worker.ctx.live.entries)


class Timeline(TimelineScreen):
    """The screen over a session: it follows what happens while it is open."""

    def __init__(
        self,
        app: "QimingApp",
        feed: Feed,
        columns: tuple[Column, ...],
        *,
        glyphs: Glyphs,
        place: int | None = None,
        words: str = "",
        as_table: bool = False,
    ) -> None:
        super().__init__(
            columns, glyphs=glyphs, texts=feed.texts, place=place, words=words, as_table=as_table
        )
        self._owner = app
        self._feed = feed

    def on_mount(self) -> None:
        """Follow the strip: it is told whenever there is another step."""
        super().on_mount()
        self.watch(self._owner.main.strip, "marks", self._changed, init=False)

    def _changed(self) -> None:
        self._again()

    @work(group="timeline", exclusive=True)
    async def _again(self) -> None:
        self.show(await self._feed.columns())


async def show_timeline(
    app: "QimingApp", worker: "Worker", *, step: int | None = None, words: str = "", as_table: bool = False
) -> None:
    """Open it: with the cursor on a ledger's step, searching for words, as a table. Raises QimingError."""
    feed = Feed(worker)
    columns = await feed.columns()
    place: int | None = None
    if step is not None:
        place = next((n for n, c in enumerate(columns) if c.mark.step == step and not c.rebuilt), None)
        if place is None:
            raise InputError(f"there is no step {step:,}", f"the last one is {len(columns):,}")

    async def chosen(answer: tuple[str, Column] | None) -> None:
        if answer is not None:
            _carry_out(app, worker, *answer)

    screen = Timeline(app, feed, columns, glyphs=app.main.glyphs, place=place, words=words, as_table=as_table)
    await app.push_screen(screen, chosen)


def _carry_out(app: "QimingApp", worker: "Worker", what: str, column: Column) -> None:
    """What the person wants with a step."""
    main, message_id = app.main, column.mark.message_id
    main.strip.cursor = None if column.rebuilt else column.mark.step
    if message_id is not None:
        main.conversation.go_to(message_id)
    if what == "jump":
        main.set_focus(main.conversation)
        return
    command = next((name for name in _WHY if name in BY_ID), "") if what == "why" else what
    argument = _about(worker, what, column)
    if command not in BY_ID or not argument:
        words = "nothing of this step can be " + {"clear": "cleared", "restore": "restored"}.get(
            what, "shown"
        )
        app.notify(words, severity="warning", markup=False)
        return
    app.post_message(Prompt.Called(BY_ID[command], argument))


def _about(worker: "Worker", what: str, column: Column) -> str:
    """What the command is told: the step's number, its message, or the results that it asked for."""
    message_id = column.mark.message_id or ""
    if what == "why":
        return message_id if column.rebuilt else str(column.mark.step)
    live = worker.ctx.live
    if what in ("clear", "restore") and live.has(message_id):
        parts = live.entry(message_id).parts
        return " ".join(p.id for p in parts if isinstance(p, ToolPart) and isinstance(p.state, Completed))
    return message_id
