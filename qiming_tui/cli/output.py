"""What commands print: JSON for programs, lines for people, and never a control sequence from outside."""

import json
import re
import sys
from collections.abc import Iterable, Sequence

import click

from qiming_tui.model.codec import JSON
from qiming_tui.model.sanitize import clean

_CONTROL = re.compile(r"[\x7f-\x9f]")


def json_line(value: JSON) -> str:
    """One line of JSON that is safe to print: control characters escaped, other scripts readable."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda hit: f"\\u{ord(hit[0]):04x}", text)


def print_json(value: JSON) -> None:
    """Print one JSON value on a line of its own."""
    click.echo(json_line(value))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people, stripped of control sequences (cases C-131)."""
    for line in lines:
        click.echo(clean(line)[0])


def print_error(message: str, hint: str = "") -> None:
    """Print an error, and what to do next, on stderr."""
    click.echo(f"error: {clean(message)[0]}", err=True)
    if hint:
        click.echo(f"hint: {clean(hint)[0]}", err=True)


def print_note(message: str) -> None:
    """Print what is worth knowing and no error, on stderr."""
    click.echo(f"note: {clean(message)[0]}", err=True)


def many(count: int, one: str) -> str:
    """`1 summary`, `2 summaries`: a number with its noun."""
    plural = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,} {one if count == 1 else plural}"


def number(value: int | None, unknown: str = "unknown") -> str:
    """Tokens with separators."""
    return unknown if value is None else f"{value:,}"


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Rows in columns, two cells apart; the columns of `right` are aligned to the right. All cleaned."""
    cells = [[clean(cell)[0].replace("\n", " ") for cell in row] for row in rows]
    widths = [max((len(row[n]) for row in cells), default=0) for n in range(len(cells[0]) if cells else 0)]
    return [
        "  ".join(
            cell.rjust(widths[n]) if n in right else cell.ljust(widths[n]) for n, cell in enumerate(row)
        ).rstrip()
        for row in cells
    ]


def plain_streams() -> None:
    """Make pipes and files UTF-8, whatever the locale says: `--json` is a contract."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure and not stream.isatty() and (stream.encoding or "").lower() not in {"utf-8", "utf8"}:
            reconfigure(encoding="utf-8")
