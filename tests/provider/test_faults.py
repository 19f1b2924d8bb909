"""The classifier: every wording of conformance 1.7, the facts of 2.8 and 2.10, what is not an overflow."""

import json

import pytest

from qiming_tui.model.stream import FaultKind
from qiming_tui.provider.faults import MESSAGE_CHARS, classify

NOW = 1_800_000_000_000


def fault(status=None, text="", *, code=None, headers=None, provider=""):
    return classify(status, code, text, headers, now_ms=NOW, provider=provider)


OVERFLOWS = [
    ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
    ("request_too_large", None, None),
    ("Input is too long for requested model.", None, None),
    ("Your input exceeds the context window of this model.", None, None),
    ("Input exceeds the model's maximum context length of 131072.", None, 131_072),
    ("exceeds maximum context length of 4096", None, 4096),
    (
        "The input token count (1058724) exceeds the maximum number of tokens allowed (1,048,576).",
        1_058_724,
        1_048_576,
    ),
    ("The number of tokens in request more than max tokens allowed", None, None),
    (
        "This model's maximum prompt length is 131072 but the request contains 412533 tokens.",
        412_533,
        131_072,
    ),
    ("Please reduce the length of the messages or completion", None, None),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        9000,
        8192,
    ),
    ("Input length 9000 exceeds maximum allowed input length of 8192 tokens.", 9000, 8192),
    ("The input (9000 tokens) is longer than the model's context length (8192 tokens).", 9000, 8192),
    ("prompt token count of 130000 exceeds the limit of 128000", 130_000, 128_000),
    ("request (5031 tokens) exceeds the available context size (2048 tokens), try increasing it", 5031, 2048),
    ("The prompt is greater than the context length", None, None),
    ("context window exceeds limit (2013)", None, None),
    ("Your request exceeded model token limit: 131072 (requested: 150000)", 150_000, 131_072),
    ("context length exceeded", None, None),
    ("context_length_exceeded", None, None),
    ("request entity too large", None, None),
    ("The model's context length is only 4096 tokens", None, 4096),
    ("The input length 70000 exceeds the model's context length 65536", 70_000, 65_536),
    ("prompt too long; exceeded max context length by 4 tokens", None, None),
    ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 40_000, 32_768),
    ("prompt has 9000 tokens, but the configured context size is 8192 tokens", 9000, 8192),
    ("model_context_window_exceeded", None, None),
    ("too many tokens in the prompt", None, None),
    ("token limit exceeded", None, None),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8900 in the "
        "messages, 200 in the completion).",
        8900,
        8192,
    ),
    ("input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000", 199_000, 200_000),
]


