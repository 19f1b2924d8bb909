"""The terminal is left as it was found, whatever ends the program (`mechanisms.md` 5, cases C-120).

Three nets: signals ask the screen to leave; if it does not within `HARD_S`, a thread restores the terminal
and ends the process; if the process dies without a word, a watcher process restores it.
"""

import asyncio
import os
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Final, Self

SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
HARD_S: Final = 1.5
"""Seconds that the screen has to leave by itself."""

WATCHER_S: Final = 2.0
"""Seconds that the watcher has to end after the farewell."""

RESET: Final = b"".join(
    (
        b"\x1b[?2026l",  # no synchronised update
        b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l",  # no mouse
        b"\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?2031l",  # no focus, paste, resize and theme reports
        b"\x1b[<u",  # the kitty keyboard, popped once and before the other screen is left
        b"\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m",  # line wrap, normal screen, cursor, no colours
    )
)
"""What undoes every mode that the screen sets."""

_WATCH: Final = """
import os, signal, sys, termios
for name in ("SIGTTOU", "SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGTSTP"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
said = b""
while chunk := os.read(0, 16):
    said += chunk
if b"bye" not in said:
    fd, *saved = map(int, sys.argv[1].split(","))
    try:
        termios.tcsetattr(fd, termios.TCSANOW, [*saved[:6], saved[6:]])
        os.set_blocking(fd, True)
        os.write(fd, bytes.fromhex(sys.argv[2]))
    except (OSError, termios.error):
        pass
"""
"""Waits for the end of its input; without a farewell the program died, and it restores the terminal."""


class Guard:
    """Holds the terminal as it was; use as a context round `App.run`, and `arm` it once the app runs.

    Without a terminal it does nothing.
    """

    def __init__(self, *, hard_s: float = HARD_S) -> None:
        self._hard_s = hard_s
        self._tty: int | None = None
        self._saved: list[Any] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: Callable[[int], object] | None = None
        self._before: dict[int, Any] = {}
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        # Textual writes to the standard error stream and reads from the standard input.
        fd = next((fd for fd in (2, 1, 0) if os.isatty(fd)), None)
        if fd is not None:
            self._tty = _own(fd)
            self._saved = termios.tcgetattr(fd)
            self._watcher = _watch(self._tty, self._saved)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        self._farewell()
        if self._watcher is not None:
            with suppress(subprocess.TimeoutExpired):
                self._watcher.wait(timeout=WATCHER_S)
        if self._tty is not None:
            os.close(self._tty)
            self._tty = None

    def arm(self, leave: Callable[[int], object]) -> None:
        """Take the signals from now on. `leave` is called in the running loop with the exit code, 128 plus
        the signal's number; it has to end the app. Call it in the main thread, where the loop runs."""
        self._loop = asyncio.get_running_loop()
        self._leave = leave
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._signal)

    def _signal(self, number: int, frame: FrameType | None) -> None:
        if self._timer is not None:
            return
        code = 128 + number
        self._timer = threading.Timer(self._hard_s, self._hard, (code,))
        self._timer.daemon = True
        self._timer.start()
        if self._loop is not None and self._leave is not None:
            with suppress(RuntimeError):  # the loop is closed: the program is leaving already
                self._loop.call_soon_threadsafe(self._leave, code)

    def _hard(self, code: int) -> None:
        """The loop does not answer: restore and end, from a thread of its own."""
        self._farewell()
        if self._tty is not None and self._saved is not None:
            with suppress(OSError, termios.error):  # the terminal itself may be gone
                os.write(self._tty, RESET)
                termios.tcsetattr(self._tty, termios.TCSANOW, self._saved)
        os._exit(code)

    def _farewell(self) -> None:
        """Tell the watcher that there is nothing to do for it."""
        pipe = self._watcher.stdin if self._watcher is not None else None
        if pipe is not None and not pipe.closed:
            with suppress(OSError):  # it was killed
                pipe.write(b"bye")
                pipe.close()


def _own(fd: int) -> int:
    """The terminal through a description of its own, so that a write to one that is held (^S) cannot block;
    where it cannot be opened by name, a copy."""
    try:
        return os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return os.dup(fd)


def _watch(tty: int, saved: list[Any]) -> subprocess.Popen[bytes]:
    """The watcher, in a session of its own: what a terminal sends to its programs does not reach it."""
    *head, keys = saved
    numbers = [tty, *head, *(key if isinstance(key, int) else key[0] for key in keys)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _WATCH, ",".join(map(str, numbers)), RESET.hex()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(tty,),
        start_new_session=True,
        bufsize=0,
    )
