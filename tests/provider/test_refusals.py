"""Refusals, broken streams and errors in a stream, through the real litellm, read both ways."""

import pytest

from qiming_tui.model.stream import Failure, FaultKind, Finish, TextDelta, WireReport
from tests.loopback.formats import anthropic, chunk, gemini, openai, sse
from tests.loopback.server import Loopback, Reply
from tests.provider.conftest import KEY, collect, request

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.parametrize("tap", [True, False], ids=["tap", "acompletion"]),
]

ALL = pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])


def error(wire: str, status: int, kind: str, message: str, **more) -> dict:
    """An error body in the shape of a wire format."""
    if wire == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    if wire == "gemini":
        return {"error": {"code": status, "message": message, "status": kind, **more}}
    return {"error": {"message": message, "type": kind, "code": kind, **more}}


async def refused(gateway, wire, tap, status, kind, message, *, more=None, **headers):
    """The fault of a refusal; also: one request only, and nothing but the report of the bytes before it."""
    reply = Reply.error(status, error(wire, status, kind, message, **(more or {})), **headers)
    with Loopback(reply) as server:
        events = await collect(gateway, request(server, wire, tap=tap), wire=True)
        assert len(server.requests) == 1
    report, failure = events
    assert isinstance(report, WireReport)
    assert isinstance(failure, Failure)
    return failure.fault


@ALL
async def test_429_with_retry_after_ms(gateway, wire, tap):
    fault = await refused(gateway, wire, tap, 429, "rate_limit_error", "Slow down.", retry_after_ms="700")
    assert (fault.kind, fault.retryable, fault.retry_after_ms) == (FaultKind.RATE_LIMIT, True, 700)
    assert (fault.status, fault.message) == (429, "Slow down.")


@ALL
async def test_429_with_retry_after_in_seconds(gateway, wire, tap):
    fault = await refused(gateway, wire, tap, 429, "rate_limit_error", "Slow down.", retry_after="2.5")
    assert fault.retry_after_ms == 2500


async def test_429_with_a_date(gateway, tap):
    later = "Fri, 31 Dec 2094 23:59:59 GMT"
    fault = await refused(gateway, "openai", tap, 429, "rate_limit_error", "Slow down.", retry_after=later)
    assert fault.retry_after_ms is not None
    assert fault.retry_after_ms > 1_000_000_000_000


async def test_429_of_gemini_says_its_delay_in_the_body(gateway, tap):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    fault = await refused(
        gateway, "gemini", tap, 429, "RESOURCE_EXHAUSTED", "Quota exceeded.", more={"details": details}
    )
    assert (fault.kind, fault.retry_after_ms) == (FaultKind.RATE_LIMIT, 34_500)


@ALL
async def test_500(gateway, wire, tap):
    fault = await refused(gateway, wire, tap, 500, "api_error", "Internal server error")
    assert (fault.kind, fault.retryable, fault.status) == (FaultKind.UNKNOWN, True, 500)


async def test_529_is_overloaded(gateway, tap):
    fault = await refused(gateway, "anthropic", tap, 529, "overloaded_error", "Overloaded")
    assert (fault.kind, fault.retryable, fault.status) == (FaultKind.OVERLOADED, True, 529)


@ALL
async def test_413_is_an_overflow(gateway, wire, tap):
    fault = await refused(gateway, wire, tap, 413, "request_too_large", "Request exceeds the maximum size")
    assert (fault.kind, fault.retryable, fault.status) == (FaultKind.OVERFLOW, False, 413)


@pytest.mark.parametrize(
    ("wire", "kind", "message", "sizes"),
    [
        (
            "openai",
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, you sent 9,000 tokens.",
            (9000, 8192),
        ),
        ("openai", "context_too_large", "The context is too large.", (None, None)),  # C-005
        (
            "anthropic",
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            (210_000, 200_000),
        ),
        (
            "gemini",
            "INVALID_ARGUMENT",
            "The input token count (1058724) exceeds the maximum number of tokens allowed (1048576).",
            (1_058_724, 1_048_576),
        ),
    ],
)
async def test_c_005_c_006_an_overflow_and_its_numbers(gateway, tap, wire, kind, message, sizes):
    fault = await refused(gateway, wire, tap, 400, kind, message)
    assert (fault.kind, fault.retryable) == (FaultKind.OVERFLOW, False)
    assert (fault.tokens, fault.limit) == sizes


async def test_an_overflow_of_llama_cpp(gateway, tap):
    message = "request (5031 tokens) exceeds the available context size (2048 tokens), try increasing it"
    more = {"n_prompt_tokens": 5031, "n_ctx": 2048}
    fault = await refused(gateway, "openai", tap, 400, "exceed_context_size_error", message, more=more)
    assert (fault.kind, fault.tokens, fault.limit) == (FaultKind.OVERFLOW, 5031, 2048)


async def test_c_011_too_much_output_is_no_overflow(gateway, tap):
    message = (
        "'max_tokens' or 'max_completion_tokens' is too large: 65536. This model's maximum context length is "
        "65536 tokens and your request has 10969 input tokens (65536 > 65536 - 10969)."
    )
    fault = await refused(gateway, "openai", tap, 400, "BadRequestError", message)
    assert (fault.kind, fault.tokens, fault.limit) == (FaultKind.OUTPUT_TOO_LARGE, 10_969, 65_536)
    assert fault.limit - fault.tokens == 54_567


