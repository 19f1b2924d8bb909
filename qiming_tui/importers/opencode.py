"""OpenCode's export (`{"info", "messages": [{"info", "parts"}]}`), and our own, which is the same shape.

What we know beyond OpenCode stands under one top-level key, `qiming`; unknown fields and parts survive, so
that an export that is read and written again is equal as JSON (session-formats 1, conformance 4).
"""

import json
from typing import Final

import msgspec

from qiming_tui.importers.complete import complete, trimmed
from qiming_tui.importers.derive import edits_of
from qiming_tui.importers.mend import mend, without_surrogates
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.codec import JSON, decode, digest, from_raw, to_raw
from qiming_tui.model.edits import Edit, EditRecord, Switch
from qiming_tui.model.errors import FormatError
from qiming_tui.model.ledger import Attempt
from qiming_tui.model.messages import Entry, Session, entry_from_raw, entry_to_raw
from qiming_tui.model.parts import Completed, ToolPart

KEY: Final = "qiming"
VERSION: Final = 1
_BESIDE: Final = "qimingBeside"
_BANNER: Final = b"Exporting session:"
_HINT_2X: Final = "export the session with an OpenCode 1.x program, or wait for a version that reads 2.x"


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A session read from a file, and sentences on what had to be mended."""

    record: SessionRecord
    notes: tuple[str, ...] = ()


def sniff(data: bytes) -> str | None:
    """`opencode` or `opencode 2.x` if the bytes are such an export, else None; never raises."""
    try:
        raw = _parse(data)[0]
    except FormatError:
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("messages"), list) or "info" not in raw:
        return None
    return "opencode 2.x" if _is_2x(raw["messages"]) else "opencode"


def read(data: bytes) -> Imported:
    """A session from the bytes of an export.

    `seq` is the order by (time, id) in OpenCode's files (facts 100, 101, 117), the file's own in ours. The
    edits of our files are read as they are, of OpenCode's derived. Raises FormatError with the place.
    """
    raw, notes = _parse(data)
    _check_shape(raw)
    ours = raw.get(KEY)
    if ours is not None:
        _check_ours(ours)
        raw = _put_back(raw, ours)
    raw = _pack(raw)
    mended = mend(raw["info"], raw["messages"], fallback=digest(data), keep_order=ours is not None)
    session = _decode(mended.info, Session, "info")
    entries = tuple(_entry(message, place, seq) for seq, (place, message) in enumerate(mended.messages))
    edits: tuple[EditRecord, ...] = edits_of(session.id, entries)
    attempts: tuple[Attempt, ...] = ()
    if ours is not None:
        if session.preset is not None:
            session = trimmed(session)
            entries = tuple(Entry(trimmed(e.info), trimmed(e.parts), e.seq) for e in entries)
        edits = tuple(_edit(item, n) for n, item in enumerate(ours.get("edits", [])))
        attempts = tuple(
            _convert(item, Attempt, f"{KEY}.attempts[{n}]") for n, item in enumerate(ours.get("attempts", []))
        )
    record = SessionRecord(session=session, entries=entries, edits=edits, attempts=attempts)
    return Imported(record=record, notes=(*notes, *mended.notes))


def write(record: SessionRecord, *, program: str) -> bytes:
    """The bytes of an export, two spaces deep, with a newline at the end, as OpenCode writes it.

    `program` is our name and version, kept under the key. The key is left out where the rest says it all.
    Raises ValueError if an output was left in the store: load it first.
    """
    _check_outputs(record)
    info, session_extra = _split(to_raw(record.session))
    beside = session_extra.pop(_BESIDE, {})
    messages, message_extra, part_extra = [], {}, {}
    for entry in record.entries:
        raw = entry_to_raw(entry)
        message, extra = _split(raw["info"])
        beside_message = extra.pop(_BESIDE, {})
        if extra:
            message_extra[entry.id] = extra
        parts = []
        for part in raw["parts"]:
            kept, extra = _split(part)
            if extra:
                part_extra[str(part.get("id"))] = extra
            parts.append(kept)
        messages.append({"info": message, "parts": parts, **beside_message})
    body: dict[str, JSON] = {"info": info, "messages": messages, **beside}
    if record.session.preset is not None:
        complete(body)
    ours = {
        "session": session_extra,
        "messages": message_extra,
        "parts": part_extra,
        "edits": [msgspec.to_builtins(edit) for edit in record.edits],
        "attempts": [msgspec.to_builtins(attempt) for attempt in record.attempts],
    }
    if _says_more(record, ours):
        body[KEY] = {"version": VERSION, "program": program, **{k: v for k, v in ours.items() if v}}
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _says_more(record: SessionRecord, ours: dict[str, JSON]) -> bool:
    """Whether a reader of the plain shape would not arrive at this record."""
    if any(ours[key] for key in ("session", "messages", "parts", "attempts")):
        return True
    if record.edits != edits_of(record.session.id, record.entries):
        return True
    order = [(entry.info.time.created, entry.id) for entry in record.entries]
    return order != sorted(order)


def _parse(data: bytes) -> tuple[JSON, list[str]]:
    """The JSON of a file, and notes; a byte order mark and OpenCode's banner line are left out."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    if text.startswith(_BANNER):
        text = text.partition(b"\n")[2]
    if not text.strip():
        raise FormatError("the file is empty", "an export is one JSON object with info and messages")
    try:
        return decode(text), []
    except RecursionError as error:
        raise FormatError("not readable: nested too deeply") from error
    except msgspec.DecodeError as error:
        # JavaScript writes cut emoji as lone surrogates, which no UTF-8 text can hold.
        try:
            raw = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise FormatError(f"not JSON: {error}") from error
        return without_surrogates(raw), ["half characters (lone surrogates) were replaced"]


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _is_2x(messages: list[JSON]) -> bool:
    first = messages[0] if messages else None
    return isinstance(first, dict) and "info" not in first and "type" in first


