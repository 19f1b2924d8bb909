"""Keys do not leave the child: not in frames, not in its log, not in the text of an error."""

import io
import os
import re
from collections.abc import Mapping
from typing import Final

MASK: Final = "***"
_NAMES: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_SHAPES: Final = re.compile(
    r"(?P<lead>\bBearer\s+|[?&]key=|\bx-api-key['\"]?\s*[:=]\s*['\"]?|\bapi[-_]?key['\"]?\s*[:=]\s*['\"]?)[^\s'\"&,}]{6,}"
    r"|\bsk-[\w-]{8,}|\bAIza[\w-]{20,}|\bgsk_\w{8,}|\bxai-\w{8,}",
    re.IGNORECASE,
)
SECRET_CHARS: Final = 6
"""A shorter value is too common a string to be searched for."""


class Redactor:
    """Replaces secrets of an environment, and what looks like a key, by `***`."""

    def __init__(self, env: Mapping[str, str]) -> None:
        found = {value for name, value in env.items() if _NAMES.search(name) and len(value) >= SECRET_CHARS}
        self._values = sorted(found, key=len, reverse=True)

    def add(self, secret: str) -> None:
        """Also hide this value, whatever its variable is called."""
        if len(secret) >= SECRET_CHARS and secret not in self._values:
            self._values.append(secret)
            self._values.sort(key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, MASK)
        return _SHAPES.sub(lambda match: (match["lead"] or "") + MASK, text)


class RedactedLog(io.TextIOBase):
    """A text stream onto a file descriptor, line by line, with secrets hidden."""

    def __init__(self, descriptor: int, redact: Redactor) -> None:
        self._descriptor = descriptor
        self._redact = redact
        self._line = ""

    def write(self, text: str) -> int:
        """Keep an unfinished line, so that a secret cannot be cut in two."""
        lines = (self._line + text).split("\n")
        self._line = lines.pop()
        if lines:
            data = self._redact("\n".join(lines) + "\n")
            os.write(self._descriptor, data.encode("utf-8", "replace"))
        return len(text)

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor below."""
        return self._descriptor
