"""Why a request failed: our own classes, from status, code, text and headers (conformance 1.7, 2.8, 2.10).

The library's exception classes are not believed: it calls an output request that is too big an overflow
(C-011), loses 529 and 413, and knows no provider's code.
"""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.stream import Fault, FaultKind
from qiming_tui.provider import fault_patterns as say

MESSAGE_CHARS: Final = 300
JSON_CHARS: Final = 1024 * 1024
_KIND_OF_STATUS: Final = {
    401: FaultKind.AUTH,
    402: FaultKind.AUTH,
    403: FaultKind.AUTH,
    408: FaultKind.NETWORK,
    429: FaultKind.RATE_LIMIT,
    502: FaultKind.NETWORK,
    503: FaultKind.OVERLOADED,
    504: FaultKind.NETWORK,
    524: FaultKind.NETWORK,
    529: FaultKind.OVERLOADED,
}
_RETRYABLE: Final = frozenset(
    {FaultKind.RATE_LIMIT, FaultKind.OVERLOADED, FaultKind.NETWORK, FaultKind.CHILD}
)


class _Said(msgspec.Struct, frozen=True):
    """What a reply says: its message, its codes (lower case) and the whole text."""

    message: str
    codes: frozenset[str]
    code: str | None
    text: str
    delay: str = ""
    tokens: int | None = None
    limit: int | None = None


def classify(
    status: int | None,
    code: str | None,
    text: str,
    headers: Mapping[str, str] | None = None,
    *,
    now_ms: int,
    provider: str = "",
) -> Fault:
    """The fault behind a refusal. `text` is the body or a message; `now_ms` (UTC) turns a date into a wait.

    `retry_after_ms` comes from retry-after-ms, retry-after (seconds or date) or a Google RetryInfo;
    `tokens` and `limit` are the provider's own numbers for an overflow or a too large output.
    """
    said = _listen(code, text)
    kind = _kind(status, said)
    tokens, limit = _sizes(said) if kind in (FaultKind.OVERFLOW, FaultKind.OUTPUT_TOO_LARGE) else (None, None)
    return Fault(
        kind=kind,
        message=_short(said.message) or _default_message(kind, status),
        status=status,
        code=said.code,
        retryable=_retryable(kind, status, said, provider),
        retry_after_ms=_retry_after_ms(headers or {}, said.delay, now_ms),
        tokens=tokens,
        limit=limit,
    )


def _kind(status: int | None, said: _Said) -> FaultKind:
    text, codes = said.text, said.codes
    throttled = bool(say.NOT_OVERFLOW.search(text)) or "rate_limit_exceeded" in codes
    kind = None
    if status not in (401, 403):
        kind = _size_kind(status, said, throttled)
    if kind is not None:
        return kind
    if codes & say.CONTENT_FILTER_CODES or (status in (None, 400, 403) and say.CONTENT_FILTER.search(text)):
        return FaultKind.CONTENT_FILTER
    if codes & say.ACCOUNT_CODES or say.ACCOUNT.search(text):
        return FaultKind.AUTH
    if codes & say.NEVER_CODES:
        return FaultKind.INVALID
    if status in _KIND_OF_STATUS:
        return _KIND_OF_STATUS[status]
    if throttled or say.RATE_LIMIT.search(text):
        return FaultKind.RATE_LIMIT
    if say.OVERLOADED.search(text):
        return FaultKind.OVERLOADED
    if (status is None or status >= 500) and say.NETWORK.search(text):
        return FaultKind.NETWORK
    return FaultKind.INVALID if status is not None and 400 <= status < 500 else FaultKind.UNKNOWN


def _size_kind(status: int | None, said: _Said, throttled: bool) -> FaultKind | None:
    """Overflow, an output request that is too large, or neither."""
    if throttled or (status == 429 and not said.codes & say.OVERFLOW_CODES):
        return None
    for pattern in say.OUTPUT_TOO_LARGE:
        if match := pattern.search(said.text):
            tokens, limit = _number(match["tokens"]), _number(match["limit"])
            room = limit - tokens
            return FaultKind.OUTPUT_TOO_LARGE if room >= limit // 8 else FaultKind.OVERFLOW
    if say.OUTPUT_CAP.search(said.text):
        return FaultKind.OUTPUT_TOO_LARGE
    if status == 413 or said.codes & say.OVERFLOW_CODES:
        return FaultKind.OVERFLOW
    bare = say.BARE_OVERFLOW.search(said.text) or (status == 400 and not said.text.strip())
    return FaultKind.OVERFLOW if bare or say.OVERFLOW.search(said.text) else None


