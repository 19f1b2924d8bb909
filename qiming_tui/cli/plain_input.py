"""The input of the plain front end: lines as they come, and a pasted text as one."""

import asyncio
import select
import threading
from collections.abc import Iterator
from typing import Final, TextIO

PASTE_S: Final = 0.03
"""Seconds within which a further line cannot have been typed: it was pasted."""


class Lines:
    """Lines of an input as they come, read by a thread of their own; None at the end. Lines that come at
    once from a terminal were pasted and are one text: it holds line feeds."""

    def __init__(self, source: TextIO) -> None:
        self.queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.tty = source.isatty()
        self._source = source
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="input", daemon=True).start()

    def _read(self) -> None:
        try:
            for text in self._texts():
                self._loop.call_soon_threadsafe(self.queue.put_nowait, text)
            self._loop.call_soon_threadsafe(self.queue.put_nowait, None)
        except RuntimeError:
            return  # the loop is closed: nobody reads any more

    def _texts(self) -> Iterator[str]:
        for line in iter(self._source.readline, ""):
            lines = [line]
            while self.tty and self._more() and (further := self._source.readline()):
                lines.append(further)
            yield "\n".join(one.rstrip("\r\n") for one in lines)

    def _more(self) -> bool:
        """Whether a further line is there at once. Where it cannot be told, every line is one text."""
        try:
            return bool(select.select([self._source], [], [], PASTE_S)[0])
        except (OSError, ValueError):
            return False


DROP: Final = "/drop"


class Draft:
    """A pasted text that waits for the Enter that sends it: a paste sends nothing and commands nothing."""

    def __init__(self) -> None:
        self._text: str | None = None

    def add(self, text: str) -> int:
        """Keep a pasted text behind what was pasted before; how many lines there are now."""
        self._text = text if self._text is None else f"{self._text}\n{text}"
        return self._text.count("\n") + 1

    def take(self, text: str) -> tuple[str, bool]:
        """(what is to be sent, whether it was pasted), at the next Enter: a paste's last line has no line
        feed of its own, and comes with it."""
        draft, self._text = self._text, None
        if draft is None:
            return text, False
        return ("", True) if text.strip() == DROP else (f"{draft}\n{text}", True)
