"""How the first session comes: is the folder trusted, is there a model, does another process have it."""

from typing import TYPE_CHECKING

from qiming_tui.model.errors import GatewayError, InputError, NoModel, QimingError, SessionBusy
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tui.modelling import choose_model
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.screens.welcome import Way, WelcomeScreen

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.host import Host


async def first_session(app: "Host") -> "Worker | None":
    """The session to begin with; None: another process has it and it is looked at, or the program leaves."""
    try:
        await _settle_trust(app)
        return await _open(app)
    except SessionBusy:
        await _look_on(app)
    except QimingError as error:
        app.fail(error)
    return None


async def _settle_trust(app: "Host") -> None:
    """Once for each folder that has something to trust (`design.md` 8)."""
    papers = await app.source.untrusted()
    if not papers:
        return
    names = ", ".join(paper.name for paper in papers)
    trusted = await app.ask(
        "Trust this folder?",
        names,
        why="this would instruct the model and change settings here",
        detail="\n\n".join(clean(f"{paper.name}\n\n{paper.text.strip()}")[0] for paper in papers),
        yes="read it and follow it",
        no="do not read it",
    )
    await app.source.trust(trusted)


async def _open(app: "Host") -> "Worker | None":
    """Open it; as long as there is no model for it, offer what works. None: the user leaves."""
    model: ModelRef | None = None
    while True:
        try:
            return await app.source.open(model)
        except (NoModel, GatewayError) as error:
            model = await _choose(app, error)
        if model is None:
            return None
        app.main.show_status(PromptStatus(doing=f"making {one_line(str(model))} ready"))


async def _choose(app: "Host", error: QimingError) -> ModelRef | None:
    """The way that the user takes; None: it leads out of here."""
    offer = await app.source.offer(one_line(f"{error}: {error.hint}" if error.hint else str(error)))
    while True:
        way = await app.push_screen_wait(WelcomeScreen(offer, glyphs=app.main.glyphs))
        if way is Way.LOCAL:
            return offer.local
        if way is Way.MODELS:
            try:
                model = await choose_model(app, await app.source.catalog())
            except InputError as refused:
                app.tell(refused)
                continue
            if model is not None:
                return model
            continue
        app.leave_for(way)
        return None


async def _look_on(app: "Host") -> None:
    try:
        app.look_on(await app.source.watch(None))
    except QimingError as error:
        app.fail(error)
