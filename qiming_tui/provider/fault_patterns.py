"""The wordings by which providers say what went wrong (conformance 1.7 and 2.8; cases C-005, C-006, C-011).

Data only: `faults.classify` decides the order in which they are asked.
"""

import re
from typing import Final

_N: Final = r"(\d[\d,_]*)"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


OVERFLOW_CODES: Final = frozenset(
    {
        "context_length_exceeded",
        "context_too_large",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "exceed_context_size_error",
        "request_too_large",
    }
)

OVERFLOW: Final = _any(
    r"prompt is too long",
    r"prompt too long",
    r"request_too_large",
    r"input is too long for (the )?requested model",
    r"exceeds the (model'?s )?context window",
    r"exceeds (the )?(model'?s )?maximum context length",
    r"input token count.{0,80}exceeds the maximum",
    r"tokens in request more than max tokens allowed",
    rf"maximum prompt length is {_N}",
    r"reduce the length of (the|your) (messages|prompt|input)",
    rf"maximum context length (of|is) {_N}",
    rf"exceeds (the )?maximum allowed input length of {_N} tokens",
    rf"input \({_N} tokens\) is longer than the model'?s context length",
    rf"exceeds the limit of {_N}",
    r"exceeds the available context size",
    r"(greater|longer) than the context length",
    r"context window exceeds( the)? limit",
    r"exceeded model token limit",
    r"context[_ ]length[_ ]exceeded",
    r"context_too_large",
    r"request entity too large",
    rf"context length is only {_N} tokens",
    r"input length.{0,80}exceeds.{0,80}context length",
    r"exceeded (max(imum)? )?context length",
    rf"too large for model with {_N} maximum context length",
    rf"prompt has {_N} tokens,? but the configured context size is {_N} tokens",
    r"model_context_window_exceeded",
    r"too many tokens",
    r"token limit exceeded",
)

BARE_OVERFLOW: Final = _any(r"^\s*(400|413)\s*(status code)?\s*\(no body\)\s*$")
"""Providers that refuse a long request without a word."""

NOT_OVERFLOW: Final = _any(
    r"throttling error:", r"service unavailable:", r"rate[-_ ]?limit", r"too many requests", r"per minute"
)