def _retryable(kind: FaultKind, status: int | None, said: _Said, provider: str) -> bool:
    if kind in _RETRYABLE:
        return True
    if kind not in (FaultKind.INVALID, FaultKind.UNKNOWN) or said.codes & say.NEVER_CODES:
        return False
    if status is not None and status >= 500:
        return True
    if status == 404:
        return provider.startswith("openai") and not re.search(r"model|not.?found_error", said.text, re.I)
    return bool(say.RETRY_TEXT.search(said.text) or say.NETWORK.search(said.text))


def _sizes(said: _Said) -> tuple[int | None, int | None]:
    if said.tokens is not None or said.limit is not None:
        return said.tokens, said.limit
    for pattern in (*say.OUTPUT_TOO_LARGE, *say.SIZES):
        if match := pattern.search(said.text):
            found = match.groupdict()
            return (
                _number(found["tokens"]) if found.get("tokens") else None,
                _number(found["limit"]) if found.get("limit") else None,
            )
    return None, None


def _number(digits: str) -> int:
    return int(digits.replace(",", "").replace("_", ""))


def _retry_after_ms(headers: Mapping[str, str], delay: str, now_ms: int) -> int | None:
    lower = {name.lower(): value for name, value in headers.items()}
    exact = _positive(lower.get("retry-after-ms", ""))
    if exact is not None:
        return math.ceil(exact)
    after = lower.get("retry-after", "")
    seconds = _positive(after)
    if seconds is None and after:
        seconds = _until(after, now_ms)
    if seconds is None:
        seconds = _positive(delay.removesuffix("s"))
    return math.ceil(seconds * 1000) if seconds is not None else None


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


def _until(date: str, now_ms: int) -> float | None:
    try:
        wait_s = parsedate_to_datetime(date).timestamp() - now_ms / 1000
    except (ValueError, TypeError, OverflowError):
        return None
    return wait_s if wait_s > 0 else None


def _listen(code: str | None, text: str) -> _Said:
    """Read a reply: JSON in the shapes of the three wire formats, or plain text."""
    body = _json(text)
    error = body.get("error", body)
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, dict):
        error = {}
    names = [str(name) for name in (code, error.get("code"), error.get("type"), error.get("status")) if name]
    codes = frozenset(name.lower() for name in names)
    word = next((name for name in names if not name.isdigit()), None)
    message = error.get("message")
    inner = _json(message) if isinstance(message, str) else {}
    if inner:  # some proxies put the provider's whole JSON into their message
        deep = _listen(word, str(message))
        return msgspec.structs.replace(deep, codes=deep.codes | codes, text=text)
    return _Said(
        message=message
        if isinstance(message, str)
        else ("" if body or text.strip() in ("{}", "[]") else text),
        codes=codes,
        code=word,
        text=text,
        delay=_google_delay(error),
        tokens=_whole(error.get("n_prompt_tokens")),
        limit=_whole(error.get("n_ctx")),
    )


def _whole(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _google_delay(error: dict[str, JSON]) -> str:
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return str(detail["retryDelay"])
    return ""


def _json(text: str) -> dict[str, JSON]:
    """The JSON object that a text is, holds after a prefix, or begins a list with; {} when there is none."""
    start = text.find("{")
    if start < 0 or len(text) > JSON_CHARS:
        return {}
    for candidate in (text.strip(), text[start : text.rfind("}") + 1]):
        try:
            value = msgspec.json.decode(candidate)
        except msgspec.DecodeError:
            continue
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            return value
    return {}


def _short(message: str) -> str:
    words = " ".join("".join(char if char.isprintable() else " " for char in message).split())
    return words if len(words) <= MESSAGE_CHARS else words[: MESSAGE_CHARS - 1] + "…"


def _default_message(kind: FaultKind, status: int | None) -> str:
    words = kind.value.replace("_", " ")
    return words if status is None else f"{words} (HTTP {status})"
