"""A session's title: asked of the model once, after the first turn; otherwise the prompt's first line."""

from typing import Final

from qiming_tui.context.state import Block
from qiming_tui.model.changes import PutSession
from qiming_tui.model.events import SessionUpdated
from qiming_tui.model.sanitize import clean
from qiming_tui.model.stream import Fault, RequestKind, StreamEvent, TextDelta
from qiming_tui.session.context import Context
from qiming_tui.session.live import Live
from qiming_tui.session.prompt import title_prompt
from qiming_tui.session.requests import Order

LONGEST: Final = 100
"""Characters of a title (conformance 3)."""

UNTITLED: Final = "Untitled"
"""Where neither the model nor the prompt gives one."""


class _Text:
    """Collects the answer's text."""

    def __init__(self) -> None:
        self.text = ""

    async def feed(self, event: StreamEvent) -> None:
        if isinstance(event, TextDelta):
            self.text += event.text

    async def reset(self, fault: Fault) -> None:
        self.text = ""


def shorten(text: str) -> str:
    """The first line that is not blank, without control characters, at most 100 characters."""
    line = next((line.strip() for line in clean(text)[0].splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def title_due(live: Live) -> bool:
    """Whether a session that has begun has no title yet."""
    begun = live.last_assistant is not None and any(entry.real_user for entry in live.entries)
    return not live.session.title and begun


async def make_title(ctx: Context) -> None:
    """Give an untitled session its title. A failed request leaves the prompt's first line as the title."""
    first = next((entry for entry in ctx.live.entries if entry.real_user), None)
    if ctx.live.session.title or first is None:
        return
    title = shorten(first.text) or UNTITLED
    if ctx.profile.titles:
        title = await _ask(ctx, first.text) or title
    await ctx.journal.commit(PutSession(ctx.live.replace_session(title=title)))
    ctx.publish(SessionUpdated(session=ctx.session_id, info=ctx.live.session))


async def _ask(ctx: Context, prompt: str) -> str:
    system = (Block(title_prompt(), "session/title.md"),)
    view = await ctx.engine.side_view(ctx.profile, system, prompt[:4000])
    sink = _Text()
    reply = await ctx.requests.send(
        Order(
            kind=RequestKind.TITLE,
            view=view,
            profile=ctx.profile,
            settings=ctx.engine.settings,
            message_id=lambda: None,
            repeat=False,
        ),
        sink,
    )
    return shorten(sink.text) if reply.fault is None else ""
