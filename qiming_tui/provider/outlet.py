"""The child's way out for one stream: deltas are gathered, and no more is in flight than the screen takes.

Gathering: a frame at most every 30 ms, by the clock and by a timer. Back-pressure: 8 MiB for the whole child,
2 MiB for one stream, so that a screen that does not read one answer does not stop the others (`data.md` 5).
"""

import asyncio
from collections.abc import Callable
from typing import Final

from qiming_tui.model.stream import ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta
from qiming_tui.provider.frames import Delta, Frame

GATHER_S: Final = 0.030
FLIGHT_BYTES: Final = 8 * 1024 * 1024
STREAM_BYTES: Final = 2 * 1024 * 1024
GATHER_CHARS: Final = 512 * 1024
"""A frame is sent earlier when it holds so much text."""


class Harbour:
    """Counts the bytes of all streams that the screen has not taken yet."""

    def __init__(self) -> None:
        self.flying = 0
        self.peak = 0
        self._changed = asyncio.Event()

    def add(self, count: int) -> None:
        """So many bytes left (or, negative, were taken)."""
        self.flying += count
        self.peak = max(self.peak, self.flying)
        if count < 0:
            self._changed.set()

    async def changed(self) -> None:
        """Wait until something was taken."""
        self._changed.clear()
        await self._changed.wait()


class Outlet:
    """Gathers the events of one stream into frames."""

    def __init__(
        self, name: str, *, send: Callable[[Frame], int], harbour: Harbour, clock: Callable[[], float]
    ) -> None:
        self._name = name
        self._send = send
        self._harbour = harbour
        self._clock = clock
        self._events: list[StreamEvent] = []
        self._texts: list[str] = []
        self._chars = 0
        self._last_s = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._flying = 0

    def put(self, event: StreamEvent) -> None:
        """Take an event; it leaves at once if the last frame is 30 ms old, else with the timer."""
        piece = _piece(event)
        if self._texts and piece and self._events and _joins(self._events[-1], event):
            self._texts.append(piece)
        else:
            self._settle()
            self._events.append(event)
            self._texts = [piece] if piece else []
        self._chars += len(piece)
        wait_s = self._last_s + GATHER_S - self._clock()
        if wait_s <= 0 or self._chars >= GATHER_CHARS:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.flush)

    def flush(self) -> None:
        """Send what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._settle()
        if self._events:
            events, self._events = tuple(self._events), []
            self._chars = 0
            self._last_s = self._clock()
            size = self._send(Delta(self._name, events))
            self._flying += size
            self._harbour.add(size)

    def taken(self, count: int) -> None:
        """The screen consumed so many bytes of this stream."""
        count = min(count, self._flying)
        self._flying -= count
        self._harbour.add(-count)

    @property
    def full(self) -> bool:
        """Whether the screen has to take something before more is read from the server."""
        return self._flying >= STREAM_BYTES or self._harbour.flying >= FLIGHT_BYTES

    async def room(self) -> None:
        """Wait until there is room again."""
        while self.full:
            await self._harbour.changed()

    def close(self) -> None:
        """Forget the stream: nothing of it is in flight any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._events.clear()
        self._texts.clear()
        self.taken(self._flying)

    def _settle(self) -> None:
        """Write the gathered texts into their event."""
        if len(self._texts) > 1:
            whole = "".join(self._texts)
            match self._events[-1]:
                case TextDelta():
                    self._events[-1] = TextDelta(whole)
                case ReasoningDelta(block=block, signature=signature, redacted=redacted):
                    self._events[-1] = ReasoningDelta(whole, block, signature, redacted)
                case ToolCallDelta(slot=slot):
                    self._events[-1] = ToolCallDelta(slot, whole)
        self._texts = []


def _piece(event: StreamEvent) -> str:
    match event:
        case TextDelta(text=text):
            return text
        case ReasoningDelta(text=text, signature=None, redacted=None):
            return text
        case ToolCallDelta(arguments=arguments):
            return arguments
        case _:
            return ""


def _joins(last: StreamEvent, event: StreamEvent) -> bool:
    """Whether two deltas are one text."""
    match last, event:
        case TextDelta(), TextDelta():
            return True
        case ReasoningDelta(block=one, signature=None, redacted=None), ReasoningDelta(block=other):
            return one == other
        case ToolCallDelta(slot=one), ToolCallDelta(slot=other):
            return one == other
        case _:
            return False