def _check_shape(raw: JSON) -> None:
    if not isinstance(raw, dict):
        raise FormatError(
            f"not a session: expected an object with info and messages, got {_kind(raw)}",
            "OpenCode's export is read: opencode export ID",
        )
    for key, kind in (("info", dict), ("messages", list)):
        if not isinstance(raw.get(key), kind):
            what = "is missing" if key not in raw else f"is {_kind(raw[key])}"
            raise FormatError(f"not a session: {key} {what}", "OpenCode's export is read: opencode export ID")
    if _is_2x(raw["messages"]):
        raise FormatError(
            "messages[0].info is missing: an OpenCode 2.x export, which we do not read", _HINT_2X
        )
    for index, message in enumerate(raw["messages"]):
        place = f"messages[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("info"), dict):
            raise FormatError(f"{place}.info: expected an object")
        parts = message.get("parts", [])
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise FormatError(f"{place}.parts: expected a list of objects")


def _check_ours(ours: JSON) -> None:
    if not isinstance(ours, dict) or not isinstance(ours.get("version"), int):
        raise FormatError(f"{KEY}.version: expected a number")
    if ours["version"] > VERSION:
        raise FormatError(
            f"{KEY}.version: written by a newer program ({ours['version']}, we read {VERSION})",
            "update QimingTUI to read it",
        )
    kinds = {"session": dict, "messages": dict, "parts": dict, "edits": list, "attempts": list}
    for key, kind in kinds.items():
        if key in ours and not isinstance(ours[key], kind):
            raise FormatError(f"{KEY}.{key}: expected {'an object' if kind is dict else 'a list'}")


def _put_back(raw: dict[str, JSON], ours: dict[str, JSON]) -> dict[str, JSON]:
    """Our own fields at the places where the values have them."""
    by_message, by_part = ours.get("messages", {}), ours.get("parts", {})
    messages = []
    for message in raw["messages"]:
        info = {**message["info"], **_object(by_message, message["info"].get("id"))}
        parts = [{**part, **_object(by_part, part.get("id"))} for part in message.get("parts", [])]
        messages.append({**message, "info": info, "parts": parts})
    return {**raw, "info": {**raw["info"], **ours.get("session", {})}, "messages": messages}


def _pack(raw: dict[str, JSON]) -> dict[str, JSON]:
    """What stands beside `info` and its fellows, carried along inside `info`, so that it survives a store."""
    messages = []
    for message in raw["messages"]:
        rest = {key: value for key, value in message.items() if key not in {"info", "parts"}}
        messages.append({**message, "info": {**message["info"], _BESIDE: rest}} if rest else message)
    rest = {key: value for key, value in raw.items() if key not in {"info", "messages", KEY}}
    info = {**raw["info"], _BESIDE: rest} if rest else raw["info"]
    return {**raw, "info": info, "messages": messages}


def _object(table: dict[str, JSON], key: JSON) -> dict[str, JSON]:
    found = table.get(key, {}) if isinstance(key, str) else {}
    if not isinstance(found, dict):
        raise FormatError(f"{KEY}: {key}: expected an object")
    return found


def _split(raw: dict[str, JSON]) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """An object without our own fields (`qiming...`), and those."""
    extra = {key: value for key, value in raw.items() if key.startswith(KEY)}
    return ({k: v for k, v in raw.items() if k not in extra} if extra else raw), extra


def _check_outputs(record: SessionRecord) -> None:
    for entry in record.entries:
        for part in entry.parts:
            if isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.stored:
                raise ValueError(f"the output of {part.id} was not loaded")


def _entry(raw: dict[str, JSON], place: int, seq: int) -> Entry:
    try:
        return entry_from_raw(raw, seq)
    except msgspec.ValidationError as error:
        raise FormatError(_located(f"messages[{place}].info", error)) from error


def _edit(raw: JSON, n: int) -> EditRecord:
    place = f"{KEY}.edits[{n}]"
    kind = Switch if isinstance(raw, dict) and "on" in raw else Edit
    found: EditRecord = _convert(raw, kind, place)
    return found


def _decode(raw: JSON, cls: JSON, place: str) -> JSON:
    try:
        return from_raw(raw, cls)
    except msgspec.ValidationError as error:
        raise FormatError(_located(place, error)) from error


def _convert(raw: JSON, cls: JSON, place: str) -> JSON:
    try:
        return msgspec.convert(raw, cls)
    except msgspec.ValidationError as error:
        raise FormatError(_located(place, error)) from error


def _located(place: str, error: msgspec.ValidationError) -> str:
    """msgspec's message with our place before its path: `messages[3].info.time.created: Expected ...`."""
    text, _, path = str(error).partition(" - at `$")
    return f"{place}{path.rstrip('`')}: {text}"


def _kind(value: JSON) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number"}
    names |= {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
