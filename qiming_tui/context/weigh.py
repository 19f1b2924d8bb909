"""Tokens of items, and of a body counted from scratch by the same rule (`data.md` 2: the sums are equal).

The rule: every message, call and tool schema has a fixed frame; every string is counted once. Where several
items share one string (system blocks, texts of one answer) an item weighs what it adds to the string, so that
the sum stays exact. Pictures and documents weigh by their own measure, never by the length of their base64.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Final

from qiming_tui.context.assemble import FIXED_ROLES, JOIN, content_block, runs
from qiming_tui.context.tokens import Tally, estimate
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.window import Item

MESSAGE_TOKENS: Final = 4
CALL_TOKENS: Final = 6
TOOL_TOKENS: Final = 8
IMAGE_TOKENS: Final = 1_100
"""A picture whose size cannot be read."""
PIXELS_A_TOKEN: Final = 750
BYTES_A_TOKEN: Final = 40
"""A document's base64 characters to a token: about 2,000 tokens for a page of 60 KiB."""


def weigh_run(run: Sequence[Item], tally: Tally) -> list[int]:
    """Tokens of each item of one message (or of neighbouring tool schemas)."""
    role = run[0].value["role"]
    if role == "tool-schema":
        return [_schema({k: v for k, v in item.value.items() if k != "role"}, tally) for item in run]
    joined: dict[str, str] = {}
    out = []
    for index, item in enumerate(run):
        value = item.value
        tokens = 0 if index else MESSAGE_TOKENS
        if role == "tool":
            tokens += tally.tokens(value["content"])
            tokens += sum(_block(content_block(file), tally) for file in value.get("attachments", ()))
        elif role == "user":
            tokens += _block(content_block(value), tally)
        else:
            tokens += _spoken(value, joined, tally)
        out.append(tokens)
    return out


def _spoken(value: Mapping[str, JSON], joined: dict[str, str], tally: Tally) -> int:
    """What one item adds to a system or assistant message; `joined` holds its strings so far."""
    kind = value.get("type", "text")
    if kind == "call":
        return CALL_TOKENS + tally.tokens(value["name"]) + tally.tokens(value["arguments"])
    if kind == "thinking":
        redacted = value.get("redacted")
        return tally.tokens(value["text"]) if redacted is None else estimate(redacted)
    before = joined.get(kind)
    text: str = value["text"]
    if before is None:
        joined[kind] = text
        return tally.tokens(text)
    if kind == "reasoning" and not (before and text):
        joined[kind] = before or text
    else:
        joined[kind] = before + JOIN + text
    return tally.tokens(joined[kind]) - tally.tokens(before)


def _schema(function: Mapping[str, JSON], tally: Tally) -> int:
    return TOOL_TOKENS + tally.tokens(canonical(function).decode())


def _block(block: Mapping[str, JSON], tally: Tally) -> int:
    if block["type"] == "text":
        return tally.tokens(block["text"])
    if block["type"] == "image_url":
        return image_tokens(block["image_url"]["url"])
    return max(1_500, len(block["file"]["file_data"]) // BYTES_A_TOKEN)


def recount(body: Mapping[str, JSON], tally: Tally) -> int:
    """Tokens of a whole request body; equal to the sum over the items it was assembled from."""
    total = sum(_schema(tool["function"], tally) for tool in body.get("tools", ()))
    for message in body["messages"]:
        total += MESSAGE_TOKENS
        content = message.get("content")
        if isinstance(content, str):
            total += tally.tokens(content)
        elif content:
            total += sum(_block(block, tally) for block in content)
        for block in message.get("thinking_blocks", ()):
            thinks = block["type"] == "thinking"
            total += tally.tokens(block["thinking"]) if thinks else estimate(block["data"])
        total += tally.tokens(message.get("reasoning_content", ""))
        for call in message.get("tool_calls", ()):
            function = call["function"]
            total += CALL_TOKENS + tally.tokens(function["name"]) + tally.tokens(function["arguments"])
    return total


def weigh(items: Sequence[Item], tally: Tally) -> list[int]:
    """Tokens of each item of a request, or of a stretch of it, in the order of the items."""
    tokens = [count for run in runs(items) for count in weigh_run(run, tally)]
    if not items or items[0].value["role"] not in FIXED_ROLES:
        return tokens
    roles = [item.value["role"] for item in items]
    places = [place for fixed in FIXED_ROLES for place, role in enumerate(roles) if role == fixed]
    places += range(len(places), len(items))
    return [count for _, count in sorted(zip(places, tokens, strict=True))]


def image_tokens(url: str) -> int:
    """Tokens of a picture: pixels / 750 between 85 and 1,600 (the larger providers' order of magnitude);
    a fixed 1,100 when its size cannot be read from a data: URL."""
    size = _image_size(url)
    return IMAGE_TOKENS if size is None else min(1_600, max(85, size[0] * size[1] // PIXELS_A_TOKEN))


def _image_size(url: str) -> tuple[int, int] | None:
    """Width and height from the first bytes of a PNG, GIF or JPEG."""
    head, _, data = url[:100_000].partition(",")
    if not head.startswith("data:image/") or "base64" not in head:
        return None
    try:
        raw = base64.b64decode(data[: len(data) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    if raw[:8] == b"\x89PNG\r\n\x1a\n" and len(raw) >= 24:
        return int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
    if raw[:4] == b"GIF8" and len(raw) >= 10:
        return int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little")
    return _jpeg_size(raw) if raw[:2] == b"\xff\xd8" else None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 < len(raw) and raw[place] == 0xFF:
        marker = raw[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = raw[place + 5 : place + 7], raw[place + 7 : place + 9]
            return int.from_bytes(width), int.from_bytes(height)
        place += 2 + int.from_bytes(raw[place + 2 : place + 4])
    return None
