"""The table of streams in three wire formats, and the events that both ways of reading must give."""

from dataclasses import dataclass

from qiming_tui.model.stream import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from qiming_tui.model.usage import Usage
from tests.loopback.formats import DONE, anthropic, call, chunk, gemini, openai, sse


@dataclass
class Case:
    name: str
    wire: str
    chunks: list
    expect: list
    tap_only: str = ""
    """Why litellm's own reading cannot give this."""


def calls(*triples, slots=None):
    """The events of whole calls: started with their arguments, ended after all."""
    start = []
    for slot, (call_id, name, arguments) in enumerate(triples):
        start.append(ToolCallStart(slot, call_id, name))
        if arguments:
            start.append(ToolCallDelta(slot, arguments))
    return [*start, *(ToolCallEnd(slot, *triple) for slot, triple in enumerate(triples))]


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
PLAIN = UsageReport(Usage(input=10, output=5, total=15))
THINK = {"type": "thinking", "thinking": "", "signature": ""}
TEXT = {"type": "text", "text": ""}


def says(text):
    return {"type": "text_delta", "text": text}


def thinks(text):
    return {"type": "thinking_delta", "thinking": text}


def tool(call_id, name):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def args(text):
    return {"type": "input_json_delta", "partial_json": text}


OPENAI = [
    Case(
        "text, usage in a last chunk without choices",
        "openai",
        openai({"content": "hé"}, {"content": "llo 你好"}, usage=USAGE),
        [TextDelta("héllo 你好"), PLAIN, Finish("stop")],
    ),
    Case(
        "reasoning before text; reasoning tokens are inside the completion (C-080)",
        "openai",
        openai(
            {"reasoning_content": "let "},
            {"reasoning_content": "me"},
            {"content": "ok"},
            usage={**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}},
        ),
        [
            ReasoningDelta("let me"),
            TextDelta("ok"),
            UsageReport(Usage(input=10, output=2, reasoning=3, total=15)),
            Finish("stop"),
        ],
    ),
    Case(
        "reasoning under its other name",
        "openai",
        openai({"reasoning": "hm"}, {"content": "ok"}, usage=USAGE),
        [ReasoningDelta("hm"), TextDelta("ok"), PLAIN, Finish("stop")],
    ),
    Case(
        "cached usage (C-072)",
        "openai",
        openai(
            {"content": "x"},
            usage={
                "prompt_tokens": 9888,
                "completion_tokens": 5,
                "total_tokens": 9893,
                "prompt_tokens_details": {"cached_tokens": 6752},
            },
        ),
        [
            TextDelta("x"),
            UsageReport(Usage(input=3136, output=5, cache_read=6752, total=9893)),
            Finish("stop"),
        ],
    ),
    Case(
        "usage missing: absent, not invented (C-076)",
        "openai",
        openai({"content": "x"}),
        [TextDelta("x"), Finish("stop")],
    ),
    Case(
        "cumulative usage in every chunk: the last one counts (C-083)",
        "openai",
        [
            *sse(
                chunk(
                    {"content": "a"},
                    usage={"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
                ),
                chunk(
                    {"content": "b"},
                    usage={"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
                ),
                chunk(
                    {},
                    finish="stop",
                    usage={"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
                ),
            ),
            DONE,
        ],
        [TextDelta("ab"), UsageReport(Usage(input=100, output=2, total=102)), Finish("stop")],
    ),
    Case(
        "usage null in every chunk but the last",
        "openai",
        [*sse(chunk({"content": "a"}, usage=None), chunk({}, finish="length", usage=USAGE)), DONE],
        [TextDelta("a"), PLAIN, Finish("length")],
    ),
    Case(
        "a call in pieces, an empty delta among them (C-078)",
        "openai",
        openai(
            {"tool_calls": [call(0, "c1", "read", "")]},
            {"tool_calls": [call(0, None, None, "")]},
            {"tool_calls": [call(0, None, None, '{"p":')]},
            {"tool_calls": [call(0, None, None, "1}")]},
            finish="tool_calls",
            usage=USAGE,
        ),
        [*calls(("c1", "read", '{"p":1}')), PLAIN, Finish("tool-calls")],
    ),
    Case(
        "a call without arguments",
        "openai",
        openai({"tool_calls": [call(0, "c1", "now", "")]}, finish="tool_calls"),
        [*calls(("c1", "now", "")), Finish("tool-calls")],
    ),
    Case(
        "two calls at once, interleaved",
        "openai",
        openai(
            {"tool_calls": [call(0, "c1", "read", ""), call(1, "c2", "list", "")]},
            {"tool_calls": [call(1, None, None, '{"b":2}')]},
            {"tool_calls": [call(0, None, None, '{"a":1}')]},
            finish="tool_calls",
        ),
        [
            ToolCallStart(0, "c1", "read"),
            ToolCallStart(1, "c2", "list"),
            ToolCallDelta(1, '{"b":2}'),
            ToolCallDelta(0, '{"a":1}'),
            ToolCallEnd(0, "c1", "read", '{"a":1}'),
            ToolCallEnd(1, "c2", "list", '{"b":2}'),
            Finish("tool-calls"),
        ],
    ),
    Case(
        "two calls with equal index, told apart by their ids",
        "openai",
        openai(
            {"tool_calls": [call(0, "c1", "read", '{"a":1}')]},
            {"tool_calls": [call(0, "c2", "list", '{"b"')]},
            {"tool_calls": [call(0, None, None, ":2}")]},
            finish="tool_calls",
        ),
        [*calls(("c1", "read", '{"a":1}'), ("c2", "list", '{"b":2}')), Finish("tool-calls")],
    ),
    Case(
        "the id is repeated with every piece",
        "openai",
        openai(
            {"tool_calls": [call(0, "c1", "read", '{"a"')]},
            {"tool_calls": [call(0, "c1", None, ":1}")]},
            finish="tool_calls",
        ),
        [*calls(("c1", "read", '{"a":1}')), Finish("tool-calls")],
    ),
    Case(
        "two calls without index",
        "openai",
        openai(
            {"tool_calls": [call(None, "c1", "read", '{"a":1}')]},
            {"tool_calls": [call(None, "c2", "list", '{"b"')]},
            {"tool_calls": [call(None, None, None, ":2}")]},
            finish="tool_calls",
        ),
        [*calls(("c1", "read", '{"a":1}'), ("c2", "list", '{"b":2}')), Finish("tool-calls")],
    ),
    Case(
        "finish says stop although there are calls",
        "openai",
        openai({"tool_calls": [call(0, "c1", "read", "{}")]}, finish="stop"),
        [*calls(("c1", "read", "{}")), Finish("tool-calls")],
    ),
    Case(
        "content filter",
        "openai",
        openai({"content": "x"}, finish="content_filter"),
        [TextDelta("x"), Finish("content-filter")],
    ),
    Case(
        "a text that repeats itself 150 times is a text",
        "openai",
        openai(*({"content": "----"} for _ in range(150))),
        [TextDelta("----" * 150), Finish("stop")],
    ),
    Case(
        "the connection breaks after the finish reason",
        "openai",
        sse(chunk({"content": "x"}), chunk({}, finish="stop")),
        [TextDelta("x"), Finish("stop")],
    ),
]

ANTHROPIC = [
    Case(
        "text; usage in two halves, the second without the cache",
        "anthropic",
        anthropic(
            (TEXT, [says("hé"), says("llo")]),
            start={
                "input_tokens": 100,
                "cache_read_input_tokens": 5000,
                "cache_creation_input_tokens": 200,
                "output_tokens": 1,
            },
            end={"output_tokens": 77},
        ),
        [
            TextDelta("héllo"),
            UsageReport(Usage(input=100, output=77, cache_read=5000, cache_write=200)),
            Finish("stop"),
        ],
    ),
    Case(
        "thinking with signatures, redacted thinking, text; reasoning tokens are not guessed",
        "anthropic",
        anthropic(
            (THINK, [thinks("let "), thinks("me"), {"type": "signature_delta", "signature": "SIG+1=="}]),
            ({"type": "redacted_thinking", "data": "RED=="}, []),
            (THINK, [thinks("again"), {"type": "signature_delta", "signature": "SIG2"}]),
            (TEXT, [says("ok")]),
            start={"input_tokens": 10, "output_tokens": 1},
            end={"output_tokens": 50},
        ),
        [
            ReasoningDelta("let me", 0),
            ReasoningDelta("", 0, signature="SIG+1=="),
            ReasoningDelta("", 1, redacted="RED=="),
            ReasoningDelta("again", 2),
            ReasoningDelta("", 2, signature="SIG2"),
            TextDelta("ok"),
            UsageReport(Usage(input=10, output=50)),
            Finish("stop"),
        ],
    ),
    Case(
        "parallel calls, empty first deltas, one without arguments",
        "anthropic",
        anthropic(
            (TEXT, [says("I look")]),
            (tool("t1", "read"), [args(""), args('{"p":'), args("1}")]),
            (tool("t2", "now"), [args("")]),
            (tool("t3", "list"), []),
            finish="tool_use",
            start={"input_tokens": 10, "output_tokens": 1},
            end={"output_tokens": 5},
        ),
        [
            TextDelta("I look"),
            *calls(("t1", "read", '{"p":1}'), ("t2", "now", "{}"), ("t3", "list", "")),
            UsageReport(Usage(input=10, output=5)),
            Finish("tool-calls"),
        ],
    ),
    Case(
        "usage missing: absent, not invented",
        "anthropic",
        anthropic((TEXT, [says("x")])),
        [TextDelta("x"), Finish("stop")],
    ),
    Case(
        "cumulative output: the last one counts",
        "anthropic",
        [
            *anthropic((TEXT, [says("x")]), start={"input_tokens": 10, "output_tokens": 1})[:-2],
            *sse(
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "max_tokens"},
                    "usage": {"output_tokens": 3},
                },
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "max_tokens"},
                    "usage": {"output_tokens": 9},
                },
                {"type": "message_stop"},
                event=True,
            ),
        ],
        [TextDelta("x"), UsageReport(Usage(input=10, output=9)), Finish("length")],
        tap_only="it stops reading at the first message_delta",
    ),
]

