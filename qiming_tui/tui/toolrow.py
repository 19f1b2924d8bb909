"""One tool call in one row: what it is called with, how it ended, how long it took."""

from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Final

import msgspec

from qiming_tui.context.tokens import estimate_units, script_estimate
from qiming_tui.model.codec import JSON
from qiming_tui.model.parts import Completed, Failed, Pending, Running, Span, ToolPart
from qiming_tui.model.sanitize import clean, one_line

SUBJECT_KEYS: Final = ("command", "filePath", "path", "pattern", "query", "url", "description", "prompt")
"""Arguments that say what a call is about, most telling first; unknown tools show their arguments."""


class Phase(StrEnum):
    """Where a call is."""

    STREAMING = "streaming"
    """Its arguments are arriving."""
    RUNNING = "running"
    WAITING = "waiting for you"
    OK = "ok"
    FAILED = "failed"


class ToolRow(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a call."""

    name: str
    subject: str
    phase: Phase
    outcome: str = ""
    """In words: "3 hits", "exit 1", "+12 -7", "refused"."""
    bad: bool = False
    """Whether the outcome is one that went wrong, though the tool itself ran: a failing exit code."""
    started: float | None = None
    """Milliseconds since the epoch, while it runs."""
    took_ms: float | None = None
    diff: str = ""
    """The change, as a unified difference."""
    arguments: str = ""
    """The call's arguments as JSON, for who opens it."""
    cleared: str = ""
    """When its result was taken out of the window, HH:MM; empty: it was not."""
    was: int | None = None
    """Tokens of the result before that."""
    was_rough: bool = True
    loaded: bool = True
    """False: the output lies in the store only."""
    lines: int = 0
    """Lines of the output."""
    written: int = 0
    """Tokens of the arguments, roughly, while they are being written."""
    regret: bool = False
    """It repeats a call whose result was cleared (cases C-024)."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.phase in {Phase.STREAMING, Phase.RUNNING, Phase.WAITING}


def tool_row(part: ToolPart, *, progress: str = "", zone: tzinfo | None = None) -> tuple[ToolRow, str]:
    """The row of a call and its output, both clean."""
    name = one_line(part.tool, limit=40)
    state = part.state
    row = ToolRow(
        name=name,
        subject=_subject(part.tool, state.input),
        phase=Phase.STREAMING,
        arguments=_json(state.input),
        regret=_regret(part),
    )
    match state:
        case Pending(raw=raw):
            if not row.subject:
                row = msgspec.structs.replace(row, subject=one_line(raw, limit=120))
            return msgspec.structs.replace(row, written=script_estimate(raw or row.arguments)), ""
        case Running(time=time):
            return msgspec.structs.replace(row, phase=Phase.RUNNING, started=time.start), clean(progress)[0]
        case Completed():
            return _completed(row, part.tool, state, zone)
        case Failed():
            return _failed(row, state)


def _completed(row: ToolRow, tool: str, state: Completed, zone: tzinfo | None) -> tuple[ToolRow, str]:
    metadata = state.metadata or {}
    output, removed = clean(state.output)
    counted = metadata.get("removed")
    removed += counted if isinstance(counted, int) else 0
    outcome, bad = _outcome(tool, metadata, output, loaded=state.stored is None)
    if removed:
        outcome = f"{outcome}, {removed_words(removed)}".removeprefix(", ")
    diff = metadata.get("diff")
    when = state.time.compacted
    row = msgspec.structs.replace(
        row,
        phase=Phase.FAILED if bad else Phase.OK,
        outcome=outcome,
        bad=bad,
        took_ms=_took(state.time),
        diff=clean(diff)[0] if isinstance(diff, str) else "",
        loaded=state.stored is None,
        lines=output.count("\n") + 1 if output else 0,
        subject=row.subject or one_line(state.title or "", limit=200),
    )
    if when is not None:
        moment = datetime.fromtimestamp(when / 1000, tz=UTC).astimezone(zone).strftime("%H:%M")
        was = estimate_units(state.stored.units) if state.stored is not None else script_estimate(output)
        row = msgspec.structs.replace(row, cleared=moment, was=was)
    return row, output


def _failed(row: ToolRow, state: Failed) -> tuple[ToolRow, str]:
    metadata = state.metadata or {}
    kept = metadata.get("output")
    if metadata.get("refused"):
        outcome = "refused"
    elif metadata.get("interrupted"):
        outcome = "stopped"
    else:
        outcome = one_line(state.error, limit=60) or "failed"
    text = "\n\n".join(part for part in (kept if isinstance(kept, str) else "", state.error) if part)
    took = _took(state.time) if state.time is not None else None
    row = msgspec.structs.replace(row, phase=Phase.FAILED, outcome=outcome, bad=True, took_ms=took)
    return row, clean(text)[0]


def _outcome(tool: str, metadata: dict[str, JSON], output: str, *, loaded: bool) -> tuple[str, bool]:
    """How a completed call ended, in words, and whether badly."""
    if metadata.get("timed_out"):
        return "timed out", True
    status = metadata.get("exit")
    if isinstance(status, int) and status:
        return (f"signal {-status}" if status < 0 else f"exit {status}"), True
    added, removed = metadata.get("additions"), metadata.get("deletions")
    if isinstance(added, int) and isinstance(removed, int):
        return f"+{added} -{removed}", False
    diff = metadata.get("diff")
    if isinstance(diff, str) and diff:
        rows = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
        plus = sum(line.startswith("+") for line in rows)
        minus = sum(line.startswith("-") for line in rows)
        return f"+{plus} -{minus}", False
    word = "file" if tool in {"glob", "list"} else "hit"
    for key in ("count", "matches"):
        found = metadata.get(key)
        if isinstance(found, int):
            return _counted(found, word, more=bool(metadata.get("truncated"))), False
    if not loaded:
        return "", False
    return _counted(output.count("\n") + 1 if output else 0, "line"), False


def removed_words(count: int) -> str:
    """What was taken out of a text from outside (cases C-131)."""
    return f"{count:,} control sequence{'s' * (count != 1)} removed"


def _counted(count: int, word: str, *, more: bool = False) -> str:
    return f"{count:,}{'+' if more else ''} {word}{'s' * (count != 1)}"


def _took(time: Span) -> float | None:
    return None if time.end is None else max(0, time.end - time.start)


def _subject(tool: str, arguments: JSON) -> str:
    """What the call is about: pattern and place for a search, else its most telling argument."""
    if not isinstance(arguments, dict):
        return "" if arguments is None else one_line(str(arguments))
    if tool in {"grep", "glob"} and isinstance(arguments.get("pattern"), str):
        words = [arguments["pattern"], arguments.get("path"), arguments.get("include")]
        return one_line(" ".join(word for word in words if isinstance(word, str)))
    for key in SUBJECT_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value)
    return one_line(_json(arguments)) if arguments else ""


def _json(arguments: JSON) -> str:
    if not arguments:
        return ""
    return clean(msgspec.json.encode(arguments).decode("utf-8"))[0]


def _regret(part: ToolPart) -> bool:
    ours = (part.metadata or {}).get("qiming")
    return isinstance(ours, dict) and "regret" in ours
