"""The session picker at work: what it lists, and what is done with its answer."""

from typing import TYPE_CHECKING, Final

import msgspec
from textual import on

from qiming_tui.model.changes import PutSession
from qiming_tui.model.errors import QimingError, SessionBusy
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tui.presenter import short_folder
from qiming_tui.tui.screens.sessions import SessionChoice, SessionsScreen

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.app import QimingApp

MOST: Final = 200
"""Sessions that are listed."""


class Sessions(SessionsScreen):
    """The picker over a store: searches contents and renames as it is asked to."""

    worker: "Worker"

    @on(SessionsScreen.Searched)
    async def _search_store(self, message: SessionsScreen.Searched) -> None:
        hits = await self.worker.ctx.services.store.search(message.words)
        found: dict[str, str] = {}
        for hit in hits:
            found.setdefault(hit.session_id, one_line(hit.snippet))
        self.show_found(message.words, found)

    @on(SessionsScreen.Renamed)
    async def _rename_stored(self, message: SessionsScreen.Renamed) -> None:
        ctx = self.worker.ctx
        title = one_line(message.title, limit=100)
        if message.session_id == ctx.session_id:
            await ctx.journal.commit(PutSession(ctx.live.replace_session(title=title)))
            return
        store = ctx.services.store
        try:
            stored = await store.session(message.session_id)
            await store.apply([PutSession(msgspec.structs.replace(stored, title=title))])
        except QimingError as error:
            self.notify(clean(f"{error}\n{error.hint}".strip())[0], severity="error", markup=False)


async def pick_session(app: "QimingApp", worker: "Worker", words: str = "") -> None:
    """Show the picker; open, make or delete what was chosen."""
    ctx = worker.ctx
    directory = ctx.live.session.directory
    screen = Sessions(
        await ctx.services.store.sessions(limit=MOST),
        here=directory,
        here_name=short_folder(directory),
        live=ctx.session_id,
        clock=ctx.services.clock,
        glyphs=app.main.glyphs,
        words=words,
    )
    screen.worker = worker

    async def done(choice: SessionChoice | None) -> None:
        if choice is None:
            return
        try:
            for session_id in choice.deleted:
                if session_id != ctx.session_id:
                    await ctx.services.store.delete(session_id)
            if choice.new:
                app.adopt(await app.source.new())
            elif choice.open is not None and choice.open != ctx.session_id:
                await _open(app, choice.open)
        except QimingError as error:
            app.tell(error)

    await app.push_screen(screen, done)


async def _open(app: "QimingApp", session_id: str) -> None:
    """Go on with a session, or look on while another process writes it."""
    try:
        app.adopt(await app.source.switch(session_id))
    except SessionBusy:
        app.look_on(await app.source.watch(session_id))
