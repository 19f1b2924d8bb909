"""A sub-process in a group of its own, at nice 10, that never outlives us (`data.md` 5).

A pipe that only we hold open is its lifeline: a watcher inside of the group reads from it and kills the whole
group when it ends, so that also `kill -9` of this program leaves nothing behind.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from qiming_tui.tools.base import ToolError

NICE: Final = 10
TERM_GRACE_S: Final = 0.15
"""How long a group may take to end by itself after SIGTERM; a cancel must be done within 250 ms."""
READ_BYTES: Final = 65_536

_LIFELINE: Final = """exec 3<&0 </dev/null
(trap '' HUP INT TERM; read -r _ <&3; kill -KILL -$$) >/dev/null 2>&1 &
exec 3<&-
exec "$@"
"""


class Group:
    """One running command and everything that it started."""

    def __init__(self, process: "subprocess.Popen[bytes]", lifeline: int) -> None:
        self._process = process
        self._lifeline: int | None = lifeline
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.ReadTransport | None = None
        self.exited: asyncio.Future[int] = self._loop.create_future()
        """The command's exit status, negative for a signal; what it left running does not delay it."""
        self.output = asyncio.StreamReader(limit=READ_BYTES)
        """stdout and stderr, merged. Ends when nothing of the group can write any more."""
        threading.Thread(target=self._wait, name="tool-wait", daemon=True).start()

    @property
    def pid(self) -> int:
        """The command's process id, which is also its group's."""
        return self._process.pid

    async def connect(self, pipe: int) -> None:
        """Begin to read."""
        protocol = asyncio.StreamReaderProtocol(self.output)
        file = os.fdopen(pipe, "rb", buffering=0)
        self._transport, _ = await self._loop.connect_read_pipe(lambda: protocol, file)

    def _wait(self) -> None:
        status = self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._settle, status)

    def _settle(self, status: int) -> None:
        if not self.exited.done():
            self.exited.set_result(status)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group; nothing happens when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """Kill the whole group at once, and let go of its pipes."""
        if self._lifeline is not None:
            self.signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            os.close(self._lifeline)
            self._lifeline = None

    async def end(self) -> None:
        """SIGTERM, a moment, SIGKILL, until the command is gone. Also does so when it is cancelled itself."""
        try:
            if not self.exited.done():
                self.signal(signal.SIGTERM)
                await asyncio.wait({self.exited}, timeout=TERM_GRACE_S)
        finally:
            self.kill()
            if self._transport is not None:
                self._transport.close()
        await asyncio.wait({self.exited})


def shell() -> list[str]:
    """The shell that commands are given to: bash, else sh."""
    return [shutil.which("bash") or "/bin/sh", "-c"]


async def start(argv: list[str], *, directory: Path, env: Mapping[str, str]) -> Group:
    """Start a program without input. Raises ToolError when it cannot be started, or not on this system."""
    if sys.platform == "win32":
        raise ToolError("commands can be run on POSIX systems only")
    reading, writing = os.pipe()
    watched, lifeline = os.pipe()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _LIFELINE, "sh", *argv],
            stdin=watched,
            stdout=writing,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(reading)
        os.close(lifeline)
        raise ToolError(f"could not start: {error}") from error
    finally:
        os.close(writing)
        os.close(watched)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PGRP, process.pid, NICE)
    group = Group(process, lifeline)
    try:
        await group.connect(reading)
    except BaseException:
        await group.end()
        raise
    return group
