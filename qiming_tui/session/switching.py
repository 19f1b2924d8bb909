"""Another model for a session that is open, between two turns: the same worker, history, edits and pins."""

from qiming_tui.context.budget import bound
from qiming_tui.model.changes import PutSession
from qiming_tui.model.events import SessionUpdated
from qiming_tui.model.limits import ModelRef
from qiming_tui.session.context import Context
from qiming_tui.session.editor import Editor


async def switch_model(ctx: Context, editor: Editor, model: ModelRef) -> None:
    """Go on with another model from the next request on. Choosing one ends a pause of automatic compaction
    (`data.md` 3, end).

    Raises, before anything is changed, InputError for a model that cannot be used, GatewayError if it cannot
    be started, ConfigError where its limits have no room for the reserve.
    """
    profile = await ctx.services.resolve(model)
    bound(profile.info.limits, ctx.services.settings)
    session = ctx.live.replace_session(model={"providerID": model.provider, "id": model.model})
    await ctx.journal.commit(PutSession(session))
    ctx.profile = profile
    ctx.engine.forget_refusal()  # it was the other model's
    ctx.publish(SessionUpdated(session=ctx.session_id, info=session))
    await editor.unlatch()
