"""What is too large to be said: refused before it is stored, with the numbers (cases C-019)."""

from typing import Final

from qiming_tui.context.view import FIXED
from qiming_tui.model.errors import InputError
from qiming_tui.model.window import ContextView, Preset
from qiming_tui.session.context import Context

MIN_ANSWER: Final = 256
"""Tokens that an answer needs at least."""


def fixed_tokens(view: ContextView) -> int:
    """Tokens of what every request holds, whatever was said."""
    return sum(view.by_class.get(klass, 0) for klass in FIXED)


async def check_size(ctx: Context, text: str) -> None:
    """Raise InputError for a message that no summary of what was said before could make fit.

    Only under `guarded`, where the window is known. Texts below a quarter of the window are not counted: a
    token is a byte at least.
    """
    limits = ctx.profile.info.limits
    if ctx.engine.settings.preset is not Preset.GUARDED or not limits.known:
        return
    if 4 * len(text.encode("utf-8", "surrogatepass")) < limits.window:
        return
    tokens = await ctx.engine.count_text(ctx.profile, text)
    fixed = fixed_tokens(await ctx.engine.view(ctx.profile))
    if tokens + fixed + MIN_ANSWER <= limits.window:
        return
    raise InputError(
        f"This message is ~{tokens:,} tokens and the fixed prompt ~{fixed:,}: "
        f"together they do not fit the window of {limits.window:,}.",
        "It was not sent. Shorten it, name a file instead of pasting it, or choose a model with more room.",
    )
