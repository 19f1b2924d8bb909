"""Events as JSON objects, one a line: the contract of `--json` (`data.md` 1); null where unknown."""

from typing import Any

import msgspec

from qiming_tui.model import events as e
from qiming_tui.model.codec import to_raw
from qiming_tui.model.parts import Completed, Failed, Part, ReasoningPart, TextPart, ToolPart, part_to_raw
from qiming_tui.model.window import Verdict


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """The fields that every front end shows of a verdict."""
    return {
        "count": verdict.count,
        "usable": verdict.usable,
        "percent": verdict.percent,
        "over_by": verdict.over_by,
        "state": verdict.state.value,
        "auto": verdict.auto,
        "basis": verdict.basis.value,
        "reserved": verdict.reserved,
        "preset": verdict.preset.value,
        "arithmetic": verdict.arithmetic,
        "flags": list(verdict.flags),
    }


def to_json(event: e.Event) -> dict[str, Any]:
    """One event as a JSON object with `type`, `session` and `step`."""
    kind, fields = _fields(event)
    return {"type": kind, "session": event.session, "step": event.step, **fields}


def line(event: e.Event) -> str:
    """One event as a line of NDJSON."""
    return msgspec.json.encode(to_json(event)).decode()


def _fields(event: e.Event) -> tuple[str, dict[str, Any]]:
    match event:
        case e.Context(verdict=verdict):
            return "context", verdict_fields(verdict)
        case e.Prune():
            plan = event.plan
            sizes = {"parts": list(plan.cleared), "tokens": plan.tokens}
            return "prune", {"phase": event.phase, **sizes, "group": event.group}
        case e.CompactionStarted():
            return "compaction", {
                "phase": "started",
                "auto": event.auto,
                "before": event.before,
                "after": None,
                "reason": event.reason,
                "form": event.form,
            }
        case e.CompactionEnded():
            names = ("phase", "auto", "before", "after", "reason", "words")
            return "compaction", {name: getattr(event, name) for name in names}
        case e.StepStarted() | e.StepFinished():
            return "step", _step(event)
        case e.PartStarted() | e.PartUpdated() | e.PartFinished():
            return _part(event.part, event)
        case e.PartDelta():
            return "delta", {"part": event.part_id, "text": event.text}
        case e.Failed():
            kind = event.fault.kind.value if event.fault else None
            return "error", {"message": event.message, "hint": event.hint, "kind": kind}
        case _:
            return _other(event)


def _step(event: e.StepStarted | e.StepFinished) -> dict[str, Any]:
    if isinstance(event, e.StepStarted):
        return {"phase": "started", "message": event.message_id, "model": event.model}
    usage = msgspec.to_builtins(event.usage) if event.usage is not None else None
    return {
        "phase": "finished",
        "message": event.message_id,
        "finish": event.finish,
        "usage": usage,
        "cost": event.cost,
    }


def _part(part: Part, event: e.PartStarted | e.PartUpdated | e.PartFinished) -> tuple[str, dict[str, Any]]:
    phases = {e.PartStarted: "started", e.PartUpdated: "updated", e.PartFinished: "finished"}
    base: dict[str, Any] = {"phase": phases[type(event)], "part": part.id, "message": part.message_id}
    match part:
        case TextPart():
            return "text", {**base, "text": part.text, "synthetic": part.synthetic}
        case ReasoningPart():
            return "reasoning", {**base, "text": part.text}
        case ToolPart(state=state):
            status = part_to_raw(part)["state"]["status"]
            out = {**base, "tool": part.tool, "call": part.call_id, "status": status, "input": state.input}
            if isinstance(state, Completed):
                out |= {"title": state.title, "output": state.output}
            elif isinstance(state, Failed):
                out |= {"error": state.error}
            return "tool", out
        case _:
            return "part", {**base, "value": part_to_raw(part)}


def _other(event: e.Event) -> tuple[str, dict[str, Any]]:
    match event:
        case e.SessionCreated() | e.SessionUpdated():
            return "session", {"title": event.info.title, "directory": event.info.directory}
        case e.TurnStarted():
            return "turn", {"phase": "started", "message": event.message_id, "text": event.text}
        case e.TurnFinished():
            return "turn", {"phase": "finished", "reason": event.reason}
        case e.MessageUpdated():
            return "message", {"info": to_raw(event.info)}
        case e.PermissionAsked() | e.QuestionAsked():
            return "permission" if isinstance(event, e.PermissionAsked) else "question", _asked(event)
        case e.PermissionAnswered() | e.QuestionAnswered():
            kind = "permission" if isinstance(event, e.PermissionAnswered) else "question"
            return kind, {"phase": "answered", "request_id": event.request_id, "reply": event.reply}
        case e.EditChanged():
            kinds = [edit.kind.value for edit in event.edits]
            return "edit", {"phase": event.phase, "group": event.group, "kinds": kinds}
        case e.RetryScheduled():
            words = {"attempt": event.attempt, "delay_ms": event.delay_ms, "at": event.at}
            return "retry", {**words, "message": event.fault.message, "kind": event.fault.kind.value}
        case e.QueueChanged():
            return "queue", {"items": [{"id": q.id, "text": q.text, "steer": q.steer} for q in event.items]}
        case e.Notice():
            return "notice", {"text": event.text}
        case e.Idle():
            return "idle", {}
        case e.Unsaved():
            return "unsaved", {"reason": event.reason, "pending": event.pending}
        case e.Saved():
            return "saved", {}
        case _:
            raise AssertionError(f"an event without a JSON form: {type(event).__name__}")


def _asked(event: e.PermissionAsked | e.QuestionAsked) -> dict[str, Any]:
    base = {"phase": "asked", "request_id": event.request_id}
    if isinstance(event, e.PermissionAsked):
        return {**base, "tool": event.tool, "pattern": event.pattern, "title": event.title}
    return {**base, "text": event.text, "choices": list(event.choices)}
