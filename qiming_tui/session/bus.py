"""The bus: events of one session to whoever listens. A slow listener never holds up the session."""

import asyncio
from collections.abc import AsyncIterator, Callable

from qiming_tui.model.events import Event


class Bus:
    """Publishes events in order to every subscriber."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[Event | None]] = []
        self._listeners: list[Callable[[Event], None]] = []

    def publish(self, event: Event) -> None:
        """Hand an event to all; never blocks."""
        for listener in tuple(self._listeners):
            listener(event)
        for queue in self._queues:
            queue.put_nowait(event)

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` for every event, in the publisher's own call; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def subscribe(self) -> AsyncIterator[Event]:
        """All events from now on, until the bus closes. Subscribed at once, not at the first `await`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._queues.append(queue)
        return self._drain(queue)

    async def _drain(self, queue: asyncio.Queue[Event | None]) -> AsyncIterator[Event]:
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._queues.remove(queue)

    def close(self) -> None:
        """End every subscription after what was already published."""
        for queue in self._queues:
            queue.put_nowait(None)
