"""The slash commands of the plain front end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from qiming_tui.cli.models import model_rows
from qiming_tui.cli.output import table
from qiming_tui.cli.plain_edits import edit, largest, tell_why
from qiming_tui.cli.start import Start
from qiming_tui.context.bar import Live, bar_data
from qiming_tui.context.report import report
from qiming_tui.runtime import Runtime
from qiming_tui.session.worker import Worker


@dataclass(kw_only=True)
class Conversation:
    """What a command works on."""

    runtime: Runtime
    worker: Worker
    say: Callable[[str, str], None]
    """Writes a labelled line."""
    start: Start
    adopt: Callable[[Worker], None]
    """Makes another worker the one that is talked to."""


@dataclass(frozen=True)
class Command:
    """A command: what it does, how it is written, and its line of help."""

    run: Callable[[Conversation, str], Awaitable[None]]
    usage: str
    help: str


async def _help(talk: Conversation, _: str) -> None:
    rows = [(command.usage, command.help) for command in COMMANDS.values()]
    talk.say("help", "\n".join(table([*rows, ("/quit", "leave; the session is kept")])))


async def _compact(talk: Conversation, focus: str) -> None:
    await talk.worker.compact(focus or None)


async def _context(talk: Conversation, _: str) -> None:
    """The text of `qiming context`, and the largest parts with the ids that `/clear` and `/pin` take."""
    ctx = talk.worker.ctx
    view = await ctx.engine.view(ctx.profile)
    data = bar_data(view, Live(step=ctx.live.step or None))
    heading = f"{ctx.live.session.title or 'new session'}  {view.params.model}"
    lines = [*report(data, view, heading=heading), "", *largest(view, ctx.live.entries)]
    talk.say("context", "\n".join(lines).rstrip())


def _edit(name: str) -> Callable[[Conversation, str], Awaitable[None]]:
    async def run(talk: Conversation, words: str) -> None:
        await edit(talk.worker, talk.say, name, words)

    return run


async def _why(talk: Conversation, words: str) -> None:
    await tell_why(talk.worker, talk.say, words)


async def _new(talk: Conversation, _: str) -> None:
    ctx = talk.worker.ctx
    directory = talk.start.directory
    worker = await talk.runtime.new_session(directory, ctx.profile.info.ref)
    talk.adopt(worker)
    talk.say("session", f"{worker.ctx.session_id}, a new one; the old one is kept: {ctx.session_id}")


async def _models(talk: Conversation, words: str) -> None:
    rows = model_rows(talk.runtime.config, words)
    if not rows:
        talk.say("models", f"no model matches {words!r}")
        return
    talk.say("models", "\n".join(table(rows[:40], right=frozenset({1, 2, 3}))))


async def _prune(talk: Conversation, _: str) -> None:
    await talk.worker.prune()


async def _undo(talk: Conversation, _: str) -> None:
    async def job() -> None:
        group = await talk.worker.editor.undo()
        talk.say("edit", f"{group.name} is undone; /redo brings it back{_latched(talk)}")

    await talk.worker.edit(job)


def _latched(talk: Conversation) -> str:
    """After an undo nothing is summarised by itself until the user chooses (`data.md` 3)."""
    if not talk.worker.ctx.live.session.latched:
        return ""
    return ". Automatic compaction stays off until then, or until /compact"


async def _redo(talk: Conversation, _: str) -> None:
    async def job() -> None:
        group = await talk.worker.editor.redo()
        talk.say("edit", f"{group.name} is in force again")

    await talk.worker.edit(job)


async def _steer(talk: Conversation, text: str) -> None:
    if text:
        await talk.worker.steer(text)


async def _send(talk: Conversation, _: str) -> None:
    if not talk.worker.ctx.live.queue:
        talk.say("queue", "nothing waits to be sent")
    talk.worker.resume()


COMMANDS: Final[dict[str, Command]] = {
    "compact": Command(_compact, "/compact [focus]", "summarise the history now; keep the focus in mind"),
    "context": Command(_context, "/context", "what fills the window, class by class, and the arithmetic"),
    "prune": Command(_prune, "/prune", "clear old tool results now"),
    "clear": Command(_edit("clear"), "/clear PART...", "send placeholders instead of these results"),
    "restore": Command(_edit("restore"), "/restore PART...", "send them in full again"),
    "pin": Command(_edit("pin"), "/pin PART...", "keep them in every request, whatever is summarised"),
    "unpin": Command(_edit("unpin"), "/unpin [PART...]", "let go of these pins, or of all"),
    "why": Command(_why, "/why [STEP]", "what decided at a step, and why nothing happened"),
    "undo": Command(_undo, "/undo", "take back the newest edit or compaction"),
    "redo": Command(_redo, "/redo", "bring back what was undone"),
    "steer": Command(_steer, "/steer TEXT", "say something to the turn that is under way"),
    "send": Command(_send, "/send", "send what was queued and held"),
    "new": Command(_new, "/new", "begin a new session in this folder"),
    "models": Command(_models, "/models [words]", "models with limits and what may be used of them"),
    "help": Command(_help, "/help", "this list"),
}
"""Commands by name, in the order of the help."""
