"""What every OpenCode 1.x export has and our values leave out because it is the default."""

from typing import Any

import msgspec

from qiming_tui.model.codec import JSON, Open, to_raw
from qiming_tui.model.usage import NO_TOKENS


def complete(body: dict[str, JSON]) -> None:
    """Fill in, in place, the defaults that OpenCode's importer asks for; what is there stays."""
    info = body["info"]
    for key, value in (("slug", ""), ("projectID", "global"), ("directory", ""), ("title", "")):
        info.setdefault(key, value)
    for message in body["messages"]:
        own = message["info"]
        own.setdefault("agent", "build")
        if own["role"] == "assistant":
            own.setdefault("mode", "build")
            own.setdefault("tokens", to_raw(NO_TOKENS))
        for part in message["parts"]:
            if part.get("type") == "tool" and part["state"].get("status") == "pending":
                part["state"].setdefault("input", {})
                part["state"].setdefault("raw", "")


def trimmed(value: JSON) -> JSON:
    """A value without the defaults that its file spelled out: takes out again what `complete` filled in."""
    if isinstance(value, tuple):
        return tuple(trimmed(item) for item in value)
    if not isinstance(value, Open):
        return value
    known = set(value.__struct_encode_fields__)
    changed: dict[str, Any] = {}
    for field in value.__struct_fields__:
        old = getattr(value, field)
        if field == "extra":
            new = {key: item for key, item in old.items() if key not in known}
        else:
            new = trimmed(old)
        if new != old:
            changed[field] = new
    return msgspec.structs.replace(value, **changed) if changed else value
