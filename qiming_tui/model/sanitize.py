"""Text from outside made harmless for a terminal (cases C-131): no control sequence survives, no text hides.

Files, tools, models, titles and file names are all hostile. What a terminal would obey is taken out and
counted, so that a screen can say "3 control sequences removed"; what a person would read stays.
"""

import re
from typing import Final

_STRING: Final = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])"
_BODY: Final = r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+"
_BIDI: Final = "\u202a-\u202e\u2066-\u2069"

_SEQUENCE: Final = re.compile(
    rf"{_STRING}{_BODY}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC with their end
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI
    rf"|{_STRING}"  # begun, never ended: only the beginning goes, the rest stays visible
    r"|\x1b\[|\x1b[ -/]++[0-~]|\x1b[0-~]?"  # a broken CSI, a short escape, a lone ESC
    rf"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_BIDI}]"  # other C0, DEL, C1, and what reorders a line
)
_OPEN: Final = re.compile(
    rf"(?:{_STRING}{_BODY}\x1b?|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+|\x1b[ -/]*+|\r+)\Z"  # may yet go on
)
_LONGEST: Final = 4_096
"""What is open for longer is not waited for."""
_SUSPECT: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_BIDI}]")
_RETURN: Final = re.compile(r"\r+\n?")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> tuple[str, int]:
    """The text without control sequences, and how many were taken out (cases C-131).

    Tab and newline stay, CR and CRLF become newlines, a lone surrogate becomes U+FFFD (it could not be
    written out). A string sequence that does not end on its own line loses only its first bytes.
    """
    if not _SUSPECT.search(text):
        return text, 0
    text, removed = _SEQUENCE.subn("", _RETURN.sub("\n", text))
    return _SURROGATE.sub("\ufffd", text), removed


def one_line(text: str, *, limit: int = 200) -> str:
    """A cleaned title or file name on one line, at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(clean(text)[0].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class Cleaner:
    """Cleans a text that comes in pieces: a sequence that is cut between two of them is one all the same."""

    def __init__(self) -> None:
        self._held = ""
        self.removed = 0
        """Control sequences that were taken out so far."""

    def feed(self, text: str) -> str:
        """What can be shown of it now; the beginning of a sequence waits for its end, or for its line's."""
        raw = self._held + text
        found = _OPEN.search(raw)
        at = found.start() if found is not None and len(raw) - found.start() <= _LONGEST else len(raw)
        self._held = raw[at:]
        return self._take(raw[:at])

    def end(self) -> str:
        """What was held back, as it is to be shown when nothing more comes."""
        raw, self._held = self._held, ""
        return self._take(raw)

    def _take(self, raw: str) -> str:
        shown, removed = clean(raw)
        self.removed += removed
        return shown
