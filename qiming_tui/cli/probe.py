"""What the terminal says about itself, asked before the screen is up (`ux.md` 4).

Asked: how wide a block is drawn (its width is ambiguous), and the colour of the background. The answers
travel while the screen's modules are imported, so a start costs nothing more; a terminal that does not answer
costs at most the rest of `WAIT_S`. What was typed meanwhile is handed on. Nothing slow is imported here.
"""

import os
import re
import select
import sys
import termios
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, NamedTuple, Self

WAIT_S: Final = 0.25
"""From the question to the last moment for an answer."""
FAR_S: Final = 1.0
"""The same over a network: an answer that comes too late would be typed into the prompt."""

IN: Final = 0
OUT: Final = 1

WIDTH: Final = "\r█\x1b[6n\r\x1b[K".encode()
"""A block at the left edge, where the cursor is then, and the block away again."""
COLOUR: Final = b"\x1b]11;?\x1b\\"
LAST: Final = b"\x1b[c"
"""Every terminal answers this one: whoever has, answers nothing else any more."""

_PLACE: Final = re.compile(rb"\x1b\[\d+;(\d+)R")
_RGB: Final = re.compile(
    rb"\x1b\]11;rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)",
    re.IGNORECASE,
)
_LAST: Final = re.compile(rb"\x1b\[\?[\d;]*c")
_SEQUENCE: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|\Z)|\][^\x07\x1b]*(?:\x07|\x1b\\|\Z)|O.|.|\Z)", re.DOTALL
)
"""A control sequence, or the beginning of one that was cut off."""
_DARK_INDEXES: Final = frozenset({0, 1, 2, 3, 4, 5, 6, 8})


class Found(NamedTuple):
    """What is known after the question."""

    glyph_set: str | None = None
    """The set that this terminal draws in single cells; None: nobody asked, or no answer."""
    dark: bool | None = None
    """Whether the background is dark; None: not known."""
    typed: str = ""
    """What the person typed meanwhile, without control sequences; Enter is a carriage return."""


def read(seen: bytes) -> Found:
    """The answers in what a terminal has sent, and what was typed between them."""
    place, colour = _PLACE.search(seen), _RGB.search(seen)
    cells = int(place[1]) - 1 if place is not None else None
    # Three cells for three bytes: no UTF-8 at all.
    glyph_set = None if cells is None else {1: "full", 2: "safe"}.get(cells, "ascii")
    dark = None
    if colour is not None:
        red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in colour.groups())
        dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5
    rest = _SEQUENCE.sub(b"", seen).decode("utf-8", "ignore")
    typed = "".join(char for char in rest if char.isprintable() or char == "\r")
    return Found(glyph_set, dark, typed)


def dark_by_name(env: Mapping[str, str]) -> bool | None:
    """What COLORFGBG ("15;0") says of the background; None: nothing."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    return int(last) in _DARK_INDEXES if last.isdigit() else None


class Probe:
    """Asks when it is entered, and reads the answers when it is left or `found` is called: use it round the
    imports of the screen. Without anything to ask, or a terminal, it does nothing."""

    def __init__(self, *, width: bool, colour: bool, wait_s: float = WAIT_S) -> None:
        self._query = (WIDTH if width else b"") + (COLOUR if colour else b"")
        self._wait_s = wait_s
        self._saved: list[int | list[bytes | int]] | None = None
        self._end_s = 0.0
        self._found = Found()

    def __enter__(self) -> Self:
        if not self._query or not (os.isatty(IN) and os.isatty(OUT)):
            return self
        sys.stdout.flush()
        self._saved = termios.tcgetattr(IN)
        quiet = termios.tcgetattr(IN)
        quiet[0] &= ~termios.ICRNL
        quiet[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(IN, termios.TCSANOW, quiet)
        os.write(OUT, self._query + LAST)
        self._end_s = time.monotonic() + self._wait_s
        return self

    def found(self) -> Found:
        """The answers; waits for what is missing until the time is over, and restores the terminal."""
        if self._saved is None:
            return self._found
        seen = b""
        try:
            while not _LAST.search(seen):
                left_s = self._end_s - time.monotonic()
                if not select.select([IN], [], [], max(0.0, left_s))[0]:
                    break
                more = os.read(IN, 4_096)
                if not more:
                    break
                seen += more
        finally:
            termios.tcsetattr(IN, termios.TCSANOW, self._saved)
            self._saved = None
        self._found = read(seen)
        return self._found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.found()
