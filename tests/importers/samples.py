"""The real exports under tests/data, and small ones made by hand."""

import lzma
from pathlib import Path

import msgspec

DATA = Path(__file__).resolve().parent.parent / "data" / "opencode"
NAMES = ("compaction-1.4.3", "pruned-1.2.20", "small-1.14.28")


def sample(name: str) -> bytes:
    """The bytes of a real export."""
    return lzma.decompress((DATA / f"{name}.json.xz").read_bytes())


def text(id: str, words: str, **more: object) -> dict[str, object]:
    """A text part without the identities that are implied."""
    return {"id": id, "type": "text", "text": words, **more}


def user(id: str, created: int, *parts: dict[str, object], **info: object) -> dict[str, object]:
    """A user message."""
    return {"info": {"id": id, "role": "user", "time": {"created": created}, **info}, "parts": list(parts)}


def assistant(
    id: str, created: int, parent: str, *parts: dict[str, object], **info: object
) -> dict[str, object]:
    """A finished assistant message without usage."""
    base = {"id": id, "role": "assistant", "parentID": parent, "finish": "stop"}
    return {"info": {**base, "time": {"created": created}, **info}, "parts": list(parts)}


def export(*messages: dict[str, object], **info: object) -> bytes:
    """The bytes of a small export."""
    return msgspec.json.encode({"info": {"id": "ses_1", **info}, "messages": list(messages)})
