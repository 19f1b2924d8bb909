"""From an open ask of the session to what the panel says: the price of the result, why it asks, its time."""

from typing import TYPE_CHECKING

from qiming_tui.context.result_price import result_price
from qiming_tui.model.codec import JSON
from qiming_tui.model.events import PermissionAsked
from qiming_tui.model.parts import Running, ToolPart
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.model.window import ContextView
from qiming_tui.tui.asking import Question

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker


def question_of(
    event: PermissionAsked, worker: "Worker", view: ContextView | None, *, folder: str
) -> Question:
    """What is asked, with all that helps to answer; `view`: the window as it was shown last."""
    live = worker.ctx.live
    ask = worker.gate.open_requests.get(event.request_id)
    always = ", ".join(rule.partition(":")[2] or rule for rule in ask.always) if ask is not None else ""
    arguments = _arguments(worker, event)
    command = arguments.get("command")
    priced = None
    if view is not None:
        text = command if isinstance(command, str) else ""
        priced = result_price(view, live.entries, tool=event.tool, command=text)
    return Question(
        request_id=event.request_id,
        tool=one_line(event.tool),
        command=one_line(event.title),
        detail=clean(event.detail)[0],
        why=one_line(worker.gate.why(event.request_id), limit=72),
        folder=folder,
        always=one_line(always, limit=60),
        price_tokens=priced.tokens if priced is not None else None,
        samples=priced.samples if priced is not None else 0,
        lands_percent=priced.lands_percent if priced is not None else None,
        timeout_s=_timeout(worker, event.tool, arguments),
    )


def _arguments(worker: "Worker", event: PermissionAsked) -> dict[str, JSON]:
    """The arguments of the running call that asks: of several, the one whose command it is."""
    calls: list[dict[str, JSON]] = []
    for entry in reversed(worker.ctx.live.entries[-3:]):
        for part in entry.parts:
            if isinstance(part, ToolPart) and part.tool == event.tool and isinstance(part.state, Running):
                calls.append(part.state.input if isinstance(part.state.input, dict) else {})
    return next((one for one in calls if _is(one, event.pattern)), calls[0] if calls else {})


def _is(arguments: dict[str, JSON], pattern: str) -> bool:
    return any(isinstance(value, str) and one_line(value.strip()) == pattern for value in arguments.values())


def _timeout(worker: "Worker", tool: str, arguments: dict[str, JSON]) -> int | None:
    if tool != "bash":
        return None
    asked = arguments.get("timeout")
    default = worker.ctx.services.tool_limits.bash_timeout_s
    return asked // 1000 if isinstance(asked, int) and asked else default
