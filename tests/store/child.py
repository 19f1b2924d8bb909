"""A process of its own on a store: `python -m tests.store.child COMMAND PATH ...`.

It prints a word when it has done something, and takes orders from its standard input.
"""

import asyncio
import sqlite3
import sys
import threading
import time

from qiming_tui.model.changes import PutMessage, PutPart
from qiming_tui.model.parts import Running, Span
from qiming_tui.store.store import Store
from tests.store.values import NOW, answer, talk, text, tool


def now() -> int:
    return time.time_ns() // 1_000_000


def say(word: object) -> None:
    print(word, flush=True)


async def write(store: Store, session_id: str, count: str) -> None:
    """Parts one by one, each in its own transaction, each announced when it is safe."""
    message = f"msg_{session_id}"
    await store.apply(talk(id=session_id, message=message))
    say("ready")
    sys.stdin.readline()
    for number in range(int(count)):
        part = text(f"prt_{session_id}_{number:04}", f"number {number} " * 20, message, session_id)
        await store.apply([PutPart(part, number)])
        say(number)


async def hold(store: Store, session_id: str) -> None:
    """Take the lease, begin an answer with a running tool, go on when told, never end."""
    say(await store.acquire(session_id, "child"))
    running = tool(
        "prt_t", state=Running(input={}, time=Span(start=NOW)), message="msg_s", session_id=session_id
    )
    await store.apply([*talk(), PutMessage(answer(session_id=session_id, done=None), 1), PutPart(running, 0)])
    say("begun")
    for order in sys.stdin:
        await store.apply([PutPart(text("prt_more", order.strip(), "msg_s", session_id), 1)])
        say("written")


async def look(store: Store) -> None:
    """Open, read the list of sessions, end."""
    say(len(await store.sessions()))


def lock(path: str, seconds: str) -> None:
    """Hold the write lock for some seconds, or until a line comes (0)."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    say("locked")
    if float(seconds):
        threading.Event().wait(float(seconds))
    else:
        sys.stdin.readline()
    database.execute("COMMIT")
    database.close()


async def main(command: str, path: str, *rest: str) -> None:
    store = Store.open(path, clock=now)
    await {"write": write, "hold": hold, "look": look}[command](store, *rest)
    store.close()


if __name__ == "__main__":
    if sys.argv[1] == "lock":
        lock(*sys.argv[2:])
    else:
        asyncio.run(main(*sys.argv[1:]))
