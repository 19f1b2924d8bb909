"""What the readers of all wire formats share: one answer as it grows, and the end of it.

A reader turns the decoded objects of one event stream into StreamEvents (`model/stream.py`). Everything in
them is the server's and therefore hostile: a field of the wrong type is read as if it were not there.
"""

from collections.abc import Iterator
from typing import Final, Protocol

from qiming_tui.model.codec import JSON
from qiming_tui.model.stream import (
    Fault,
    FaultKind,
    Finish,
    StreamEvent,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from qiming_tui.model.usage import Usage

REASONS: Final = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "tool_use": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "safety": "content-filter",
    "recitation": "content-filter",
    "prohibited_content": "content-filter",
    "blocklist": "content-filter",
    "spii": "content-filter",
}


class StreamRefused(Exception):
    """The stream itself says that the request failed; `text` is the error object as JSON text."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class Reader(Protocol):
    """Reads one event stream of one wire format."""

    answer: "Answer"

    def feed(self, data: dict[str, JSON]) -> Iterator[StreamEvent]:
        """Events of one decoded object; raises StreamRefused when it is an error."""
        ...


CUT_OFF: Final = Fault(
    kind=FaultKind.NETWORK, message="the answer ended early, without a finish reason", retryable=True
)


def mapping(value: JSON) -> dict[str, JSON]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: JSON) -> list[dict[str, JSON]]:
    """The objects in `value` if it is a list, else none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: JSON) -> str:
    """`value` if it is a string, else the empty one."""
    return value if isinstance(value, str) else ""


class _Call:
    """A tool call as it arrives."""

    def __init__(self, slot: int, index: JSON, call_id: str) -> None:
        self.slot = slot
        self.index = index
        self.call_id = call_id
        self.name = ""
        self.arguments: list[str] = []
        self.started = False


class Answer:
    """One answer: its tool calls, the usage reported last and the finish reason."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._calls: list[_Call] = []
        self.usage: Usage | None = None
        self.reason: str | None = None

    def call(self, *, index: JSON, call_id: str, name: str, arguments: str) -> Iterator[StreamEvent]:
        """A piece of a tool call. Which call it belongs to is told by id first, then by index, then by order:
        an unknown id begins a call even at an index that was used before (cases D, "equal index")."""
        call = self._find(index, call_id, name)
        if call is None:
            call = _Call(len(self._calls), index, call_id or f"call_{self._request_id}_{len(self._calls)}")
            self._calls.append(call)
        if name and not call.name:
            call.name = name
        if arguments:
            call.arguments.append(arguments)
        if call.started:
            if arguments:
                yield ToolCallDelta(call.slot, arguments)
        elif call.name:
            call.started = True
            yield ToolCallStart(call.slot, call.call_id, call.name)
            if call.arguments:
                yield ToolCallDelta(call.slot, "".join(call.arguments))

    def _find(self, index: JSON, call_id: str, name: str) -> _Call | None:
        calls = self._calls
        if call_id:
            same = [
                call for call in calls if call.call_id == call_id and (index is None or call.index == index)
            ]
            return same[-1] if same else None
        if index is not None:
            calls = [call for call in calls if call.index == index]
        if not calls:
            return None
        last = calls[-1]
        if name and last.name and (name != last.name or _complete(last.arguments)):
            return None
        return last

    def end(self) -> Iterator[StreamEvent]:
        """The last events of a complete answer; without a finish reason there are none (see `CUT_OFF`)."""
        for call in self._calls:
            if not call.started:
                yield ToolCallStart(call.slot, call.call_id, call.name)
            yield ToolCallEnd(call.slot, call.call_id, call.name, "".join(call.arguments))
        if self.usage is not None:
            yield UsageReport(self.usage)
        reason = REASONS.get((self.reason or "").lower(), "unknown")
        yield Finish("tool-calls" if reason == "stop" and self._calls else reason)


def _complete(pieces: list[str]) -> bool:
    """Whether the arguments so far look like a whole JSON object."""
    joined = "".join(pieces).strip()
    return joined.startswith("{") and joined.endswith("}") and joined.count("{") == joined.count("}")
