"""Whether a session fits another model: the words of the picker, from the same sums as the verdict."""

import pytest

from qiming_tui.context.fit import Fits, fit
from qiming_tui.model.limits import Limits
from qiming_tui.model.window import Preset, Settings


@pytest.mark.parametrize(
    ("limits", "settings", "count", "fits", "words"),
    [
        ((200_000, None, 32_000), {}, 102_000, Fits.FITS, "fits 61%"),
        ((200_000, None, 32_000), {}, 168_000, Fits.COMPACTS, "compacts now"),
        ((200_000, None, 32_000), {}, 200_000, Fits.COMPACTS, "compacts now"),
        ((200_000, None, 32_000), {"auto": False}, 170_000, Fits.COMPACTS, "over by 2.0k"),
        ((200_000, None, 32_000), {}, 212_000, Fits.TOO_LARGE, "does not fit by 12.0k"),
        ((400_000, 272_000, 128_000), {}, 280_000, Fits.TOO_LARGE, "does not fit by 8.0k"),
        ((0, None, 0), {}, 10, Fits.UNKNOWN, "window unknown"),
        ((200_000, None, 32_000), {}, None, Fits.FITS, "nothing to fit yet"),
        (
            (8_192, None, 512),
            {"reserved": 20_000},
            10,
            Fits.TOO_LARGE,
            "the reserve is larger than its window",
        ),
        # The articles' rule compares with `>`: exactly usable is still under.
        ((200_000, None, 32_000), {"preset": Preset.QIMING}, 168_000, Fits.FITS, "fits 100%"),
    ],
)
def test_the_fit_in_words(limits, settings, count, fits, words):
    found = fit(Limits(*limits), Settings(**settings), count=count)
    assert (found.fits, found.words) == (fits, words)
