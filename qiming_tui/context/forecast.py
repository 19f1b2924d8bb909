"""How long the window will last, and how far our counting can be trusted.

Everything here is read from the ledger. A forecast is predicted (`~`), its band is that of the growth that
was seen; drift and calibration say how far our own count is from the provider's.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median, quantiles
from typing import Final

import msgspec

from qiming_tui.context.budget import count_usage, input_side
from qiming_tui.context.figures import kilo, plural, signed
from qiming_tui.model.ledger import CalibrationRow, Outcome, RequestRow
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import ContextView

REQUESTS: Final = 12
"""Growth is looked at over so many of the newest requests."""
BAND: Final = 4
"""From so many steps of growth on a band is given (quartiles)."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, requests and turns until the window is full."""

    left: int | None
    """Tokens below usable; None: the window is unknown."""
    step: int | None = None
    """Tokens that a request adds, the median; None: not seen yet."""
    low: int | None = None
    high: int | None = None
    """The middle half of what requests added; None: too few to say."""
    turn: int | None = None
    """Tokens that a turn adds."""

    @property
    def requests(self) -> int | None:
        """Requests that still fit, at the median."""
        return _fit(self.left, self.step)

    @property
    def band(self) -> tuple[int, int] | None:
        """(fewest, most) requests that still fit, for the middle half of the growth."""
        fewest, most = _fit(self.left, self.high), _fit(self.left, self.low)
        return None if fewest is None or most is None else (fewest, most)

    @property
    def turns(self) -> int | None:
        """Turns that still fit."""
        return _fit(self.left, self.turn)

    @property
    def words(self) -> str:
        """`~65.9k left: full in about 7 requests (5-11) at 4.1k each, about 2 turns`."""
        if self.left is None:
            return "window unknown: nothing to forecast"
        said = f"{kilo(self.left)} left"
        if self.requests is None:
            return f"{said}; no growth seen yet"
        band = "" if self.band is None else f" ({self.band[0]}-{self.band[1]})"
        each = kilo(self.step or 0)
        said = f"{said}: full in about {plural(self.requests, 'request')}{band} at ~{each} each"
        return said if self.turns is None else f"{said}, about {plural(self.turns, 'turn')}"


def _fit(left: int | None, each: int | None) -> int | None:
    return None if left is None or not each else left // each


def forecast(view: ContextView, rows: Sequence[RequestRow], *, turn: int | None) -> Forecast:
    """From the growth of the live window's requests; `turn`: what a turn adds, if that is known."""
    verdict = view.verdict
    live = frozenset(view.live)
    counts = [
        count_usage(verdict.preset, row.usage)
        for row in rows
        if row.usage is not None
        and row.kind is RequestKind.TURN
        and row.outcome is Outcome.OK
        and row.message_id in live
        and row.step > _last_summary(rows, live)
    ]
    grown = [after - before for before, after in pairwise(counts) if after > before][-REQUESTS:]
    band = quantiles(grown, n=4) if len(grown) >= BAND else None
    return Forecast(
        left=None if verdict.usable is None else max(0, verdict.usable - verdict.count),
        step=int(median(grown)) if grown else None,
        low=max(1, int(band[0])) if band else None,
        high=max(1, int(band[2])) if band else None,
        turn=turn,
    )


def _last_summary(rows: Sequence[RequestRow], live: frozenset[str]) -> int:
    steps = [row.step for row in rows if row.kind is RequestKind.SUMMARY and row.message_id in live]
    return max(steps, default=0)


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """How far our count is from the provider's, in tokens."""

    drift: int | None
    """The last measured request less our sum over its items; None: nothing was measured."""
    sum: int
    """That sum."""
    factor: float
    samples: int
    error: float
    """Moving average of |measured - predicted| / measured."""

    @property
    def percent(self) -> float | None:
        """Drift in per cent of our sum, with its sign."""
        return None if self.drift is None or not self.sum else 100 * self.drift / self.sum

    def band(self, tokens: int) -> tuple[int, int]:
        """Where a count of ours may really be, by the error that was seen."""
        wide = int(tokens * self.error + 0.5)
        return max(0, tokens - wide), tokens + wide

    @property
    def words(self) -> str:
        """`drift +312 (+0.4%); calibration x1.08, off by 3.2% on average over 12 requests`."""
        share = self.percent
        if self.drift is None:
            said = "drift unknown: nothing measured"
        else:
            said = f"drift {self.drift:+,}" + ("" if share is None else f" ({share:+.1f}%)")
        if not self.samples:
            return f"{said}; not calibrated yet"
        over = plural(self.samples, "request")
        return (
            f"{said}; calibration x{self.factor:.2f}, off by {100 * self.error:.1f}% on average over {over}"
        )


def trust(measured: RequestRow | None, calibration: CalibrationRow) -> Trust:
    """From the newest answered request, with its manifest, and what was learned about the model."""
    ours = sum(row.tokens for row in measured.manifest) if measured is not None else 0
    usage = measured.usage if measured is not None else None
    known = usage is not None and ours > 0 and input_side(usage) > 0
    return Trust(
        drift=input_side(usage) - ours if usage is not None and known else None,
        sum=ours,
        factor=calibration.factor,
        samples=calibration.samples,
        error=calibration.error,
    )


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """The size that was predicted for the first request after a boundary, and what was measured."""

    step: int
    predicted: int
    measured: int

    @property
    def error(self) -> int:
        """Measured less predicted."""
        return self.measured - self.predicted

    @property
    def words(self) -> str:
        """`measured 24.3k at step 28, predicted ~23.9k (+0.4k, +1.7%)`."""
        share = f", {100 * self.error / self.predicted:+.1f}%" if self.predicted else ""
        said = f"measured {kilo(self.measured)} at step {self.step}, predicted ~{kilo(self.predicted)}"
        return f"{said} ({signed(self.error)}{share})"


def promise(rows: Sequence[RequestRow], summary_id: str) -> Promise | None:
    """The first measured request after the boundary of that summary; None: there was none yet.

    Both figures stand in the ledger, so the error is kept as long as the session is.
    """
    made = next((r.step for r in rows if r.kind is RequestKind.SUMMARY and r.message_id == summary_id), None)
    if made is None:
        return None
    for row in rows:
        if row.step <= made or row.kind is not RequestKind.TURN or row.usage is None:
            continue
        if measured := input_side(row.usage):
            return Promise(step=row.step, predicted=row.verdict.count, measured=measured)
    return None
