#!/usr/bin/env python3
"""A scripted, OpenAI-compatible chat-completions server for loopback tests.

Standard library only.  It serves ``POST /v1/chat/completions`` (streaming and
not), ``GET /v1/models`` and ``GET /__state``, and appends every request body to
a JSONL log, so a test can read back exactly what a client sent.

    python mock_openai.py --script script.json --log requests.jsonl --port 0

The first line on stdout is ``READY http://127.0.0.1:PORT/v1``.

Script (JSON object)
--------------------
``model``          model id to list (default ``mock-model``)
``context_limit``  optional; a request whose estimate exceeds it gets HTTP 400
                   ``context_length_exceeded`` (checked before rules and steps)
``chars_per_token`` divisor of the estimate (default 4)
``rules``          list; the first whose ``when`` matches answers, and it does not
                   consume a step.  ``times`` limits how often it may answer.
``steps``          list of replies, used in order by requests no rule took
``default``        reply once the steps are used up

``when`` keys (all given must hold): ``system_contains``, ``last_user_contains``,
``any_contains``, ``has_tools`` (bool), ``min_messages``, ``path_endswith``.

Reply keys
----------
``text``, ``reasoning``      strings; ``text`` may hold ``{n}`` (request number)
``text_repeat``              [string, times] appended to ``text``
``tool_calls``               [{"name": str, "arguments": object|str, "id"?: str}]
``finish``                   finish_reason (default stop / tool_calls)
``usage``                    {"prompt": int, "completion": int, "cached": int,
                             "reasoning": int, "total": int} or "auto" or null
                             ("auto" estimates from the request and the reply;
                             null sends no usage at all)
``error``                    {"status": int, "code": str, "type": str,
                             "message": str, "headers": {...}, "body": any}
``stream_error``             object sent as an SSE ``data:`` error after the text
``cut``                      true: close the socket mid-stream, before the end
``delay_ms``, ``chunk_ms``   wait before the first byte / between chunks
``chunk``                    characters per text chunk (default 40)
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def flat_text(content: Any) -> str:
    """Text of an OpenAI message content (string, part list or None)."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in content)
    return json.dumps(content, ensure_ascii=False)


