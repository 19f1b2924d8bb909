"""A model server that streams as it is told: `python -m tests.bench.stream_server` says `READY URL` first.

It speaks OpenAI's chat format. What is streamed is asked for inside the prompt: `benchstream LINES RATE
NONCE` sends LINES lines of Markdown at RATE tokens (= events) a second, 0 = flat out, and last of all
ZQEND<NONCE>. GET /stats tells of every stream its nonce and when it ended or broke, by the monotonic clock.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTIVE = re.compile(r"benchstream (\d+) (\d+) (\w+)")
TOKEN = re.compile(r"\s?\w{1,6}|\s?[^\w\s]{1,3}|\s+")
WORDS = [
    "buffer",
    "session",
    "window",
    "summary",
    "budget",
    "token",
    "model",
    "limit",
    "output",
    "reserve",
    "marker",
    "history",
    "worker",
    "event",
    "cursor",
    "widget",
    "layout",
    "render",
    "timeline",
    "context",
    "prune",
    "compact",
    "store",
    "query",
]
BATCH = 32
"""Events in one write when the stream is sent flat out."""
STATS: list[dict] = []


def _word(number: int) -> str:
    return WORDS[number % len(WORDS)]


def _code(b: int) -> list[str]:
    return [
        "```python",
        f"def {_word(b)}_{b}({_word(b + 1)}, {_word(b + 2)}=None):",
        f"    for index in range({b}):",
        f'        {_word(b + 3)} = {_word(b + 1)}.get(index, "{_word(b + 6)}")',
        f"        if {_word(b + 3)} is None:",
        "            continue",
        f"    return {_word(b + 2)}  # {_word(b + 9)}",
        "```",
        "",
    ]


def _prose(b: int) -> list[str]:
    places = [b * 13 + k * 7 for k in range(4)]
    lines = [
        f"The **{_word(i)}** {_word(i + 3)} keeps a `{_word(i + 5)}` for each {_word(i + 8)}, "
        f"so {_word(i + 11)} {i} is {_word(i + 2)} and *{_word(i + 9)}* stays."
        for i in places
    ]
    return [*lines, ""]


def _block(b: int) -> list[str]:
    match b % 6:
        case 0:
            return [f"## Section {b}: the {_word(b)} {_word(b * 5 + 1)}", ""]
        case 1 | 4:
            return _prose(b)
        case 2:
            items = [
                f"- item {b}.{k}: the {_word(b + k)} with `{_word(b + k + 4)}_{k}` and **{_word(b * 3 + k)}**"
                for k in range(6)
            ]
            return [*items, ""]
        case 3:
            return _code(b)
        case _:
            cells = [
                f"| {_word(b + k)} | {b * 10 + k} | {_word(b + k + 5)} {_word(b + k + 7)} |" for k in range(4)
            ]
            return ["| name | size | use |", "| --- | --- | --- |", *cells, ""]


@cache
def tokens(lines: int) -> list[str]:
    """The tokens of a fixed Markdown text of so many lines: prose, lists, code, tables, headings."""
    out: list[str] = []
    block = 0
    while len(out) < lines:
        out += _block(block)
        block += 1
    out = out[: lines - 2]
    if sum(line.startswith("```") for line in out) % 2:
        out[-1] = "```"
    return TOKEN.findall("\n".join(out) + "\n\n")


def _event(delta: dict, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _sse({"choices": [choice]})


def _sse(value: dict) -> bytes:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    return b"data: " + json.dumps({**base, **value}, separators=(",", ":")).encode() + b"\n\n"


def _tail(sent: int, received: int) -> bytes:
    usage = {"prompt_tokens": received, "completion_tokens": sent, "total_tokens": received + sent}
    return _event({}, "stop") + _sse({"choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def _paced(events: Iterable[bytes], rate: int) -> Iterator[bytes]:
    due = time.monotonic()
    for event in events:
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))
        yield event


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is said."""

    def do_GET(self) -> None:
        """The statistics."""
        data = json.dumps(STATS).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        """A stream."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        found = DIRECTIVE.findall(raw.decode())
        lines, rate, nonce = found[-1] if found else (3, 0, "none")
        texts = [*tokens(int(lines)), "ZQEND" + nonce]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        stat = {"nonce": nonce, "events": len(texts), "ended": None}
        STATS.append(stat)
        try:
            self._stream(texts, int(rate), len(raw) // 4)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        stat["ended"] = time.monotonic()

    def _stream(self, texts: list[str], rate: int, received: int) -> None:
        self._chunk(_event({"role": "assistant", "content": ""}))
        events = [_event({"content": text}) for text in texts]
        if rate:
            for event in _paced(events, rate):
                self._chunk(event)
        else:
            for start in range(0, len(events), BATCH):
                self._chunk(b"".join(events[start : start + BATCH]))
        self._chunk(_tail(len(texts), received))
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    """Many connections."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


def main() -> None:
    """Serve until the standard input ends."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tokens(2000)
    print(f"READY http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
