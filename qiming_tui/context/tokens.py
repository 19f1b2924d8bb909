"""How long a text is, in tokens: the articles' quarter rule, a script-aware guess, and exact counts.

Nothing here counts by an encoder: the encoders live in the counter's process. A `Tally` holds what that
process has answered and remembers what it has still to be asked (`data.md` 5).
"""

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from math import floor
from typing import Final

from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import StoredOutput

O200K: Final = "o200k_base"
CL100K: Final = "cl100k_base"


def utf16_units(text: str) -> int:
    """UTF-16 code units, as JavaScript counts a string's length; lone surrogates count one each."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_units(units: int) -> int:
    """The articles' estimate for a text of so many UTF-16 units: a quarter, halves up (conformance 1)."""
    return (units + 2) // 4


def estimate(text: str) -> int:
    """Tokens by the contract of the two articles: (UTF-16 units + 2) // 4 (facts 47-49, cases C-084).

    It decides prune and the tail under `opencode` and `qiming`, and nothing else.
    """
    return estimate_units(utf16_units(text))


# Thousandths of a token a character, from the first code point of a range on: (start, o200k, cl100k).
# Measured with both encoders over prose in each script; far from exact, but never off by the factor of
# three to six that a flat quarter is for Chinese, Japanese and Korean (cases C-084).
_SCRIPTS: Final[tuple[tuple[int, int, int], ...]] = (
    (0x80, 300, 600),  # Latin with marks
    (0x370, 320, 990),  # Greek
    (0x400, 240, 480),  # Cyrillic
    (0x530, 600, 1200),  # Armenian
    (0x590, 380, 1000),  # Hebrew, Arabic, Syriac
    (0x900, 400, 1200),  # the scripts of India
    (0xE00, 400, 970),  # Thai, Lao
    (0xF00, 900, 2000),  # Tibetan, Burmese, Georgian, Ethiopic, Khmer ...
    (0x1E00, 500, 900),  # Latin and Greek, further marks
    (0x2000, 740, 740),  # punctuation, arrows, boxes, symbols
    (0x2E80, 770, 1000),  # CJK punctuation, kana
    (0x3100, 1000, 1300),
    (0x3400, 2000, 2500),  # rare Han
    (0x4E00, 750, 1200),  # Han
    (0xA000, 1500, 2500),
    (0xAC00, 600, 1000),  # Hangul
    (0xD7B0, 2000, 3000),  # surrogates, private use
    (0xF900, 1500, 2500),
    (0xFF00, 770, 1000),  # full-width forms
    (0x10000, 2000, 3000),
    (0x1F000, 1200, 2500),  # emoji
    (0x20000, 2500, 3000),  # rarer Han
)
_STARTS: Final = tuple(start for start, _, _ in _SCRIPTS)
_ASCII: Final = re.compile(r"[\x00-\x7f]+")
_DIGITS: Final = b"0123456789"
_MARKS: Final = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_LETTER, _DIGIT, _MARK = 215, 480, 400
_SAMPLE: Final = 1000
"""So many characters beyond ASCII speak for a longer text: to look at each costs more than all the rest."""


def script_estimate(text: str, *, encoding: str = O200K) -> int:
    """Tokens guessed from the scripts of the text, for display until the counter has answered."""
    plain = text.encode("ascii", "ignore")
    digits = len(plain) - len(plain.translate(None, _DIGITS))
    marks = len(plain) - len(plain.translate(None, _MARKS))
    total = _LETTER * (len(plain) - digits - marks) + _DIGIT * digits + _MARK * marks
    if len(plain) < len(text):
        column = 2 if encoding == CL100K else 1
        odd = _ASCII.sub("", text)
        sample = odd[:: len(odd) // _SAMPLE | 1]
        weight = sum(
            _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][column] * times
            for char, times in Counter(sample).items()
        )
        total += -(-weight * len(odd) // len(sample))
    return -(-total // 1000)


_CL100K_MODELS: Final = re.compile(
    r"gpt-?3\.?5|gpt-4(?![o.\d])|text-(embedding|davinci)|claude|llama-?3|smollm|mi[sx]tral|codestral"
)


def encoding_for(model: ModelRef) -> str:
    """The encoding that is nearest to a model's own: o200k_base, or cl100k_base for the older families
    and for those whose own vocabulary is small."""
    return CL100K if _CL100K_MODELS.search(model.model.lower()) else O200K


def digest_of(text: str) -> str:
    """The name of a text in a tally and at the counter: SHA-256 of its UTF-8, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def half_up(value: float) -> int:
    """A number that is not negative, rounded to the nearest integer, halves up."""
    return floor(value + 0.5)


class Tally:
    """Exact counts by content, and the texts whose counts are still to be asked for.

    It does no I/O: the session asks the counter for `missing`, calls `learn`, and builds again. Numbers are
    guesses while `exact` is false, and are shown with `~`.
    """

    def __init__(self, encoding: str = O200K, calibration: float = 1.0) -> None:
        self.encoding = encoding
        self.calibration = calibration
        """The model's factor provider tokens / encoder tokens; 1.0 for files."""
        self.missing: dict[tuple[int, int], str] = {}
        """The texts (its values), in the order they were first asked for."""
        self._exact: dict[str, int] = {}
        """Counts by digest, for texts that are not at hand."""
        self._seen: dict[tuple[int, int], int] = {}
        """Counts, and guesses for what is missing, by a string's own hash and length."""

    @property
    def exact(self) -> bool:
        """Whether every text that was asked for has its exact count."""
        return not self.missing

    def raw(self, text: str) -> int:
        """The encoder's count of the text, or the guess; without calibration."""
        if not text:
            return 0
        # A string keeps its own hash, so this key costs nothing the second time; a digest would be
        # computed anew over the whole history at every step.
        key = (hash(text), len(text))
        found = self._seen.get(key)
        if found is None:
            self.missing[key] = text
            found = self._seen[key] = script_estimate(text, encoding=self.encoding)
        return found

    def tokens(self, text: str) -> int:
        """The count that is shown and, under `guarded`, decides: raw x calibration, halves up."""
        return self.scaled(self.raw(text))

    def stored(self, output: StoredOutput) -> int:
        """The same for a tool result that was left in the store: exact if it was ever counted, else from
        its size; it is not asked for, since nothing that is sent depends on it."""
        count = self._exact.get(output.sha256)
        return self.scaled(estimate_units(output.units) if count is None else count)

    def scaled(self, raw: int) -> int:
        """A raw count times the calibration, halves up."""
        return raw if self.calibration == 1.0 else half_up(raw * self.calibration)

    def learn(self, texts: Iterable[str], counts: Iterable[int]) -> None:
        """Take the counter's answers; raises `ValueError` if there are not as many counts as texts."""
        for text, count in zip(texts, counts, strict=True):
            key = (hash(text), len(text))
            self._exact[digest_of(text)] = count
            self._seen[key] = count
            self.missing.pop(key, None)
