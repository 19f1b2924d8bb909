"""Event streams in the three wire formats, as the real servers write them."""

import json
from collections.abc import Iterable


def sse(*values: object, event: bool = False) -> list[bytes]:
    """One chunk per value; with `event` the name of its type stands before it (Anthropic)."""
    out = []
    for value in values:
        name = f"event: {value['type']}\n" if event and isinstance(value, dict) else ""
        out.append(f"{name}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())
    return out


DONE = b"data: [DONE]\n\n"


def chunk(delta: dict | None = None, *, finish: str | None = None, **more: object) -> dict:
    """An OpenAI chat.completion.chunk; without a delta it has no choices (usage only)."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": choices, **more}


def call(index: int | None, call_id: str | None, name: str | None, arguments: str | None) -> dict:
    """A tool call delta of an OpenAI chunk; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    out: dict = {"type": "function", "function": function}
    if index is not None:
        out["index"] = index
    if call_id is not None:
        out["id"] = call_id
    return out


def openai(*deltas: dict, finish: str = "stop", usage: dict | None = None) -> list[bytes]:
    """A whole OpenAI answer: deltas, a finish reason, usage in a last chunk without choices, [DONE]."""
    values = [chunk({"role": "assistant", "content": ""}), *(chunk(delta) for delta in deltas)]
    values.append(chunk({}, finish=finish))
    if usage is not None:
        values.append(chunk(usage=usage))
    return [*sse(*values), DONE]


def anthropic(
    *blocks: tuple[dict, Iterable[dict]],
    finish: str = "end_turn",
    start: dict | None = None,
    end: dict | None = None,
) -> list[bytes]:
    """A whole Anthropic answer of (content block, deltas); `start` and `end` are usages."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    if start is not None:
        message["usage"] = start
    values: list[dict] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        values.append({"type": "content_block_start", "index": index, "content_block": block})
        values += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        values.append({"type": "content_block_stop", "index": index})
    last: dict = {"type": "message_delta", "delta": {"stop_reason": finish, "stop_sequence": None}}
    if end is not None:
        last["usage"] = end
    return sse(*values, last, {"type": "message_stop"}, event=True)


def gemini(*parts: list[dict], finish: str = "STOP", usage: dict | None = None) -> list[bytes]:
    """A whole Gemini answer: one response per list of parts, the last with finish reason and usage."""
    values: list[dict] = [
        {"candidates": [{"content": {"role": "model", "parts": list(some)}}]} for some in parts
    ]
    values[-1]["candidates"][0]["finishReason"] = finish
    if usage is not None:
        values[-1]["usageMetadata"] = usage
    return sse(*values)
