"""`qiming sessions`: the sessions of the store, the last changed first."""

import asyncio
from datetime import datetime
from pathlib import Path

import click
import msgspec

from qiming_tui.cli.options import json_option, settings_from, store_option
from qiming_tui.cli.output import number, print_json, print_lines, table
from qiming_tui.cli.stores import opened_store
from qiming_tui.model.changes import SessionLine
from qiming_tui.model.errors import NotFound
from qiming_tui.model.sanitize import one_line
from qiming_tui.model.usage import Basis

HEAD = ("id", "changed", "messages", "summaries", "context", "title", "folder")


@click.command()
@click.option("--here", is_flag=True, help="Only those of this folder.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, metavar="N")
@store_option
@json_option
def sessions(here: bool, limit: int, store: str | None, as_json: bool) -> None:
    """List the sessions of the store, the last changed first."""
    lines = asyncio.run(_lines(str(Path.cwd()) if here else None, limit, store))
    if as_json:
        print_json([msgspec.to_builtins(line) for line in lines])
    elif not lines:
        print_lines(["no sessions yet"])
    else:
        rows = [HEAD, *(row(line) for line in lines)]
        print_lines(table(rows, right=frozenset({2, 3})))


async def _lines(directory: str | None, limit: int, place: str | None) -> list[SessionLine]:
    try:
        with opened_store(place, settings_from({}), read_only=True) as store:
            return await store.sessions(directory=directory, limit=limit)
    except NotFound:
        return []


def row(line: SessionLine) -> tuple[str, ...]:
    """One session's cells; the context is tokens of usable ones, `~` where they are not measured. The time is
    the machine's, with its zone."""
    changed = datetime.fromtimestamp(line.updated / 1000).astimezone().strftime("%Y-%m-%d %H:%M %z")
    mark = "" if line.basis is Basis.MEASURED else "~"
    context = "" if line.count is None else f"{mark}{line.count:,} of {number(line.usable)}"
    if line.percent is not None:
        context += f" ({line.percent}%)"
    counts = (str(line.messages), str(line.boundaries))
    return (line.id, changed, *counts, context, one_line(line.title, limit=40), line.directory)
