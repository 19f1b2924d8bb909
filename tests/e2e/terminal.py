"""A program in a pseudo-terminal, what its screen shows, and every mode that it set."""

import errno
import os
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pexpect
import pyte

WAIT_S = 60.0
_KITTY_POP = re.compile(rb"\x1b\[<u")
"""pyte does not know it and would draw the letter."""


def modes(seen: bytes) -> set[int]:
    """Private modes that are on after these bytes."""
    on: set[int] = set()
    for numbers, final in re.findall(rb"\x1b\[\?([\d;]+)([hl])", seen):
        for number in map(int, numbers.split(b";")):
            (on.add if final == b"h" else on.discard)(number)
    return on


def kitty(seen: bytes) -> int:
    """Keyboard modes that were pushed and not popped."""
    return len(re.findall(rb"\x1b\[>\d+u", seen)) - len(_KITTY_POP.findall(seen))


def _surroundings() -> dict[str, str]:
    """Ours, as a terminal hands them on: a size that somebody exported would win over the terminal's own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


class Terminal:
    """`python -m MODULE ARGS` in a terminal of so many columns and rows."""

    def __init__(
        self,
        *args: str,
        module: str = "qiming_tui",
        cwd: Path,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (120, 40),
    ) -> None:
        columns, rows = size
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-m", module, *args],
            cwd=str(cwd),
            env={**_surroundings(), **(env or {})},
            dimensions=(rows, columns),
            timeout=WAIT_S,
        )
        self.child.delaybeforesend = None
        self.before = termios.tcgetattr(self.child.child_fd)
        self.seen = b""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._text: str | None = None

    def read(self, wait_s: float = 0.05) -> bool:
        """Take what comes within `wait_s`; False once nobody holds the terminal any more.

        Read by hand: pexpect says "end" as soon as the child is gone, when its watcher may still write.
        """
        ready, _, _ = select.select([self.child.child_fd], [], [], wait_s)
        if not ready:
            return True
        try:
            data = os.read(self.child.child_fd, 65_536)
        except OSError as error:
            if error.errno != errno.EIO:  # what Linux says at the end of a terminal
                raise
            data = b""
        if not data:
            return False
        self.seen += data
        self._stream.feed(_KITTY_POP.sub(b"", data))
        self._text = None
        return True

    @property
    def lines(self) -> list[str]:
        """The rows of the screen; the second cell of a wide sign is an empty one. (pyte's own way measures
        every sign anew: that took longer than the program that is tested.)"""
        columns = range(self._screen.columns)
        rows = (self._screen.buffer[number] for number in range(self._screen.lines))
        return ["".join(row[column].data for column in columns).rstrip() for row in rows]

    @property
    def text(self) -> str:
        """All rows, made once for each state of the screen."""
        if self._text is None:
            self._text = "\n".join(self.lines)
        return self._text

    def until(self, wanted: str | Callable[[str], bool], *, wait_s: float = WAIT_S) -> str:
        """Read until the screen shows a text, or a condition on it holds; the screen then."""
        holds = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + wait_s
        while not holds(self.text):
            if time.monotonic() > end or not self.read():
                raise AssertionError(f"the screen never showed {wanted!r}:\n{self.text}")
        return self.text

    def send(self, keys: str) -> None:
        """Type."""
        self.child.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Another size, as a window manager does it."""
        self._screen.resize(rows, columns)
        self._text = None
        self.child.setwinsize(rows, columns)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.child.kill(number)

    def end(self, *, wait_s: float = WAIT_S) -> int:
        """Everything until nobody holds the terminal any more; the exit status, negative for a signal."""
        end = time.monotonic() + wait_s
        while self.read():
            if time.monotonic() > end:
                raise AssertionError(f"the program does not end:\n{self.text}")
        self.child.wait()
        status = self.child.exitstatus
        return -int(self.child.signalstatus) if status is None else int(status)

    @property
    def restored(self) -> bool:
        """The normal screen with a cursor, line wrap or nothing else, the line discipline as it was."""
        on = modes(self.seen)
        settings = termios.tcgetattr(self.child.child_fd)
        return on <= {7, 25} and 25 in on and kitty(self.seen) == 0 and settings == self.before

    @property
    def printed(self) -> str:
        """What was written after the alternate screen was left."""
        return self.seen.rpartition(b"\x1b[?1049l")[2].decode("utf-8", "replace")

    def close(self) -> None:
        """End the program, if it still runs."""
        self.child.close(force=True)
