"""Short ways to make histories, items and limits for the tests of the engine."""

from typing import Any

import msgspec

from qiming_tui.context.state import Measured, SessionState, Window, WindowEdits
from qiming_tui.context.tokens import Tally
from qiming_tui.model.codec import canonical, digest
from qiming_tui.model.edits import Edit, EditKind, Switch
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import AssistantMessage, Created, Entry, Lifetime, MessageError, UserMessage
from qiming_tui.model.parts import (
    Attachment,
    CompactionPart,
    Completed,
    Failed,
    Part,
    Running,
    Span,
    StoredOutput,
    TextPart,
    ToolPart,
)
from qiming_tui.model.usage import NO_TOKENS, Tokens, Usage, tokens_of
from qiming_tui.model.window import Item, ItemState, Klass

SES = "ses_1"
MODEL = ModelRef("openai", "m")


def M(context: int, output: int, input: int | None = None) -> Limits:
    """Limits in the order of the conformance page."""
    return Limits(context, input, output)


def text(id: str, message: str, words: str, *, synthetic: bool = False) -> TextPart:
    return TextPart(id=id, session_id=SES, message_id=message, text=words, synthetic=synthetic)


def user(id: str, words: str = "hello", *, synthetic: bool = False) -> Entry:
    info = UserMessage(id=id, session_id=SES, time=Created(created=0))
    return Entry(info, (text(f"{id}.t", id, words, synthetic=synthetic),))


def asks_summary(id: str, *, auto: bool = True) -> Entry:
    info = UserMessage(id=id, session_id=SES, time=Created(created=0))
    return Entry(info, (CompactionPart(id=f"{id}.c", session_id=SES, message_id=id, auto=auto),))


def assistant(
    id: str,
    *parts: Part,
    words: str = "",
    parent: str = "u1",
    finish: str | None = "stop",
    summary: bool = False,
    usage: Usage | None = None,
    error: str | None = None,
    model: ModelRef = MODEL,
) -> Entry:
    tokens: Tokens = NO_TOKENS if usage is None else tokens_of(usage)
    info = AssistantMessage(
        id=id,
        session_id=SES,
        parent_id=parent,
        cost=0,
        tokens=tokens,
        model_id=model.model,
        provider_id=model.provider,
        time=Lifetime(created=0, completed=1),
        finish=finish,
        summary=summary,
        error=None if error is None else MessageError(name=error),
    )
    said = (text(f"{id}.t", id, words),) if words else ()
    return Entry(info, (*said, *parts))


def tool(
    id: str,
    output: str = "",
    *,
    name: str = "bash",
    message: str = "",
    cleared: bool = False,
    images: int = 0,
    units: int | None = None,
) -> ToolPart:
    """A completed tool part; `units` makes it one whose output was left in the store."""
    state = Completed(
        input={},
        output=output if units is None else "",
        time=Span(start=0, end=1, compacted=2 if cleared else None),
        attachments=tuple(
            Attachment(mime="image/png", url="data:image/png;base64,AAAA") for _ in range(images)
        ),
        stored=None if units is None else StoredOutput(bytes=units, units=units, sha256="0" * 64),
    )
    return ToolPart(id=id, session_id=SES, message_id=message, call_id=f"call_{id}", tool=name, state=state)


def running(id: str) -> ToolPart:
    return msgspec.structs.replace(tool(id), state=Running(input={}, time=Span(start=0)))


def failed(id: str) -> ToolPart:
    return msgspec.structs.replace(tool(id), state=Failed(input={}, error="no"))


def in_order(*entries: Entry) -> tuple[Entry, ...]:
    """The entries with their places in the stored order."""
    return tuple(msgspec.structs.replace(entry, seq=seq) for seq, entry in enumerate(entries))


def live(*entries: Entry, **more: Any) -> Window:
    """A window that holds just these, in this order."""
    values: dict[str, Any] = {"archived": (), "boundary": None, "edits": WindowEdits(), **more}
    return Window(live=in_order(*entries), **values)


def learnt(texts: dict[str, int], calibration: float = 1.0) -> Tally:
    """A tally that knows these counts."""
    tally = Tally(calibration=calibration)
    tally.learn(list(texts), list(texts.values()))
    return tally


def item(
    key: str, tokens: int, klass: Klass = Klass.USER, *, message: str | None = None, value: str = ""
) -> Item:
    body = {"role": "user", "content": value or key}
    return Item(
        key=key,
        group=message or key,
        value=body,
        blob=digest(canonical(body)),
        message_id=message,
        part_id=None,
        klass=klass,
        tokens=tokens,
    )


def manifest(*items: Item) -> tuple[ManifestRow, ...]:
    return tuple(
        ManifestRow(
            i.blob,
            i.key,
            i.group,
            i.message_id,
            i.part_id,
            i.klass,
            ItemState.SENT,
            False,
            i.tokens,
            i.basis,
            "",
        )
        for i in items
    )


def state(limits: Limits, *entries: Entry, measured: Measured | None = None, **more: Any) -> SessionState:
    return SessionState(entries=in_order(*entries), model=MODEL, limits=limits, measured=measured, **more)


def edit(seq: int, group: str, kind: EditKind, *targets: str, by: str = "user", **params: Any) -> Edit:
    return Edit(
        id=f"e{seq}",
        session_id=SES,
        seq=seq,
        group=group,
        kind=kind,
        targets=targets,
        params=params,
        by=by,
        at=seq,
    )


def off(seq: int, group: str) -> Switch:
    return Switch(id=f"e{seq}", session_id=SES, seq=seq, group=group, on=False, at=seq)


def on(seq: int, group: str) -> Switch:
    return Switch(id=f"e{seq}", session_id=SES, seq=seq, group=group, on=True, at=seq)