@pytest.mark.parametrize(("text", "tokens", "limit"), OVERFLOWS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("shape", ["plain", "json", "library"])
def test_fact_91_overflow_wordings_and_their_numbers(text, tokens, limit, shape):
    said = {
        "plain": text,
        "json": json.dumps({"error": {"message": text, "type": "invalid_request_error"}}),
        "library": f"litellm.BadRequestError: ProviderException - {text}",
    }[shape]
    found = fault(400, said)
    assert (found.kind, found.tokens, found.limit, found.retryable) == (
        FaultKind.OVERFLOW,
        tokens,
        limit,
        False,
    )


@pytest.mark.parametrize("text", ["400 (no body)", "413 status code (no body)", "400 status code (no body)"])
def test_fact_91_refused_without_a_word(text):
    assert fault(None, text).kind is FaultKind.OVERFLOW
    assert fault(400, "").kind is FaultKind.OVERFLOW
    assert fault(413, "").kind is FaultKind.OVERFLOW


NOT_OVERFLOWS = [
    (429, "429 status code (no body)", FaultKind.RATE_LIMIT),  # fact 93
    (429, "", FaultKind.RATE_LIMIT),
    (400, "throttling error: too many tokens, please wait before trying again", FaultKind.RATE_LIMIT),
    (503, "service unavailable: too many tokens in flight", FaultKind.OVERLOADED),
    (400, "rate limit reached: too many tokens per minute", FaultKind.RATE_LIMIT),
    (429, "Too many requests; prompt is too long", FaultKind.RATE_LIMIT),
    (
        413,
        '{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, '
        'Requested 7000","type":"tokens","code":"rate_limit_exceeded"}}',
        FaultKind.RATE_LIMIT,
    ),
    (401, "token limit exceeded", FaultKind.AUTH),
    (400, "messages.3: text content blocks must be non-empty", FaultKind.INVALID),
]


@pytest.mark.parametrize(("status", "text", "kind"), NOT_OVERFLOWS)
def test_what_is_not_an_overflow(status, text, kind):
    assert fault(status, text).kind is kind


OUTPUTS = [
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 65536. This model's maximum context length is "
        "65536 tokens and your request has 10969 input tokens (65536 > 65536 - 10969). None",
        10_969,
        65_536,
    ),
    ("input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000", 150_000, 200_000),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (4904 in the "
        "messages, 4096 in the completion). Please reduce the length of the messages or completion.",
        4904,
        8192,
    ),
    ("max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m", None, None),
    ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens.", None, None),
]


@pytest.mark.parametrize(("text", "tokens", "limit"), OUTPUTS, ids=lambda value: str(value)[:40])
def test_c_011_too_much_output_is_not_an_overflow(text, tokens, limit):
    for said in (text, json.dumps({"error": {"message": text, "code": "context_length_exceeded"}})):
        found = fault(400, said)
        assert (found.kind, found.tokens, found.limit) == (FaultKind.OUTPUT_TOO_LARGE, tokens, limit)


@pytest.mark.parametrize(
    "code", ["context_length_exceeded", "context_too_large", "model_context_window_exceeded"]
)
def test_fact_88_92_c_005_codes_of_an_overflow(code):
    body = json.dumps({"type": "error", "error": {"code": code, "message": "no"}})
    for status in (None, 400, 422, 413):
        assert fault(status, body).kind is FaultKind.OVERFLOW
    assert fault(400, "no", code=code).kind is FaultKind.OVERFLOW


@pytest.mark.parametrize("code", ["insufficient_quota", "usage_not_included", "invalid_prompt"])
def test_fact_89_not_repeated_with_their_messages(code):
    found = fault(429, json.dumps({"error": {"code": code, "message": f"because {code}"}}))
    assert (found.retryable, found.message, found.code) == (False, f"because {code}", code)


def test_fact_90_a_json_in_the_message():
    inner = json.dumps({"error": {"code": "server_error", "message": "inner words"}})
    found = fault(None, json.dumps({"message": inner}))
    assert (found.retryable, found.message) == (True, "inner words")


def test_fact_94_anything_else_is_unknown():
    found = fault(None, "123")
    assert (found.kind, found.message, found.retryable) == (FaultKind.UNKNOWN, "123", False)


def test_fact_96_decompression_and_98_reset():
    for text in ("Failed to decompress the response", "read ECONNRESET"):
        found = fault(None, text)
        assert (found.kind, found.retryable) == (FaultKind.NETWORK, True)


def test_fact_99_404_of_openai_may_be_repeated_but_not_for_a_missing_model():
    assert fault(404, "Not here", provider="openai").retryable
    assert not fault(404, "Not here", provider="anthropic").retryable
    missing = json.dumps({"error": {"code": "model_not_found", "message": "The model `x` does not exist"}})
    assert not fault(404, missing, provider="openai").retryable


