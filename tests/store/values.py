"""Small values for the tests of the store."""

from collections.abc import Sequence
from typing import Any

from qiming_tui.model.changes import Change, PutMessage, PutPart, PutSession
from qiming_tui.model.codec import canonical, digest
from qiming_tui.model.ledger import ManifestRow, Outcome, RequestRow, Times
from qiming_tui.model.limits import Limits
from qiming_tui.model.limits import ModelRef as Ref
from qiming_tui.model.messages import AssistantMessage, Created, Lifetime, Session, SessionTime, UserMessage
from qiming_tui.model.parts import Completed, Part, Span, TextPart, ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import ItemState, Klass, Preset, RequestParams, State, Verdict

S = "ses_a"
NOW = 1_700_000_000_000


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def session(id: str = S, *, updated: int = NOW, **fields: Any) -> Session:
    return Session(id=id, time=SessionTime(created=NOW, updated=updated), **fields)


def user(id: str = "msg_u", session_id: str = S, at: float = NOW) -> UserMessage:
    return UserMessage(id=id, session_id=session_id, time=Created(created=at))


def answer(
    id: str = "msg_s", session_id: str = S, *, done: int | None = NOW, **fields: Any
) -> AssistantMessage:
    return AssistantMessage(
        id=id,
        session_id=session_id,
        parent_id=fields.pop("parent", "msg_u"),
        cost=0,
        model_id="m",
        provider_id="p",
        time=Lifetime(created=NOW, completed=done),
        **fields,
    )


def text(id: str, words: str, message: str = "msg_u", session_id: str = S, **fields: Any) -> TextPart:
    return TextPart(id=id, session_id=session_id, message_id=message, text=words, **fields)


def tool(
    id: str, output: str = "out", message: str = "msg_u", session_id: str = S, **fields: Any
) -> ToolPart:
    """A completed call, or one with the `state` that is given."""
    state = fields.pop("state", None) or Completed(
        input={"path": "a.py"},
        output=output,
        time=Span(start=1, end=2, compacted=fields.pop("compacted", None)),
    )
    own = {"id": id, "session_id": session_id, "message_id": message}
    return ToolPart(**own, call_id=f"call_{id}", tool="read", state=state)


def talk(parts: Sequence[Part] = (), *, id: str = S, message: str = "msg_u", **fields: Any) -> list[Change]:
    """A session with one user message that holds these parts."""
    first: list[Change] = [PutSession(session(id, **fields)), PutMessage(user(message, id), 0)]
    return first + [PutPart(part, seq) for seq, part in enumerate(parts)]


def blob(value: object) -> tuple[str, bytes]:
    """A hash with its bytes."""
    data = canonical(value)
    return digest(data), data


def item(name: str, *, tokens: int = 10, words: str = "", state: ItemState = ItemState.SENT) -> ManifestRow:
    """A line of a manifest."""
    return ManifestRow(
        blob(words or name)[0],
        name,
        "g",
        "msg_u",
        name,
        Klass.USER,
        state,
        False,
        tokens,
        Basis.MEASURED,
        "user",
    )


VERDICT = Verdict(
    preset=Preset.GUARDED,
    count=50,
    basis=Basis.PREDICTED,
    usable=100,
    reserved=10,
    max_output=10,
    overflow=False,
    percent=50,
    over_by=0,
    state=State.OK,
    auto=True,
    arithmetic="50 of 100",
    limits=Limits(110, None, 10),
)


def request(
    step: int, manifest: Sequence[ManifestRow] = (), session_id: str = S, **fields: Any
) -> RequestRow:
    """A ledger row of one step."""
    values: dict[str, Any] = {
        "id": f"req_{session_id}_{step:05}",
        "session_id": session_id,
        "message_id": "msg_s",
        "step": step,
        "seq": step,
        "kind": RequestKind.TURN,
        "model": "p/m",
        "limits": VERDICT.limits,
        "preset": "guarded",
        "policy": "prune+summary",
        "reserved": 10,
        "tokenizer": "o200k_base",
        "calibration": 1.0,
        "manifest": tuple(manifest),
        "params": RequestParams(model=Ref("p", "m"), max_tokens=10),
        "view_hash": "0" * 64,
        "prefix_hash": "1" * 64,
        "verdict": VERDICT,
        "outcome": Outcome.OK,
        "times": Times(queued=NOW),
    }
    return RequestRow(**{**values, **fields})