@ALL
async def test_a_key_is_refused_and_not_repeated(gateway, wire, tap):
    fault = await refused(
        gateway, wire, tap, 401, "authentication_error", f"Incorrect API key provided: {KEY}."
    )
    assert (fault.kind, fault.retryable) == (FaultKind.AUTH, False)
    assert fault.message == "Incorrect API key provided: ***."


async def test_another_400_is_not_repeated(gateway, tap):
    fault = await refused(gateway, "openai", tap, 400, "invalid_request_error", "Unknown parameter: 'foo'.")
    assert (fault.kind, fault.retryable, fault.code) == (FaultKind.INVALID, False, "invalid_request_error")


PARTS = {
    "openai": sse(chunk({"content": "so far"})),
    "anthropic": anthropic(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "so far"}]))[:4],
    "gemini": sse({"candidates": [{"content": {"role": "model", "parts": [{"text": "so far"}]}}]}),
}


@ALL
@pytest.mark.parametrize("cut", [True, False], ids=["the connection breaks", "it just ends"])
async def test_a_cut_stream_keeps_its_text_and_may_be_repeated(gateway, wire, tap, cut):
    if wire == "gemini" and not tap and not cut:
        # litellm ends it with a "stop" of its own; Gemini's streams are read by the tap, which knows better.
        tap = True
    with Loopback(Reply(chunks=PARTS[wire], cut=cut)) as server:
        events = await collect(gateway, request(server, wire, tap=tap))
    text, failure = events
    assert text == TextDelta("so far")
    assert isinstance(failure, Failure)
    assert (failure.fault.kind, failure.fault.retryable) == (FaultKind.NETWORK, True)


@pytest.mark.parametrize(
    ("wire", "value", "kind", "retryable"),
    [
        ("openai", error("openai", 0, "server_error", "The server had an error"), FaultKind.UNKNOWN, True),
        ("openai", error("openai", 0, "context_length_exceeded", "too long"), FaultKind.OVERFLOW, False),
        ("anthropic", error("anthropic", 0, "overloaded_error", "Overloaded"), FaultKind.OVERLOADED, True),
        (
            "gemini",
            error("gemini", 503, "UNAVAILABLE", "The model is overloaded."),
            FaultKind.OVERLOADED,
            True,
        ),
    ],
)
async def test_an_error_in_the_stream(gateway, tap, wire, value, kind, retryable):
    with Loopback(Reply(chunks=[*PARTS[wire], *sse(value, event=wire == "anthropic")])) as server:
        events = await collect(gateway, request(server, wire, tap=tap))
    assert events[0] == TextDelta("so far")
    assert isinstance(events[-1], Failure)
    assert (events[-1].fault.kind, events[-1].fault.retryable) == (kind, retryable)


@ALL
async def test_nobody_listens(gateway, wire, tap):
    with Loopback(Reply(body="")) as server:
        made = request(server, wire, tap=tap)
    events = await collect(gateway, made)
    assert isinstance(events[-1], Failure)
    assert (events[-1].fault.kind, events[-1].fault.retryable) == (FaultKind.NETWORK, True)


async def test_a_kept_connection_that_the_server_closed_is_tried_once_more(gateway, tap):
    good = Reply(chunks=openai({"content": "x"}))
    with Loopback(good, Reply(), good) as server:
        for _ in range(2):
            assert await collect(gateway, request(server, "openai", tap=tap)) == [
                TextDelta("x"),
                Finish("stop"),
            ]
        assert len(server.requests) == 3


async def test_a_key_that_is_not_there_is_named_and_nothing_is_sent(gateway, tap):
    with Loopback(Reply(chunks=openai({"content": "x"}))) as server:
        made = request(server, "openai", tap=tap)
        endpoint = type(made.endpoint)(wire="openai", base_url=made.endpoint.base_url, key_env="NO_SUCH_KEY")
        made = type(made)(
            id="r", kind=made.kind, model=made.model, body=made.body, endpoint=endpoint, tap=tap
        )
        (failure,) = await collect(gateway, made, wire=True)
        assert server.requests == []
    assert failure.fault.kind is FaultKind.AUTH
    assert "NO_SUCH_KEY is not set" in failure.fault.message


async def test_refusals_of_other_providers_come_through_litellm(gateway, tap):
    def other(server):
        return request(server, "other", provider="hosted_vllm", tap=tap)

    with Loopback(
        Reply.error(429, error("openai", 429, "rate", "Slow down."), retry_after_ms="700")
    ) as server:
        (failure,) = await collect(gateway, other(server))
        assert len(server.requests) == 1
    assert (failure.fault.kind, failure.fault.retry_after_ms) == (FaultKind.RATE_LIMIT, 700)
    message = (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    )
    with Loopback(Reply.error(400, error("openai", 400, "context_length_exceeded", message))) as server:
        (failure,) = await collect(gateway, other(server))
    assert (failure.fault.kind, failure.fault.tokens, failure.fault.limit) == (FaultKind.OVERFLOW, 9000, 8192)


async def test_a_safety_block_of_gemini(gateway, tap):
    stream = gemini([{"text": "x"}], finish="SAFETY")
    with Loopback(Reply(chunks=stream)) as server:
        assert await collect(gateway, request(server, "gemini", tap=tap)) == [
            TextDelta("x"),
            Finish("content-filter"),
        ]
