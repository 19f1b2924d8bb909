"""Reading a part of a text file of any size, without holding more than the part (fact 165)."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

LINE_CHARS: Final = 2_000
"""Characters of one line that the model sees."""
COUNT_BYTES: Final = 256 * 1024 * 1024
"""How far lines are counted beyond the part that is read."""
_PIECE: Final = 65_536
_CONTROL: Final = frozenset(range(32)) - {7, 8, 9, 10, 12, 13, 27}


@dataclass
class Part:
    """Lines `first` to `first + len(lines) - 1` of a file; `total` is None when not all were counted."""

    first: int
    lines: list[str] = field(default_factory=list)
    total: int | None = None
    capped: bool = False
    """The cap on bytes was reached before the wanted lines were all read."""


def is_binary(head: bytes) -> bool:
    """Whether the first bytes are no text: a NUL, or more than 30 % control or undecodable characters."""
    if b"\x00" in head:
        return True
    bad = sum(byte in _CONTROL for byte in head)
    bad += head[: max(len(head) - 3, 0)].decode("utf-8", "replace").count("\ufffd")
    return bad > 0.3 * len(head)


def read_part(path: Path, *, offset: int, limit: int, max_bytes: int, stop: threading.Event) -> Part:
    """Lines from `offset` (1 is the first), at most `limit` lines and about `max_bytes` bytes of text.

    Raises OSError. Ends early when `stop` is set (the call was cancelled).
    """
    with path.open("rb") as file:
        return _read(file, offset, limit, max_bytes, stop)


def _read(file: BinaryIO, offset: int, limit: int, max_bytes: int, stop: threading.Event) -> Part:
    part = Part(first=offset)
    number, used, seen = 0, 0, 0
    while not stop.is_set():
        piece = file.readline(_PIECE)
        if not piece:
            part.total = number
            return part
        line, seen = piece, seen + len(piece)
        while not piece.endswith(b"\n") and len(piece) == _PIECE and not stop.is_set():
            piece = file.readline(_PIECE)
            seen += len(piece)
        number += 1
        if number < offset:
            continue
        if len(part.lines) == limit:
            if seen > COUNT_BYTES:
                return part
            continue
        text = shown(line, start=number == 1)
        cost = len(text.encode("utf-8", "replace")) + 1
        if used + cost > max_bytes and part.lines:
            part.capped = True
            return part
        part.lines.append(text)
        used += cost
    return part


def shown(line: bytes, *, start: bool = False) -> str:
    """A line as the model sees it: no line end, no byte order mark, at most 2,000 characters."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    text = text.removeprefix("\ufeff") if start else text
    if len(text) > LINE_CHARS:
        return f"{text[:LINE_CHARS]}... (line truncated to {LINE_CHARS} chars)"
    return text
