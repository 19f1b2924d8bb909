"""The difference that a person is asked to allow, and that the result keeps."""

import difflib
from dataclasses import dataclass
from typing import Final

from qiming_tui.tools.truncate import truncate

MAX_LINES: Final = 1_000
MAX_BYTES: Final = 65_536
CONTEXT: Final = 3


@dataclass(frozen=True)
class Diff:
    """A unified diff, cut when it is very long, and the number of lines that come and go."""

    text: str
    additions: int
    deletions: int


def unified(name: str, old: str, new: str) -> Diff:
    """The difference of two texts. What is equal at both ends is set aside first: that keeps it quick."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = _equal(before, after)
    end = _equal(before[start:][::-1], after[start:][::-1])
    lead = max(start - CONTEXT, 0)
    trail = max(end - CONTEXT, 0)
    lines = list(
        difflib.unified_diff(
            before[lead : len(before) - trail], after[lead : len(after) - trail], n=CONTEXT, lineterm="\n"
        )
    )
    body = [_shifted(line, lead) if line.startswith("@@") else line for line in lines[2:]]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body
    )
    if not text:
        return Diff("", 0, 0)
    cut = truncate(
        f"--- a/{name}\n+++ b/{name}\n{text}".rstrip("\n"), max_lines=MAX_LINES, max_bytes=MAX_BYTES, hint=""
    )
    return Diff(cut.text.rstrip("\n"), added, removed)


def _equal(one: list[str], two: list[str]) -> int:
    count = 0
    for left, right in zip(one, two, strict=False):
        if left != right:
            break
        count += 1
    return count


def _shifted(header: str, by: int) -> str:
    """A hunk's header with its line numbers counted from the beginning of the file."""
    _, old, new, _ = header.split()
    return f"@@ -{_moved(old[1:], by)} +{_moved(new[1:], by)} @@\n"


def _moved(span: str, by: int) -> str:
    first, comma, count = span.partition(",")
    return f"{int(first) + by}{comma}{count}"
