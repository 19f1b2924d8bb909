"""Retry: which faults are repeated and how long we wait."""

import pytest

from qiming_tui.model.stream import Fault, FaultKind
from qiming_tui.provider.retry import MAX_RETRIES, delay_ms, may_retry


def fault(kind=FaultKind.RATE_LIMIT, **more):
    return Fault(kind=kind, message="x", **{"retryable": True, **more})


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [(1, 2000), (2, 4000), (3, 8000), (4, 16000), (5, 30000), (6, 30000), (99, 30000)],
)
def test_fact_121_without_hints_the_wait_doubles_up_to_30_s(attempt, expected):
    assert delay_ms(fault(), attempt=attempt, random=lambda: 0.0) == expected


def test_fact_121_jitter_adds_at_most_a_quarter_and_never_passes_the_cap():
    assert delay_ms(fault(), attempt=2, random=lambda: 1.0) == 5000
    assert delay_ms(fault(), attempt=2, random=lambda: 0.5) == 4500
    assert delay_ms(fault(), attempt=5, random=lambda: 1.0) == 30000


@pytest.mark.parametrize(("asked", "attempt"), [(1500, 4), (30_000, 1), (50_000, 1), (700_000, 1), (0, 3)])
def test_fact_122_123_126_the_providers_wish_is_taken_as_it_is(asked, attempt):
    assert delay_ms(fault(retry_after_ms=asked), attempt=attempt, random=lambda: 1.0) == asked


def test_an_absurd_wish_is_bounded():
    assert delay_ms(fault(retry_after_ms=10**12), attempt=1, random=lambda: 0.0) == 2_147_483_647


def test_fact_133_an_overflow_is_never_repeated():
    assert not may_retry(fault(FaultKind.OVERFLOW), attempt=1)
    assert not may_retry(fault(FaultKind.OUTPUT_TOO_LARGE), attempt=1)
    assert not may_retry(fault(FaultKind.ABORTED), attempt=1)


def test_fact_136_five_retries_at_most():
    assert [n for n in range(1, 10) if may_retry(fault(), attempt=n)] == list(range(1, MAX_RETRIES + 1))


def test_fact_135_what_repeating_cannot_cure_is_not_repeated():
    assert not may_retry(fault(FaultKind.INVALID, retryable=False), attempt=1)
