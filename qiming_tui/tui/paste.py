"""A draft with long pastes folded to chips: `[paste #1 212 lines ~3.1k tok]` (cases C-121, C-122).

The chip is text like any other, so the cursor, undo and a copy of it work; what it stands for is kept beside
it and sent in full.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from qiming_tui.context.tokens import script_estimate

MAX_LINES: Final = 15
MAX_CHARS: Final = 1_000
CHIP: Final = re.compile(r"\[paste #(\d+) [\d,]+ lines? ~[\d.]+[kM] tok\]")


def short(tokens: int) -> str:
    """Tokens as the screen writes them: 3.1k, 0.0k, 1.2M."""
    return f"{tokens / 1e6:.1f}M" if tokens >= 999_950 else f"{tokens / 1e3:.1f}k"


class Paste(msgspec.Struct, frozen=True):
    """A long paste. `number` is unique in its draft."""

    number: int
    text: str
    tokens: int

    @property
    def label(self) -> str:
        """The chip."""
        lines = self.text.rstrip("\n").count("\n") + 1
        return f"[paste #{self.number} {lines:,} line{'s' * (lines != 1)} ~{short(self.tokens)} tok]"


class Draft(msgspec.Struct, frozen=True):
    """What stands in the prompt, and the pastes that its chips stand for."""

    text: str = ""
    pastes: tuple[Paste, ...] = ()

    @property
    def full(self) -> str:
        """The text with every paste in its place: what is sent."""
        return CHIP.sub(lambda match: self._of(match, match[0]), self.text) if self.pastes else self.text

    def tokens(self, estimate: Callable[[str], int] = script_estimate) -> int:
        """Estimated tokens of the full text; each paste was counted once, when it came."""
        present = [paste for paste in self.pastes if paste.label in self.text]
        if not present:
            return estimate(self.text)
        rest = CHIP.sub(lambda match: self._of(match, match[0], blank=True), self.text)
        return estimate(rest) + sum(paste.tokens * self.text.count(paste.label) for paste in present)

    def chips(self, line: str) -> list[tuple[int, int, Paste]]:
        """Chips on a line of the text: first column, column after the last, paste."""
        found = []
        for match in CHIP.finditer(line) if self.pastes else ():
            paste = self.paste(match)
            if paste is not None:
                found.append((match.start(), match.end(), paste))
        return found

    def paste(self, match: re.Match[str]) -> Paste | None:
        """The paste that a chip stands for; None where somebody only typed such a text."""
        for paste in self.pastes:
            if str(paste.number) == match[1] and paste.label == match[0]:
                return paste
        return None

    def trimmed(self) -> "Draft":
        """Without the pastes that no chip stands for any more."""
        return Draft(self.text, tuple(paste for paste in self.pastes if paste.label in self.text))

    def _of(self, match: re.Match[str], otherwise: str, *, blank: bool = False) -> str:
        paste = self.paste(match)
        return otherwise if paste is None else "" if blank else paste.text


def is_long(text: str, *, max_lines: int = MAX_LINES, max_chars: int = MAX_CHARS) -> bool:
    """Whether a paste is folded: over so many lines or characters; 0 means that this never folds."""
    lines = text.rstrip("\n").count("\n") + 1
    return bool((max_lines and lines > max_lines) or (max_chars and len(text) > max_chars))
