"""How fast a demo plays: a speed, a pause, one step at a time.

Only waits are held: what is under way when the pause comes goes on until its next wait.
"""

import asyncio
from collections.abc import Awaitable, Callable


class Pace:
    """Give `sleep` and `begin` to whatever waits for the demo."""

    def __init__(
        self, *, speed: float = 1.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """`speed` divides every wait; 0: no waits, only pauses."""
        self.speed = speed
        self._sleep = sleep
        self._going = asyncio.Event()
        self._going.set()
        self._stepping = False
        self.changed: Callable[[], None] = lambda: None
        """Called when it pauses or goes on."""

    @property
    def paused(self) -> bool:
        """Whether the demo stands still."""
        return not self._going.is_set()

    def toggle(self) -> None:
        """Pause, or go on."""
        self._stepping = False
        self._set(self.paused)

    def step(self) -> None:
        """Go on until the next request, and stand still there; pauses where it was not."""
        if self.paused:
            self._stepping = True
            self._set(True)
        else:
            self._set(False)

    async def sleep(self, seconds: float) -> None:
        """Wait as long as the speed says, and while it is paused."""
        await self._going.wait()
        await self._sleep(seconds / self.speed if self.speed else 0)
        await self._going.wait()

    async def begin(self) -> None:
        """A request begins: the end of a step."""
        if self._stepping:
            self._stepping = False
            self._set(False)
        await self._going.wait()

    def _set(self, going: bool) -> None:
        (self._going.set if going else self._going.clear)()
        self.changed()