OUTPUT_TOO_LARGE: Final = (
    re.compile(
        rf"max_(?:completion_)?tokens\b.{{0,80}}is too large: ?{_N}.*?"
        rf"maximum context length is (?P<limit>{_N}).*?request has (?P<tokens>{_N}) input tokens",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        rf"input length and `?max_tokens`? exceed context limit: (?P<tokens>{_N}) \+ {_N} > (?P<limit>{_N})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"maximum context length is (?P<limit>{_N}) tokens.*?requested {_N} tokens"
        rf" \((?P<tokens>{_N}) (?:in the messages|in your prompt|of text input|in the prompt).*?"
        rf"{_N} (?:in|for) the (?:completion|output)",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""Answers that were asked for are too long: `tokens` is the input, `limit` the window. Where the input alone
leaves room this is no overflow: a smaller max_tokens cures it, a summary does not (C-011)."""

OUTPUT_CAP: Final = _any(
    r"max_(completion_)?tokens\b.{0,80}is too large",
    rf"max_tokens: {_N} > {_N}, which is the maximum allowed number of output tokens",
    r"max_(completion_|output_)?tokens\b.{0,60}(less than or equal|at most|cannot be (greater|larger)|<=)",
    r"max_?output_?tokens\b.{0,60}(supported range|exceed)",
)
"""More output was asked for than the model can give; the input has nothing to do with it."""

SIZES: Final = (
    re.compile(rf"prompt is too long: (?P<tokens>{_N}) tokens? > (?P<limit>{_N})", re.I),
    re.compile(
        rf"input token count \(?(?P<tokens>{_N})\)? exceeds .*?allowed \(?(?P<limit>{_N})", re.I | re.S
    ),
    re.compile(rf"\((?P<tokens>{_N}) tokens?\).{{0,60}}\((?P<limit>{_N}) tokens?\)", re.I | re.S),
    re.compile(
        rf"maximum context length (?:is|of) (?P<limit>{_N})(?: tokens)?.*?"
        rf"\((?P<tokens>{_N}) (?:in the messages|in your prompt|in the prompt|of text input)",
        re.I | re.S,
    ),
    re.compile(
        rf"maximum (?:context|prompt) length (?:is|of) (?P<limit>{_N})(?: tokens)?.*?"
        rf"(?:resulted in|requested|sent|contains|has|request has|about) (?:about )?(?P<tokens>{_N})",
        re.I | re.S,
    ),
    re.compile(rf"prompt has (?P<tokens>{_N}) tokens,? but .*? is (?P<limit>{_N}) tokens", re.I),
    re.compile(rf"contains (?P<tokens>{_N}) tokens.*?model with (?P<limit>{_N}) maximum", re.I | re.S),
    re.compile(
        rf"input length (?:of )?\(?(?P<tokens>{_N})\)?.*?exceeds.*?length (?:of )?\(?(?P<limit>{_N})", re.I
    ),
    re.compile(rf"count of (?P<tokens>{_N}) exceeds the limit of (?P<limit>{_N})", re.I),
    re.compile(rf"token limit: ?(?P<limit>{_N}) \(requested: ?(?P<tokens>{_N})\)", re.I),
    re.compile(rf"context limit: (?P<tokens>{_N}) \+ {_N} > (?P<limit>{_N})", re.I),
    re.compile(rf"input length of (?P<limit>{_N})", re.I),
    re.compile(rf"maximum (?:context|prompt) length (?:is|of) (?P<limit>{_N})", re.I),
    re.compile(rf"with (?P<limit>{_N}) maximum context length", re.I),
    re.compile(rf"context length is only (?P<limit>{_N})", re.I),
    re.compile(rf"exceeds the limit of (?P<limit>{_N})", re.I),
)
"""How big the request was and how big the window is, as the provider says it; the first that fits counts."""

CONTENT_FILTER_CODES: Final = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
)
CONTENT_FILTER: Final = _any(
    r"content[_ ]filter",
    r"content management policy",
    r"content policy",
    r"blocked by .{0,30}safety",
    r"prohibited_content",
)

ACCOUNT_CODES: Final = frozenset(
    {
        "insufficient_quota",
        "usage_not_included",
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "permission_denied",
        "billing_error",
        "unauthenticated",
    }
)
ACCOUNT: Final = _any(
    r"insufficient_quota",
    r"usage_not_included",
    r"exceeded your current quota, please check your plan",
    r"credit balance is too low",
    r"incorrect api key",
    r"invalid (x-)?api[-_ ]?key",
    r"api key not valid",
)

NEVER_CODES: Final = frozenset({"invalid_prompt", "model_not_found"})
"""Repeating cannot cure these."""

RATE_LIMIT: Final = _any(
    r"rate[-_ ]?limit",
    r"rate increased too quickly",
    r"too[-_ ]many[-_ ]requests",
    r"throttling[_ ]?(error|exception)",
)

OVERLOADED: Final = _any(
    r"overloaded",
    r"resource[-_ ]?(has been )?exhausted",
    r"service[-_ ]unavailable",
    r"temporarily unavailable",
    r"(currently|temporarily) at capacity",
    r"model is (currently )?(busy|loading)",
)

NETWORK: Final = _any(
    r"terminated",
    r"fetch failed",
    r"network[-_ ]error",
    r"connection[-_ ]?(error|refused|lost|reset|closed|aborted)",
    r"connect(ion)? attempts? failed",
    r"cannot connect",
    r"socket hang up",
    r"getaddrinfo",
    r"name or service not known",
    r"enotfound|eai_again|econnrefused|econnreset|etimedout|epipe",
    r"timed?[- ]?out",
    r"disconnected",
    r"incomplete (chunked )?read",
    r"peer closed connection",
    r"ended (early|without)",
    r"without (a )?finish",
    r"decompress",
)

RETRY_TEXT: Final = _any(
    r"\b(429|500|502|503|504|524)\b",
    r"internal[-_ ](server[-_ ])?error",
    r"server[-_ ]error",
    r"provider[-_ ]returned[-_ ]error",
    r"(try|retry) (again|your request)",
    r"try again (later|in)",
)
"""Beside rate limits, overload and the network: texts that ask for a repetition."""
