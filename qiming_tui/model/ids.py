"""Identifiers: prefix, underscore, 12 hex digits of time, 14 random base-62 characters (conformance 1.8).

Ids identify; they never order anything: the stored order is `seq` (cases C-059).
"""

from collections.abc import Callable
from typing import Final, Protocol

BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_MASK48: Final = (1 << 48) - 1


class Clock(Protocol):
    """Where the time comes from: milliseconds since the epoch, UTC."""

    def __call__(self) -> int: ...


class Ids:
    """Makes ids. `clock` gives milliseconds, `randbelow(n)` a random integer in 0..n-1; both injected."""

    def __init__(self, clock: Clock, randbelow: Callable[[int], int]) -> None:
        self._clock = clock
        self._randbelow = randbelow
        self._last_ms = -1
        self._counter = 0

    def new(self, prefix: str) -> str:
        """A new id such as ``msg_...``; ``ses`` ids descend with time, all others ascend."""
        now = self._clock()
        self._counter = self._counter + 1 if now == self._last_ms else 0
        self._last_ms = now
        stamp = (now * 4096 + self._counter) & _MASK48
        if prefix == "ses":
            stamp = ~stamp & _MASK48
        tail = "".join(BASE62[self._randbelow(62)] for _ in range(14))
        return f"{prefix}_{stamp:012x}{tail}"
