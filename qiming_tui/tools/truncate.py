"""Cutting a long result to what the model may see (facts 164 and 165)."""

from dataclasses import dataclass
from typing import Final, Literal

Keep = Literal["head", "tail", "both"]

HINT: Final = "Use grep to find what you need, or read with offset and limit to see a part."


@dataclass(frozen=True)
class Cut:
    """The text for the model; `full` is the whole text, or None when nothing was cut."""

    text: str
    full: str | None = None


def size(text: str) -> int:
    """UTF-8 bytes; lone surrogates count as the character that replaces them."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def cut_bytes(text: str, limit: int, *, end: bool = False) -> str:
    """At most `limit` UTF-8 bytes of the beginning (or the end) of the text, never half a character."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    kept = data[len(data) - limit :] if end else data[:limit]
    return kept.decode("utf-8", "ignore")


def _take(lines: list[str], *, max_lines: int, max_bytes: int, end: bool) -> list[str]:
    """The first (or last) whole lines within both caps; a first line that is too long alone is cut."""
    kept: list[str] = []
    used = 0
    for line in reversed(lines) if end else lines:
        cost = size(line) + (1 if kept else 0)
        if len(kept) == max_lines or used + cost > max_bytes:
            break
        kept.append(line)
        used += cost
    if not kept and max_lines > 0 and lines:
        kept = [cut_bytes(lines[-1] if end else lines[0], max_bytes, end=end)]
    return kept[::-1] if end else kept


def truncate(text: str, *, max_lines: int, max_bytes: int, keep: Keep = "head", hint: str = HINT) -> Cut:
    """The text, or its head, tail or both ends with a line that says how much is missing (fact 164)."""
    lines = text.split("\n")
    if len(lines) <= max_lines and size(text) <= max_bytes:
        return Cut(text)
    share = 2 if keep == "both" else 1
    caps = {"max_lines": max_lines // share, "max_bytes": max_bytes // share}
    head = _take(lines, **caps, end=False) if keep != "tail" else []
    tail = _take(lines[len(head) :], **caps, end=True) if keep != "head" else []
    shown = sum(size(line) for line in head + tail) + max(len(head) + len(tail) - 1, 0)
    missing = len(lines) - len(head) - len(tail)
    by_lines = len(lines) > max_lines and missing > 0
    count, unit = (missing, "lines") if by_lines else (size(text) - shown, "bytes")
    marker = f"...{count} {unit} truncated..."
    pieces = ["\n".join(head)] if head else []
    pieces += [marker, hint] if not tail else [f"{marker}\n\n{hint}", "\n".join(tail)]
    return Cut("\n\n".join(pieces), text)