class Script:
    """Picks the reply of each request; safe to use from several threads."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.model = data.get("model", "mock-model")
        self.cpt = float(data.get("chars_per_token", 4))
        self.context_limit = data.get("context_limit")
        self.steps = list(data.get("steps", []))
        self.rules = [dict(rule, _used=0) for rule in data.get("rules", [])]
        self.default = data.get("default", {"text": "OK.", "usage": "auto"})
        self.step = 0
        self.count = 0
        self.lock = threading.Lock()

    def estimate(self, body: dict[str, Any]) -> int:
        size = len(json.dumps(body.get("messages", []), ensure_ascii=False))
        size += len(json.dumps(body.get("tools", []), ensure_ascii=False)) if body.get("tools") else 0
        return max(1, math.ceil(size / self.cpt))

    @staticmethod
    def matches(when: dict[str, Any], body: dict[str, Any], path: str) -> bool:
        messages = body.get("messages", [])
        system = "\n".join(flat_text(m.get("content")) for m in messages if m.get("role") == "system")
        users = [flat_text(m.get("content")) for m in messages if m.get("role") == "user"]
        checks = {
            "system_contains": lambda v: v in system,
            "last_user_contains": lambda v: bool(users) and v in users[-1],
            "any_contains": lambda v: v in json.dumps(messages, ensure_ascii=False),
            "has_tools": lambda v: bool(body.get("tools")) is bool(v),
            "min_messages": lambda v: len(messages) >= v,
            "path_endswith": lambda v: path.endswith(v),
        }
        unknown = set(when) - set(checks)
        if unknown:
            raise ValueError(f"unknown 'when' keys: {sorted(unknown)}")
        return all(checks[key](value) for key, value in when.items())

    def pick(self, body: dict[str, Any], path: str) -> tuple[int, str, dict[str, Any]]:
        with self.lock:
            self.count += 1
            number = self.count
            if self.context_limit is not None and self.estimate(body) > self.context_limit:
                return (
                    number,
                    "context_limit",
                    {
                        "error": {
                            "status": 400,
                            "code": "context_length_exceeded",
                            "type": "invalid_request_error",
                            "message": (
                                f"This model's maximum context length is {self.context_limit} tokens. "
                                f"However, your messages resulted in {self.estimate(body)} tokens."
                            ),
                        }
                    },
                )
            for index, rule in enumerate(self.rules):
                if rule.get("times") is not None and rule["_used"] >= rule["times"]:
                    continue
                if self.matches(rule.get("when", {}), body, path):
                    rule["_used"] += 1
                    return number, f"rule:{rule.get('name', index)}", rule["reply"]
            if self.step < len(self.steps):
                self.step += 1
                return number, f"step:{self.step - 1}", self.steps[self.step - 1]
            return number, "default", self.default

    def usage(self, reply: dict[str, Any], body: dict[str, Any], text: str) -> dict[str, Any] | None:
        spec = reply.get("usage", "auto")
        if spec is None:
            return None
        if spec == "auto":
            spec = {"prompt": self.estimate(body), "completion": max(1, math.ceil(len(text) / self.cpt))}
        prompt, completion = int(spec.get("prompt", 0)), int(spec.get("completion", 0))
        out: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": int(spec.get("total", prompt + completion)),
        }
        if "cached" in spec:
            out["prompt_tokens_details"] = {"cached_tokens": int(spec["cached"])}
        if "reasoning" in spec:
            out["completion_tokens_details"] = {"reasoning_tokens": int(spec["reasoning"])}
        return out


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script
    log_path: Path | None = None
    log_lock = threading.Lock()
    pause = 0.0

    def log_message(self, *_: Any) -> None:  # keep stdout for READY only
        pass

    def write_log(self, record: dict[str, Any]) -> None:
        if self.log_path is None:
            return
        line = json.dumps(record, ensure_ascii=False)
        with self.log_lock, self.log_path.open("a", encoding="utf-8") as handle:
            handle.write(line + "\n")

    def send_json(self, status: int, payload: Any, headers: dict[str, str] | None = None) -> None:
        raw = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        data = raw.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for key, value in (headers or {}).items():
            self.send_header(key, str(value))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            self.send_json(200, {"object": "list", "data": [{"id": self.script.model, "object": "model"}]})
        elif self.path == "/__state":
            self.send_json(200, {"requests": self.script.count, "step": self.script.step})
        else:
            self.send_json(404, {"error": {"message": f"no such path {self.path}"}})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        try:
            body = json.loads(raw or b"{}")
        except json.JSONDecodeError as exc:
            self.send_json(400, {"error": {"message": f"bad JSON: {exc}"}})
            return
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self.send_json(404, {"error": {"message": f"no such path {self.path}"}})
            return
        number, source, reply = self.script.pick(body, self.path)
        self.write_log(
            {
                "n": number,
                "t": time.time(),
                "path": self.path,
                "answered_by": source,
                "estimate": self.script.estimate(body),
                "body": body,
                "reply": reply,
            }
        )
        if reply.get("delay_ms"):
            time.sleep(reply["delay_ms"] / 1000)
        error = reply.get("error")
        if error:
            payload = error.get("body") or {
                "error": {
                    "message": error.get("message", "scripted error"),
                    "type": error.get("type", "server_error"),
                    "param": None,
                    "code": error.get("code"),
                }
            }
            self.send_json(int(error.get("status", 500)), payload, error.get("headers"))
            return
        try:
            self.answer(number, body, reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, number: int, body: dict[str, Any], reply: dict[str, Any]) -> None:
        text = reply.get("text", "").replace("{n}", str(number))
        if "text_repeat" in reply:
            piece, times = reply["text_repeat"]
            text += piece * int(times)
        reasoning = reply.get("reasoning", "")
        calls = calls_of(number, reply)
        usage = self.script.usage(reply, body, text + reasoning + json.dumps(calls))
        base = {
            "id": f"chatcmpl-{number}",
            "created": int(time.time()),
            "model": body.get("model", self.script.model),
        }
        finish = reply.get("finish") or ("tool_calls" if calls else "stop")
        if body.get("stream"):
            self.stream(base, reply, text, reasoning, calls, finish, usage)
            return
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in calls]
        if reasoning:
            message["reasoning_content"] = reasoning
        choice = {"index": 0, "message": message, "finish_reason": finish}
        payload = dict(base, object="chat.completion", choices=[choice])
        if usage is not None:
            payload["usage"] = usage
        self.send_json(200, payload)

    def stream(self, base, reply, text, reasoning, calls, finish, usage) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.pause = reply.get("chunk_ms", 0) / 1000
        size = int(reply.get("chunk", 40))
        self.delta(base, {"role": "assistant", "content": ""})
        for start in range(0, len(reasoning), size):
            self.delta(base, {"reasoning_content": reasoning[start : start + size]})
        for start in range(0, len(text), size):
            self.delta(base, {"content": text[start : start + size]})
            if reply.get("cut") and start >= len(text) // 2:
                return
        if reply.get("cut"):
            return
        if reply.get("stream_error"):
            self.event({"error": reply["stream_error"]})
            self.event("[DONE]")
            return
        for call in calls:
            self.stream_call(base, call, size)
        self.delta(base, {}, finish)
        if usage is not None:
            self.event(dict(base, object="chat.completion.chunk", choices=[], usage=usage))
        self.event("[DONE]")

    def stream_call(self, base: dict[str, Any], call: dict[str, Any], size: int) -> None:
        head = dict(call, function={"name": call["function"]["name"], "arguments": ""})
        self.delta(base, {"tool_calls": [head]})
        arguments = call["function"]["arguments"]
        for start in range(0, len(arguments), size):
            piece = {"index": call["index"], "function": {"arguments": arguments[start : start + size]}}
            self.delta(base, {"tool_calls": [piece]})

    def event(self, payload: Any) -> None:
        data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()
        if self.pause:
            time.sleep(self.pause)

    def delta(self, base: dict[str, Any], change: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": change, "finish_reason": finish}
        self.event(dict(base, object="chat.completion.chunk", choices=[choice]))


def calls_of(number: int, reply: dict[str, Any]) -> list[dict[str, Any]]:
    """The reply's tool calls in the wire's shape."""
    out = []
    for index, call in enumerate(reply.get("tool_calls", [])):
        arguments = call.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        function = {"name": call["name"], "arguments": text}
        call_id = call.get("id", f"call_{number}_{index}")
        out.append({"index": index, "id": call_id, "type": "function", "function": function})
    return out


def serve(script: dict[str, Any], log: str | None, port: int = 0) -> ThreadingHTTPServer:
    """Build a server bound to loopback; the caller runs ``serve_forever``."""
    handler = type(
        "BoundHandler", (Handler,), {"script": Script(script), "log_path": Path(log) if log else None}
    )
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    return server


def main() -> int:
    parser = argparse.ArgumentParser(description="scripted OpenAI-compatible server on loopback")
    parser.add_argument("--script", required=True, help="script JSON file")
    parser.add_argument("--log", help="JSONL file that gets every request")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    data = json.loads(Path(args.script).read_text(encoding="utf-8"))
    server = serve(data, args.log, args.port)
    print(f"READY http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
