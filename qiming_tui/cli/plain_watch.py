"""The plain front end on a session that another program writes: read-only, until it is free or taken."""

import asyncio
from enum import Enum
from typing import TextIO

from qiming_tui.cli.labels import Labels
from qiming_tui.session.follow import Follower
from qiming_tui.store.lease import Lease

HELP = "/take takes it over, /quit leaves; when the other program ends, this one goes on by itself"


class Choice(Enum):
    """How watching ended."""

    FREE = "free"
    """Nobody writes the session any more."""
    TAKE = "take"
    """The user takes it from whoever writes it."""
    LEAVE = "leave"


async def watch(
    follower: Follower, lines: "asyncio.Queue[str | None]", leave: asyncio.Event, out: TextIO
) -> Choice:
    """Show what is new in a session, as its writer would see it. Raises NotFound if it is deleted."""
    labels = Labels(out, echo_user=True)
    record = await follower.open()
    labels.line("session", f"{record.session.id} {_who(await follower.writer())}: read-only here\n{HELP}")
    quiet = follower.bus.listen(labels.write)
    free = asyncio.create_task(follower.until_free())
    left = asyncio.create_task(leave.wait())
    try:
        while True:
            read = asyncio.create_task(lines.get())
            await asyncio.wait({free, left, read}, return_when=asyncio.FIRST_COMPLETED)
            if free.done():
                read.cancel()
                free.result()
                labels.line("session", "the other program has ended; this one goes on")
                return Choice.FREE
            if left.done():
                read.cancel()
                return Choice.LEAVE
            choice = _choice(read.result())
            if choice is not None:
                return choice
            labels.line("session", f"nothing was sent: the session is read-only here. {HELP}")
    finally:
        free.cancel()
        left.cancel()
        quiet()


def _who(lease: Lease | None) -> str:
    return f"is written by process {lease.pid} on {lease.host}" if lease else "is written by another program"


def _choice(text: str | None) -> Choice | None:
    if text is None or text.strip() in ("/quit", "/exit", "/q"):
        return Choice.LEAVE
    return Choice.TAKE if text.strip() == "/take" else None
