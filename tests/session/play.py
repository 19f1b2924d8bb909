"""What the tests of compaction share: planted sessions, a model that answers titles itself, next bodies."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from qiming_tui.context.assemble import assemble
from qiming_tui.context.tokens import Tally
from qiming_tui.context.weigh import recount
from qiming_tui.model import events as e
from qiming_tui.model.changes import Change, PutEdit, PutMessage, PutPart, PutSession
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.edits import EditKind, EditRecord
from qiming_tui.model.limits import Limits
from qiming_tui.model.messages import Entry, Session, SessionTime, entry_to_raw
from qiming_tui.model.stream import Request, RequestKind
from qiming_tui.model.window import Preset, Settings
from qiming_tui.store.store import Store
from tests.context import short
from tests.session.harness import REF, Model, Rig, Script, Ticks, limits, say, used

OPENCODE = Settings(preset=Preset.OPENCODE)
QIMING = Settings(preset=Preset.QIMING)
ASKS = "What did we do so far?"
CONTINUE = (
    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."
)


class Play(Model):
    """A model whose scripts are for turns only: titles get an answer of their own."""

    def next_script(self, request: Request) -> Sequence[Any]:
        return say("A title") if request.kind is RequestKind.TITLE else super().next_script(request)


def M(context: int, output: int = 500, input: int | None = None) -> Limits:
    """Limits in the order of the conformance page."""
    return limits(context, output, input)


def words(tokens: int, name: str = "word") -> str:
    """A text of so many tokens for the counter of these tests."""
    return (f"{name} " * tokens)[: tokens * 4]


def turns(*answers: tuple[str, int]) -> list[Any]:
    """Scripts of plain answers: (text, total tokens as reported)."""
    return [say(text, used(total - 10, 10)) for text, total in answers]


def size(body: dict[str, JSON]) -> int:
    """Tokens of a request by the counter of these tests."""
    tally = Tally("o200k_base")
    recount(body, tally)
    texts = list(tally.missing.values())
    tally.learn(texts, [(len(text) + 2) // 4 for text in texts])
    return recount(body, tally)


def real(text: str, *, more: int = 0, events: Sequence[Any] | None = None) -> Script:
    """An answer whose usage is what the request and the text have; `more` tokens that only the provider
    counts. `events` instead of the text, with its usage put in before the end."""

    def script(request: Request) -> Sequence[Any]:
        usage = used(size(request.body) + more, max(1, (len(text) + 2) // 4))
        return say(text, usage) if events is None else [*events[:-1], usage, events[-1]]

    return script


async def plant(
    folder: Path, *entries: Entry, edits: Sequence[EditRecord] = (), title: str = "planted"
) -> str:
    """Write a session into the store that `session(folder, ...)` will open; returns its id. Entries come
    from `tests.context.short`; answers are the working model's."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    info = Session(
        id=short.SES,
        directory=str(project.resolve()),
        title=title,
        time=SessionTime(created=1, updated=1),
        model={"providerID": REF.provider, "id": REF.model},
    )
    changes: list[Change] = [PutSession(info)]
    for seq, entry in enumerate(entries):
        changes.append(PutMessage(entry.info, seq))
        changes += [PutPart(part, index) for index, part in enumerate(entry.parts)]
    changes += [PutEdit(record) for record in edits]
    store = Store.open(str(folder / "store.db"), clock=Ticks())
    await store.apply(changes)
    store.close()
    return info.id


def answer(id: str, text: str, **more: Any) -> Entry:
    """An answer of the working model."""
    return short.assistant(id, words=text, model=REF, **more)


async def next_body(rig: Rig) -> dict[str, JSON]:
    """The next request, as it would be sent now."""
    view = await rig.worker.ctx.engine.view(rig.worker.ctx.profile)
    return assemble(view.params, view.items)


async def next_messages(rig: Rig) -> list[dict[str, JSON]]:
    """The messages of the next request, without the system prompt."""
    return [message for message in (await next_body(rig))["messages"] if message["role"] != "system"]


def spoken(body: dict[str, JSON]) -> list[str]:
    """The messages of a request in a word each: what is said, `call NAME`, `result TEXT`."""
    out = []
    for message in body["messages"]:
        if message["role"] == "system":
            continue
        text = message.get("content") or ""
        if isinstance(text, list):
            text = "\n".join(block.get("text", block["type"]) for block in text)
        if message["role"] == "tool":
            text = f"result {text}"
        calls = [f"call {each['function']['name']}" for each in message.get("tool_calls", ())]
        out.append(" + ".join([*([text] if text else []), *calls]))
    return out


async def said(rig: Rig) -> list[str]:
    """`spoken` of the next request."""
    return spoken(await next_body(rig))


async def stored(rig: Rig) -> bytes:
    """Every message, part and edit of the session in the store, as bytes."""
    record = await rig.runtime.store.load(rig.live.session.id)
    edits = [repr(edit) for edit in record.edits]
    return canonical({"entries": [entry_to_raw(entry) for entry in record.entries], "edits": edits})


async def do(rig: Rig, job: Any) -> Any:
    """Run an async callable between two turns; returns its result or raises what it raised."""
    out: list[Any] = []

    async def wrapped() -> None:
        try:
            out.append(await job())
        except Exception as error:
            out.append(error)

    await rig.worker.edit(wrapped)
    await rig.idle()
    if isinstance(out[0], Exception):
        raise out[0]
    return out[0]


async def until(rig: Rig, seen: Callable[[e.Event], bool]) -> None:
    """Return when an event like this has come."""
    more = asyncio.Event()
    stop = rig.worker.ctx.bus.listen(lambda _: more.set())
    async with asyncio.timeout(20):
        while not any(seen(event) for event in rig.events):
            more.clear()
            await more.wait()
    stop()


async def undo(rig: Rig, group: str | None = None) -> Any:
    return await do(rig, lambda: rig.worker.editor.undo(group))


async def redo(rig: Rig, group: str | None = None) -> Any:
    return await do(rig, lambda: rig.worker.editor.redo(group))


async def edit(rig: Rig, kind: EditKind, *targets: str, **params: Any) -> Any:
    """One edit of the user's."""
    editor = rig.worker.editor
    return await do(rig, lambda: editor.apply(editor.edit(kind, targets, params=params)))


async def compact(rig: Rig, focus: str | None = None) -> None:
    await rig.worker.compact(focus)
    await rig.idle()


async def compact_as(rig: Rig, *, auto: bool, overflow: bool) -> Any:
    """A compaction as the loop orders it, without the loop."""
    return await do(rig, lambda: rig.worker.compactor.run(auto=auto, overflow=overflow))


def ends(rig: Rig) -> list[tuple[str, str]]:
    """How the compactions ended: (phase, reason)."""
    return [(event.phase, event.reason) for event in rig.of(e.CompactionEnded)]


def reasons(rig: Rig) -> list[str]:
    """How the turns ended."""
    return [event.reason for event in rig.of(e.TurnFinished)]


def summaries(rig: Rig) -> list[dict[str, JSON]]:
    """The summary requests that were sent."""
    return rig.model.sent(RequestKind.SUMMARY)