@pytest.mark.parametrize(
    ("headers", "expect"),
    [
        ({"retry-after-ms": "1500"}, 1500),  # fact 122
        ({"retry-after": "30"}, 30_000),  # fact 123
        ({"Retry-After": "Fri, 15 Jan 2027 08:00:20 GMT"}, 20_000),  # fact 124
        ({"retry-after": "not-a-number"}, None),  # fact 125
        ({"retry-after": "Fri, 99 Jan 2027"}, None),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, None),
        ({"retry-after": "50"}, 50_000),  # fact 126
        ({"retry-after-ms": "700000"}, 700_000),
        ({"retry-after-ms": "x", "retry-after": "1.2"}, 1200),
        ({"retry-after-ms": "700", "retry-after": "9"}, 700),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_fact_122_126_when_to_come_back(headers, expect):
    assert fault(429, "slow", headers=headers).retry_after_ms == expect


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"error":{"code":"too_many_requests"}}', FaultKind.RATE_LIMIT),
        ('{"error":{"code":"rate_limit_exceeded","message":"m"}}', FaultKind.RATE_LIMIT),
        ('{"error":{"code":"resource_exhausted"}}', FaultKind.OVERLOADED),
        ("Service Unavailable", FaultKind.OVERLOADED),
        ("Overloaded", FaultKind.OVERLOADED),
        ("rate increased too quickly", FaultKind.RATE_LIMIT),
    ],
)
def test_fact_129_texts_that_are_repeated(text, kind):
    found = fault(None, text)
    assert (found.kind, found.retryable) == (kind, True)


@pytest.mark.parametrize("text", ['{"error":{"code":"no_kv_space"}}', '{"error":{"code":123}}', "not-json"])
def test_fact_129_texts_that_are_not(text):
    assert not fault(None, text).retryable


@pytest.mark.parametrize(
    "text",
    [
        "internal server error",
        "Internal Error",
        "server_error",
        "provider returned error",
        "terminated",
        "fetch failed",
        "network error",
        "connect ECONNREFUSED 127.0.0.1",
        "ETIMEDOUT",
        "getaddrinfo EAI_AGAIN",
        "socket hang up",
        "The response timed out",
        "please retry your request",
        "try your request again, try again later",
        "status 524",
        "the model is currently at capacity",
    ],
)
def test_fact_130_131_132_plain_wordings(text):
    assert fault(None, text).retryable
    assert fault(400, json.dumps({"error": {"message": text}})).retryable


def test_fact_133_134_135():
    assert not fault(500, "context_length_exceeded").retryable
    for status in (500, 502, 503, 504, 529):
        assert fault(status, "").retryable
    assert not fault(400, "bad").retryable


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"code": "content_filter", "message": "no"}}, FaultKind.CONTENT_FILTER),
        (400, {"error": {"message": "blocked by our safety system"}}, FaultKind.CONTENT_FILTER),
        (402, {"error": {"message": "pay"}}, FaultKind.AUTH),
        (400, {"error": {"message": "Your credit balance is too low"}}, FaultKind.AUTH),
        (403, {"error": {"message": "no"}}, FaultKind.AUTH),
        (
            400,
            [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid"}}],
            FaultKind.AUTH,
        ),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, FaultKind.OVERLOADED),
    ],
)
def test_the_other_kinds(status, body, kind):
    assert fault(status, json.dumps(body)).kind is kind


def test_a_message_is_short_printable_and_never_empty():
    found = fault(400, json.dumps({"error": {"message": "a\x1b]52;c;aGk=\x07\nb" + "x" * 1000}}))
    assert len(found.message) == MESSAGE_CHARS
    assert "\x1b" not in found.message
    assert found.message.startswith("a ]52;c;aGk= b")
    assert fault(500, "{}").message == "unknown (HTTP 500)"


def test_hostile_bodies_are_read_without_a_crash():
    for text in (
        "{" * 5000,
        '{"error":{"message":{"a":1}}}',
        '{"error":[1]}',
        "[]",
        '{"error":null}',
        "\x00",
    ):
        assert fault(400, text).kind in (FaultKind.INVALID, FaultKind.OVERFLOW)
