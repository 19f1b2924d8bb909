"""The picker of models at work: what it lists, and what is done with its answer."""

import asyncio
from typing import TYPE_CHECKING

from qiming_tui.context.fit import fit
from qiming_tui.model.errors import QimingError
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.sanitize import one_line
from qiming_tui.session.switching import switch_model
from qiming_tui.tui.model_rows import ModelLine
from qiming_tui.tui.screens.models import ModelsScreen
from qiming_tui.tui.source import Catalog

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.host import Host

READY_S = 60.0
"""As long as a local model may take to start."""
READY = "ready to use"
KEYLESS = "their provider's key is not set"


def lines_of(catalog: Catalog, *, count: int | None) -> tuple[ModelLine, ...]:
    """Those that can be asked first; `count`: tokens of the open session's window, None without one."""
    lines = [
        ModelLine(
            info,
            fit(info.limits, catalog.settings, count=count),
            READY if info.ref.provider in catalog.ready else KEYLESS,
        )
        for info in catalog.models
    ]
    return tuple(sorted(lines, key=lambda line: line.group != READY))


async def choose_model(
    app: "Host",
    catalog: Catalog,
    *,
    used: ModelRef | None = None,
    count: int | None = None,
    words: str = "",
) -> ModelRef | None:
    """Show the picker; the model that was taken. To be called from a worker of the app."""
    lines = await asyncio.to_thread(lines_of, catalog, count=count)
    return await app.push_screen_wait(ModelsScreen(lines, used=used, glyphs=app.main.glyphs, words=words))


async def pick_model(app: "Host", worker: "Worker", words: str) -> None:
    """Let the user pick another model for the open session; it is used from the next turn on."""
    ctx = worker.ctx
    used = ctx.profile.info.ref
    try:
        catalog = await app.source.catalog()
        view = await ctx.engine.view(ctx.profile)
        model = await choose_model(app, catalog, used=used, count=view.count, words=words)
        if model is None or model == used:
            return
        found = next(info for info in catalog.models if info.ref == model)
        words = fit(found.limits, catalog.settings, count=view.count).words

        async def job() -> None:
            app.main.prompt_bar.say(f"making {one_line(str(model))} ready", seconds_s=READY_S)
            try:
                await switch_model(ctx, worker.editor, model)
            finally:
                app.main.prompt_bar.say("")
            app.notify(
                f"{one_line(str(model))} from the next request on: {words}", title="model", markup=False
            )

        if worker.busy:
            app.main.prompt_bar.say(f"{one_line(str(model))} when this turn has ended")
        await worker.edit(job)
    except QimingError as error:
        app.tell(error)
