"""One table for both ways of reading a stream, the tap and acompletion, through the real litellm: the events
must be equal. Servers of the three wire formats on the loopback."""

import hashlib

import pytest

from qiming_tui.model.stream import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    UsageReport,
    WireReport,
)
from qiming_tui.model.usage import Usage
from tests.loopback.formats import anthropic, gemini, openai
from tests.loopback.server import Loopback, Reply
from tests.provider.conftest import collect, request
from tests.provider.stream_cases import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    PLAIN,
    TEXT,
    THINK,
    USAGE,
    args,
    says,
    thinks,
    tool,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


def both_ways():
    for case in (*OPENAI, *ANTHROPIC, *GEMINI):
        yield pytest.param(case, True, id=f"{case.wire}: {case.name} (tap)")
        if not case.tap_only:
            yield pytest.param(case, False, id=f"{case.wire}: {case.name} (acompletion)")


@pytest.mark.parametrize(("case", "tap"), list(both_ways()))
async def test_both_ways_give_these_events(gateway, case, tap):
    with Loopback(Reply(chunks=case.chunks)) as server:
        events = await collect(gateway, request(server, case.wire, tap=tap), wire=True)
        sent = server.requests[0]
    assert events[1:] == case.expect
    report = events[0]
    assert isinstance(report, WireReport)
    assert (report.sha256, report.bytes) == (hashlib.sha256(sent.body).hexdigest(), len(sent.body))
    assert report.library.startswith("litellm 1.")


@pytest.mark.parametrize("tap", [True, False], ids=["tap", "acompletion"])
@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
async def test_a_long_answer_in_odd_pieces_is_complete(gateway, wire, tap):
    """More chunks than litellm is left to keep; cut at every odd byte; the usage is still there."""
    words = [f"word{number} 你 " for number in range(700)]
    stream = {
        "openai": lambda: openai(*({"content": word} for word in words), usage=USAGE),
        "anthropic": lambda: anthropic(
            (TEXT, [says(word) for word in words]),
            start={"input_tokens": 10, "output_tokens": 1},
            end={"output_tokens": 5},
        ),
        "gemini": lambda: gemini(
            *([{"text": word}] for word in words),
            usage={"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        ),
    }[wire]()
    whole = b"".join(stream)
    pieces = [whole[start : start + 97] for start in range(0, len(whole), 97)]
    with Loopback(Reply(chunks=pieces)) as server:
        events = await collect(gateway, request(server, wire, tap=tap))
    total = None if wire == "anthropic" else 15
    assert events == [
        TextDelta("".join(words)),
        UsageReport(Usage(input=10, output=5, total=total)),
        Finish("stop"),
    ]


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
async def test_both_ways_send_the_same_bytes_twice(gateway, wire):
    chunks = {"openai": openai({"content": "x"}), "anthropic": anthropic((TEXT, [says("x")]))}
    body = {
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "héllo"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "read a file",
                    "parameters": {"type": "object", "properties": {"p": {"type": "string"}}},
                },
            }
        ],
    }
    with Loopback(Reply(chunks=chunks.get(wire) or gemini([{"text": "x"}]))) as server:
        for tap in (True, False, True):
            await collect(gateway, request(server, wire, tap=tap, **body))
        first, *others = [one.body for one in server.requests]
    assert others == [first, first]
    assert "read a file" in first.decode()


async def test_thinking_goes_back_unchanged_and_first(gateway):
    """The round trip: blocks and signatures as they came, before text and tool use."""
    answer = anthropic(
        (THINK, [thinks("let "), thinks("me"), {"type": "signature_delta", "signature": "SIG+/=="}]),
        ({"type": "redacted_thinking", "data": "RED+/=="}, []),
        (TEXT, [says("ok")]),
        (tool("t1", "read"), [args('{"p":1}')]),
        finish="tool_use",
    )
    with Loopback(Reply(chunks=answer), Reply(chunks=anthropic((TEXT, [says("done")])))) as server:
        events = await collect(gateway, request(server, "anthropic"))
        blocks: dict[int, dict] = {}
        for event in events:
            if isinstance(event, ReasoningDelta) and event.redacted:
                blocks[event.block] = {"type": "redacted_thinking", "data": event.redacted}
            elif isinstance(event, ReasoningDelta):
                block = blocks.setdefault(event.block, {"type": "thinking", "thinking": ""})
                block["thinking"] += event.text
                if event.signature:
                    block["signature"] = event.signature
        done = next(event for event in events if isinstance(event, ToolCallEnd))
        messages = [
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": "ok",
                "thinking_blocks": [blocks[number] for number in sorted(blocks)],
                "tool_calls": [
                    {
                        "id": done.call_id,
                        "type": "function",
                        "function": {"name": done.name, "arguments": done.arguments},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": done.call_id, "content": "1"},
        ]
        assert (await collect(gateway, request(server, "anthropic", messages=messages)))[0] == TextDelta(
            "done"
        )
        sent = server.requests[1].json["messages"][1]["content"]
    assert sent == [
        {"type": "thinking", "thinking": "let me", "signature": "SIG+/=="},
        {"type": "redacted_thinking", "data": "RED+/=="},
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"p": 1}},
    ]


@pytest.mark.parametrize("call_id", [None, "g7"], ids=["our id", "the server's id"])
async def test_a_thought_signature_of_gemini_goes_back(gateway, call_id):
    made = {"name": "read", "args": {"p": 1}, **({"id": call_id} if call_id else {})}
    answer = gemini([{"functionCall": made, "thoughtSignature": "U0lHK+8="}])
    with Loopback(Reply(chunks=answer), Reply(chunks=gemini([{"text": "done"}]))) as server:
        done = (await collect(gateway, request(server, "gemini")))[-2]
        assert isinstance(done, ToolCallEnd)
        messages = [
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": done.call_id,
                        "type": "function",
                        "function": {"name": "read", "arguments": done.arguments},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": done.call_id, "content": "1"},
        ]
        await collect(gateway, request(server, "gemini", messages=messages))
        contents = server.requests[1].json["contents"]
    part = contents[1]["parts"][0]
    assert part["function_call"]["args"] == {"p": 1}
    assert part["thoughtSignature"] == "U0lHK+8="
    assert contents[2]["parts"][0]["function_response"]["name"] == "read"


async def test_every_other_provider_is_read_by_litellm(gateway):
    """A provider without a wire format of ours: no tap, no report of the bytes, equal events."""
    with Loopback(Reply(chunks=openai({"content": "x"}, usage=USAGE))) as server:
        made = request(server, "other", provider="hosted_vllm")
        assert await collect(gateway, made, wire=True) == [TextDelta("x"), PLAIN, Finish("stop")]
        assert server.requests[0].json["stream_options"] == {"include_usage": True}
