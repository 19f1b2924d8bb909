"""Whether a session fits another model, in words (`ux.md` 3.4): the verdict that this model would give."""

from enum import StrEnum

import msgspec

from qiming_tui.context.budget import bound, is_over, percent
from qiming_tui.context.figures import kilo
from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import Limits
from qiming_tui.model.window import Settings


class Fits(StrEnum):
    """How a session fits."""

    UNKNOWN = "unknown"
    FITS = "fits"
    COMPACTS = "compacts"
    TOO_LARGE = "too large"


class Fit(msgspec.Struct, frozen=True):
    """The answer; `percent` of usable, None where it is not known."""

    fits: Fits
    words: str
    usable: int | None = None
    percent: int | None = None


def fit(limits: Limits, settings: Settings, *, count: int | None) -> Fit:
    """How `count` tokens fit a model. They were counted for another one, so this is an estimate (`~`).

    Larger than the window: even the request for a summary would not fit as it is.
    """
    try:
        usable = bound(limits, settings).usable
    except ConfigError:
        return Fit(Fits.TOO_LARGE, "the reserve is larger than its window")
    if usable is None:
        return Fit(Fits.UNKNOWN, "window unknown")
    if count is None:
        return Fit(Fits.FITS, "nothing to fit yet", usable)
    share = percent(count, usable)
    if count > limits.window:
        return Fit(Fits.TOO_LARGE, f"does not fit by {kilo(count - limits.window)}", usable, share)
    if is_over(settings.preset, count, usable):
        words = "compacts now" if settings.auto else f"over by {kilo(count - usable)}"
        return Fit(Fits.COMPACTS, words, usable, share)
    return Fit(Fits.FITS, f"fits {share}%", usable, share)
