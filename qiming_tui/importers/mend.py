"""Make a foreign session's ids unique and its identities complete, before it becomes values.

Published exports carry the id "REDACTED" many times over, hand-made ones leave out what is implied
(session-formats 1). New ids are derived from what is there: the same file always gives the same ids.
"""

from collections import Counter
from typing import Final

import msgspec

from qiming_tui.model.codec import JSON, digest
from qiming_tui.model.errors import FormatError

REDACTED: Final = "REDACTED"
_LENGTH: Final = 26


class Mended(msgspec.Struct, frozen=True):
    """The session's info, its messages in stored order with their place in the file, and what was changed."""

    info: dict[str, JSON]
    messages: tuple[tuple[int, dict[str, JSON]], ...]
    notes: tuple[str, ...]


class _Ids:
    """Hands out ids: the own one if it is good and new, else one derived from where it stood."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._seen: set[str] = set()
        self.replaced = 0

    def take(self, prefix: str, own: JSON, place: str) -> str:
        if _good(own) and own not in self._seen:
            self._seen.add(str(own))
            return str(own)
        self.replaced += 1
        new = f"{prefix}_{digest(f'{self._seed}/{place}'.encode())[:_LENGTH]}"
        self._seen.add(new)
        return new


def mend(info: JSON, messages: list[JSON], *, fallback: str, keep_order: bool) -> Mended:
    """Complete and unique identities; what is right stays as it is.

    `fallback` names a session without an id of its own, `keep_order` leaves the messages in the file's order
    instead of (time, id), and so do messages without times. Raises FormatError for a time that is none.
    """
    own = info.get("id")
    good = _good(own)
    session_id = str(own) if good else f"ses_{fallback[:_LENGTH]}"
    placed = list(enumerate(messages))
    times = _times(messages)
    if not keep_order and all("time" in message["info"] for message in messages):
        placed.sort(key=lambda item: (times[item[0]], str(item[1]["info"].get("id", ""))))
    ids = _Ids(session_id)
    olds = [message["info"].get("id") for message in messages]
    unclear = {old for old, times_seen in Counter(map(str, olds)).items() if times_seen > 1}
    out: list[tuple[int, dict[str, JSON]]] = []
    last_user = ""
    for place, message in placed:
        message_id = ids.take("msg", olds[place], f"{place}")
        filled = _message(message["info"], session_id=session_id, id=message_id, created=times[place])
        if filled["role"] == "assistant":
            parent = filled.get("parentID")
            filled = _assistant(filled, last_user if not _good(parent) or parent in unclear else str(parent))
        elif filled["role"] == "user":
            last_user = message_id
        parts = [
            _part(part, filled, ids.take("prt", part.get("id"), f"{place}/{n}"))
            for n, part in enumerate(message.get("parts", []))
        ]
        out.append((place, {**message, "info": filled, "parts": parts}))
    notes = []
    if ids.replaced:
        notes.append(f"{ids.replaced} ids were missing, repeated or redacted; they were given new ones")
    if not good:
        notes.append("the session had no id of its own; it was given one")
    full = _session(info, session_id, list(times.values()))
    return Mended(full, tuple(out), tuple(notes))


def without_surrogates(value: JSON) -> JSON:
    """The JSON value with half characters replaced, so that it can be encoded."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def _good(id: JSON) -> bool:
    return isinstance(id, str) and bool(id) and REDACTED not in id


def _times(messages: list[JSON]) -> dict[int, int | float]:
    """When each message of the file was made; one without a time is as old as the one before it."""
    out: dict[int, int | float] = {}
    last: int | float = 0
    for place, message in enumerate(messages):
        time = message["info"].get("time", {})
        created = time.get("created", last) if isinstance(time, dict) else time
        if isinstance(created, bool) or not isinstance(created, int | float):
            raise FormatError(f"messages[{place}].info.time.created: expected milliseconds")
        out[place] = last = created
    return out


def _session(info: dict[str, JSON], session_id: str, times: list[int | float]) -> dict[str, JSON]:
    out = {**info, "id": session_id}
    if "time" not in out:
        out["time"] = {"created": min(times, default=0), "updated": max(times, default=0)}
    return out


def _message(info: dict[str, JSON], *, session_id: str, id: str, created: int | float) -> dict[str, JSON]:
    out = {**info, "id": id}
    if not _good(out.get("sessionID")):
        out["sessionID"] = session_id
    if "role" not in out:
        out["role"] = "assistant" if "parentID" in out else "user"
    if "time" not in out:
        out["time"] = {"created": created}
    return out


def _assistant(info: dict[str, JSON], parent: str) -> dict[str, JSON]:
    out = {**info, "parentID": parent}
    out.setdefault("cost", 0)
    out.setdefault("modelID", "unknown")
    out.setdefault("providerID", "unknown")
    tokens = out.get("tokens")
    if isinstance(tokens, dict):
        out["tokens"] = _tokens(tokens)
    return out


def _tokens(tokens: dict[str, JSON]) -> dict[str, JSON]:
    """Usage with zeros for what was left out."""
    out = {"input": 0, "output": 0, "reasoning": 0, **tokens}
    cache = tokens.get("cache", {})
    if isinstance(cache, dict):
        out["cache"] = {"read": 0, "write": 0, **cache}
    return out if out != tokens else tokens


def _part(part: dict[str, JSON], message: dict[str, JSON], id: str) -> dict[str, JSON]:
    out = {**part, "id": id, "messageID": message["id"]}
    if not _good(out.get("sessionID")):
        out["sessionID"] = message["sessionID"]
    match out.get("type"):
        case "tool":
            out.setdefault("callID", id)
            if isinstance(out.get("state"), dict):
                out["state"] = _state(out["state"], message)
        case "compaction":
            out.setdefault("auto", False)
            if "tail_start_id" in out and not _good(out["tail_start_id"]):
                del out["tail_start_id"]
        case "step-finish":
            out.setdefault("cost", 0)
            if isinstance(out.get("tokens"), dict):
                out["tokens"] = _tokens(out["tokens"])
        case _:
            pass
    return out


def _state(state: dict[str, JSON], message: dict[str, JSON]) -> dict[str, JSON]:
    out = {**state}
    status = out.get("status")
    if status != "pending":
        out.setdefault("input", {})
    if status in {"running", "completed"}:
        time = out.get("time", {})
        if isinstance(time, dict) and "start" not in time:
            out["time"] = {"start": message["time"].get("created", 0), **time}
    return out
