"""A unified difference as rows: number, sign, text, each on the tone of its sign (mock, Rows: Diff)."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from qiming_tui.tui.widgets.conversation.face import COST_CELLS, GUTTER, MEASURE, SUBJECT
from qiming_tui.tui.widgets.conversation.lines import Line, spaces
from qiming_tui.tui.widgets.conversation.looks import BOLD, Looks
from qiming_tui.tui.widgets.conversation.wrap import hard

PREVIEW: Final = 6
PREVIEW_COMPACT: Final = 4
NUMBER_CELLS: Final = 4
SIGN_CELLS: Final = 3
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Change(NamedTuple):
    """A row of a difference; `number` is the line in the old file for "-", in the new one otherwise."""

    sign: str
    number: int
    text: str


def changes(text: str) -> Iterator[Change]:
    """The rows of a unified difference; a row with the sign "@" stands between two hunks."""
    old = new = 0
    inside = False
    for line in text.split("\n"):
        found = _HUNK.match(line)
        if found:
            if inside:
                yield Change("@", 0, "")
            old, new = int(found[1]), int(found[2])
            inside = True
        elif not inside or line.startswith("\\"):
            continue
        elif line.startswith("+"):
            yield Change("+", new, line[1:])
            new += 1
        elif line.startswith("-"):
            yield Change("-", old, line[1:])
            old += 1
        elif line.startswith(" "):
            yield Change(" ", new, line[1:])
            old, new = old + 1, new + 1


def preview(rows: list[Change], *, context: bool, most: int) -> list[Change]:
    """The changed rows, at most `most`, with one row of context before the first."""
    first = next((index for index, row in enumerate(rows) if row.sign in "+-"), 0)
    picked = [row for row in rows if row.sign in "+-"]
    if context and first and rows[first - 1].sign == " ":
        picked.insert(0, rows[first - 1])
    return picked[:most]


def dedented(rows: list[Change]) -> list[Change]:
    """The rows without the blanks that all of them begin with: a small screen has no room for them."""
    texts = [row.text.expandtabs(4) for row in rows]
    indents = [len(text) - len(text.lstrip()) for text in texts if text.strip()]
    by = min(indents, default=0)
    return [row._replace(text=text[by:]) for row, text in zip(rows, texts, strict=True)]


def diff_rows(text: str, *, width: int, looks: Looks, whole: bool, piece: int) -> list[Line]:
    """A difference below the row of its call; a few rows of it unless it is opened."""
    rows = list(changes(text))
    shown = rows
    if not whole:
        most = PREVIEW_COMPACT if looks.compact else PREVIEW
        shown = preview(rows, context=not looks.compact, most=most)
        if looks.compact:
            shown = dedented(shown)
    end = min(MEASURE + GUTTER, width - COST_CELLS - 1)  # where code ends, too

    room = max(4, end - SUBJECT - NUMBER_CELLS - SIGN_CELLS - 1)
    lines = [line for row in shown for line in _row(row, room, looks, piece if whole else -1)]
    left = sum(row.sign in "+-" for row in rows) - sum(row.sign in "+-" for row in shown)
    if left > 0:
        words = f"{looks.glyphs.cut} {left:,} more changed line{'s' * (left != 1)}"
        hint = (Segment(words, looks.ink("faint")), spaces(2), Segment("space", looks.ink("key")))
        lines.append(Line((spaces(SUBJECT + 1), *hint), copied=False))
    return lines


def _row(row: Change, room: int, looks: Looks, piece: int) -> list[Line]:
    if row.sign == "@":
        tone = looks.tone("code")
        cells = room + NUMBER_CELLS + SIGN_CELLS + 1
        mark = Segment(looks.glyphs.cut.rjust(NUMBER_CELLS), looks.ink("faint") + tone)
        return [Line((spaces(SUBJECT), mark, spaces(cells - NUMBER_CELLS, tone)), copied=False)]
    name = {"+": "add", "-": "remove"}.get(row.sign, "")
    tone = looks.tone(f"{name}-row" if name else "code")
    ink = looks.ink("text" if name else "muted") + tone
    sign = looks.ink(name or "muted") + tone + BOLD
    out: list[Line] = []
    pieces = hard(row.text.expandtabs(4), width=room)
    for index, part in enumerate(pieces):
        number = str(row.number) if index == 0 else ""
        shown = row.sign if index == 0 else " "
        segments = (
            spaces(SUBJECT),
            Segment(number.rjust(NUMBER_CELLS), looks.ink("faint") + tone),
            Segment(f" {shown} ", sign),
            Segment(part, ink),
            spaces(room - cell_len(part) + 1, tone),
        )
        join = "\n" if index == len(pieces) - 1 else ""
        before = SUBJECT + max(NUMBER_CELLS, len(number)) + SIGN_CELLS
        out.append(Line(segments, part, before, join, piece))
    return out
