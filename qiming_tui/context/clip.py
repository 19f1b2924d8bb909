"""Shorten the arguments of a call and keep them valid JSON (edit kind `clip`)."""

from qiming_tui.model.codec import JSON


def clip_arguments(arguments: dict[str, JSON], *, chars: int) -> dict[str, JSON]:
    """The arguments with at most `chars` characters of text kept, in the order of the keys; every cut string
    says how much is missing. The same object comes back when nothing had to be cut."""
    room = [max(0, chars)]
    clipped = _clip(arguments, room)
    return clipped if clipped != arguments and isinstance(clipped, dict) else arguments


def _clip(value: JSON, room: list[int]) -> JSON:
    if isinstance(value, str):
        kept = value[: room[0]]
        room[0] -= len(kept)
        missing = len(value) - len(kept)
        return value if not missing else f"{kept}[... {missing} characters cut]"
    if isinstance(value, dict):
        return {key: _clip(value[key], room) for key in sorted(value)}
    if isinstance(value, list):
        return [_clip(item, room) for item in value]
    return value
