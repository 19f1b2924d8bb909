"""Writes a session of so many messages into a data folder, as the program itself would have stored it, and
prints the arguments that open it: `python -m tests.bench.long_session DATA PROJECT MESSAGES`.

Nothing was compacted in it, so that all of it is in the window: the most work there is at the start.
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

from qiming_tui.cli.start import STORE_NAME
from qiming_tui.model.changes import Change, PutEdit, PutMessage, PutPart, PutSession
from qiming_tui.model.messages import Entry, Session, SessionTime
from qiming_tui.runtime import now_ms
from qiming_tui.store.store import Store
from tests.bench import history
from tests.context import make

MODEL = {"providerID": "mock", "id": "mock"}


def changes(entries: Iterable[Entry]) -> list[Change]:
    """What puts messages with all their parts into a store."""
    found: list[Change] = []
    for entry in entries:
        found.append(PutMessage(entry.info, entry.seq))
        found += [PutPart(part, seq) for seq, part in enumerate(entry.parts)]
    return found


def of(messages: int) -> tuple[Entry, ...]:
    """A history of about so many messages (whole turns)."""
    return history.entries(messages // history.MESSAGES_A_TURN * history.PARTS_A_TURN)


async def write(path: Path, project: Path, messages: int) -> str:
    """Store the session; its id. One that is there already is left as it is."""
    store = Store.open(path, clock=now_ms)
    try:
        if await store.latest(str(project)) is None:
            entries, now = of(messages), now_ms()
            session = Session(
                id=make.S,
                directory=str(project),
                title=f"A session of {len(entries):,} messages",
                time=SessionTime(created=now, updated=now),
                model=dict(MODEL),
            )
            edits = map(PutEdit, history.clears(entries))
            await store.apply([PutSession(session), *changes(entries), *edits])
    finally:
        store.close()
    return make.S


def main() -> None:
    """A store of its own for each size, beside the user's own."""
    folder, project, messages = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{messages}-{STORE_NAME}"
    session_id = asyncio.run(write(path, project, messages))
    print(f"--store {path} --session {session_id} --model mock/mock")


if __name__ == "__main__":
    main()