GEMINI = [
    Case(
        "thoughts, text, cached usage; thoughts are beside the candidates",
        "gemini",
        gemini(
            [{"text": "hm", "thought": True}],
            [{"text": "hé"}],
            [{"text": "llo"}],
            usage={
                "promptTokenCount": 100,
                "cachedContentTokenCount": 40,
                "candidatesTokenCount": 30,
                "thoughtsTokenCount": 20,
                "totalTokenCount": 150,
            },
        ),
        [
            ReasoningDelta("hm"),
            TextDelta("héllo"),
            UsageReport(Usage(input=60, output=30, reasoning=20, cache_read=40, total=150)),
            Finish("stop"),
        ],
    ),
    Case(
        "parallel calls with ids of the server",
        "gemini",
        gemini(
            [{"functionCall": {"id": "g1", "name": "read", "args": {"p": "你"}}, "thoughtSignature": "U0lH"}],
            [{"functionCall": {"id": "g2", "name": "now", "args": {}}}],
        ),
        [
            *calls(("g1__thought__U0lH", "read", '{"p": "你"}'), ("g2", "now", "{}")),
            Finish("tool-calls"),
        ],
    ),
    Case(
        "cumulative usage: the last one counts; an answer that is too long",
        "gemini",
        sse(
            {
                "candidates": [{"content": {"parts": [{"text": "a"}]}}],
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 1, "totalTokenCount": 9},
            },
            {
                "candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "MAX_TOKENS"}],
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10},
            },
        ),
        [TextDelta("ab"), UsageReport(Usage(input=8, output=2, total=10)), Finish("length")],
    ),
    Case(
        "usage missing: absent, not invented",
        "gemini",
        gemini([{"text": "x"}]),
        [TextDelta("x"), Finish("stop")],
    ),
]
