"""JSON for our values: what we do not know is kept, and written back unchanged.

Values that come from files (sessions of other versions, of other programs) derive from `Open`.
`from_raw` keeps every key that the value itself would not write in `extra`; `to_raw` puts it back,
so that reading and writing are equal as JSON (`data.md` 1). "Written" fields win over `extra`.
"""

import hashlib
from typing import Any

import msgspec

JSON = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict."""


class Open(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value from outside. Fields with their default are not written, unless `extra` says they were."""

    extra: dict[str, JSON] = {}
    """Keys of the original object that this value does not write itself, with their values."""


def _names(value: msgspec.Struct) -> dict[str, str]:
    return dict(zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True))


def to_raw(value: object) -> JSON:
    """The JSON value (dicts, lists, scalars) of any value of ours; `extra` is merged back in."""
    if isinstance(value, Open):
        return _open_to_raw(value)
    if isinstance(value, (list, tuple)):
        return [to_raw(item) for item in value]
    if isinstance(value, dict):
        return {key: to_raw(item) for key, item in value.items()}
    return msgspec.to_builtins(value)


def _open_to_raw(value: Open) -> dict[str, JSON]:
    out: dict[str, JSON] = {}
    config = type(value).__struct_config__
    if config.tag is not None and config.tag_field is not None:
        out[config.tag_field] = config.tag
    names = _names(value)
    required = len(value.__struct_fields__) - len(value.__struct_defaults__)
    for index, (field, name) in enumerate(names.items()):
        if field == "extra":
            continue
        item = getattr(value, field)
        if index >= required:
            default = value.__struct_defaults__[index - required]
            if default is not msgspec.NODEFAULT and _is_default(item, default):
                continue
        out[name] = to_raw(item)
    for key, item in value.extra.items():
        out.setdefault(key, item)
    return out


def _is_default(item: object, default: object) -> bool:
    factory = getattr(default, "factory", None)
    plain = factory() if factory else default
    return type(item) is type(plain) and bool(item == plain)


def _fold_extra(value: JSON, raw: JSON) -> JSON:
    """`value` with the `extra` of it and of all that it holds filled from `raw`, its JSON form."""
    if isinstance(value, Open) and isinstance(raw, dict):
        names = _names(value)
        changed: dict[str, Any] = {}
        for field, name in names.items():
            if field != "extra" and name in raw:
                old = getattr(value, field)
                new = _fold_extra(old, raw[name])
                if new is not old:
                    changed[field] = new
        written = _open_to_raw(value)
        rest = {key: item for key, item in raw.items() if key not in written}
        if rest:
            changed["extra"] = rest
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, (list, tuple)) and isinstance(raw, list) and len(raw) == len(value):
        folded = [_fold_extra(item, part) for item, part in zip(value, raw, strict=True)]
        if any(new is not old for new, old in zip(folded, value, strict=True)):
            return tuple(folded) if isinstance(value, tuple) else folded
    return value


def from_raw(raw: JSON, cls: JSON) -> JSON:
    """Decode a JSON value into `cls` (an `Open` type or a union of them), keeping what it does not know.

    Raises `msgspec.ValidationError`, with the path of the offending field, when the shape is not `cls`'s.
    """
    return _fold_extra(msgspec.convert(raw, cls), raw)


_DETERMINISTIC = msgspec.json.Encoder(order="deterministic")


def canonical(value: JSON) -> bytes:
    """Deterministic JSON (sorted keys, compact, UTF-8): the bytes that are hashed and stored as blobs."""
    return _DETERMINISTIC.encode(value)


def decode(data: bytes | str) -> JSON:
    """Parse JSON; raises `msgspec.DecodeError` with the byte offset."""
    return msgspec.json.decode(data)


def digest(data: bytes) -> str:
    """SHA-256 in hex (64 characters), the name of content everywhere in the ledger."""
    return hashlib.sha256(data).hexdigest()
