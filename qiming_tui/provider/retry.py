"""When a failed request is repeated, and how long it waits (conformance 1.7, facts 121-126, 133-136)."""

from collections.abc import Callable
from typing import Final

from qiming_tui.model.stream import Fault, FaultKind

MAX_RETRIES: Final = 5
"""Repetitions after the first request (fact 136)."""

INITIAL_MS: Final = 2_000
CAP_MS: Final = 30_000
"""Longest wait that we choose ourselves; a provider may ask for more."""
LONGEST_MS: Final = 2_147_483_647
"""Longest wait that a provider may ask for."""


def may_retry(fault: Fault, *, attempt: int) -> bool:
    """Whether retry number `attempt` (1-based) is made; never for an overflow (fact 133) or an abort."""
    if fault.kind in (FaultKind.OVERFLOW, FaultKind.OUTPUT_TOO_LARGE, FaultKind.ABORTED):
        return False
    return fault.retryable and 1 <= attempt <= MAX_RETRIES


def delay_ms(fault: Fault, *, attempt: int, random: Callable[[], float]) -> int:
    """Milliseconds to wait before retry number `attempt` (1-based).

    What the provider asked for is taken as it is (facts 122, 123, 126); otherwise 2 s doubling, with
    0 to 25 % added by `random` (a number in 0..1), at most 30 s (fact 121).
    """
    if fault.retry_after_ms is not None:
        return max(0, min(fault.retry_after_ms, LONGEST_MS))
    base = INITIAL_MS << min(max(attempt, 1) - 1, 16)
    return min(CAP_MS, base + int(base * 0.25 * random()))
