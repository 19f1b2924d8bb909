"""What was sent, across sessions: one small file of the user's own, appended to in one write each.

Several programs may write at once: an entry is one `write` to a file opened for appending, and the file is
shortened under a lock. Nothing is read before the first look back.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.tui.paste import Draft

MAX_ENTRIES: Final = 1_000
MAX_BYTES: Final = 4 * 1024 * 1024
"""A longer file is shortened to its newest entries, half of this at most, when it is next read."""
MAX_ENTRY_BYTES: Final = 512 * 1024
"""A longer entry is remembered by this program only."""
PRIVATE: Final = 0o600

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Draft).decode


class History:
    """The entries, oldest first, and a place among them. `path` None: nothing is kept beyond the program."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._entries: list[Draft] | None = None
        self._at: int | None = None
        self._stash = Draft()

    def add(self, draft: Draft) -> None:
        """Remember what was sent, in the file too. Raises OSError when it cannot be written."""
        self.keep(draft)
        if self._path is not None and draft.text.strip():
            line = _encode(draft.trimmed()) + b"\n"
            if len(line) > MAX_ENTRY_BYTES:
                return
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
            try:
                os.fchmod(handle, PRIVATE)
                fcntl.flock(handle, fcntl.LOCK_SH)
                os.write(handle, line)
            finally:
                os.close(handle)

    def keep(self, draft: Draft) -> None:
        """Remember what was cleared, for this program only; the same twice in a row is kept once."""
        self._at = None
        if draft.text.strip() and (not self.entries or self.entries[-1] != draft):
            self.entries.append(draft)

    @property
    def entries(self) -> list[Draft]:
        """All entries, oldest first; the first look reads the file."""
        if self._entries is None:
            self._entries = self._read()
        return self._entries

    @property
    def browsing(self) -> bool:
        """Whether an entry is shown and not the draft."""
        return self._at is not None

    def older(self, draft: Draft) -> Draft | None:
        """The entry before the one that is shown; None at the oldest. `draft` is kept to come back to."""
        at = len(self.entries) if self._at is None else self._at
        if at == 0:
            return None
        if self._at is None:
            self._stash = draft
        self._at = at - 1
        return self.entries[self._at]

    def newer(self) -> Draft | None:
        """The entry after the one that is shown, at the end the draft; None when the draft is shown."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self.entries):
            return self.entries[self._at]
        self._at = None
        return self._stash

    def leave(self) -> None:
        """Look back no longer: what is shown is the draft from now on."""
        self._at = None

    def search(self, words: str, *, limit: int = 50) -> tuple[Draft, ...]:
        """Entries that hold every word, newest first, each text once."""
        wanted = words.lower().split()
        found: dict[str, Draft] = {}
        for draft in reversed(self.entries):
            low = draft.text.lower()
            if all(word in low for word in wanted):
                found.setdefault(draft.text, draft)
                if len(found) == limit:
                    break
        return tuple(found.values())

    def _read(self) -> list[Draft]:
        if self._path is None:
            return []
        try:
            with self._path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - MAX_BYTES // 2) if size > MAX_BYTES else 0)
                lines = file.read().splitlines(keepends=True)
                if size > MAX_BYTES:
                    lines = lines[1:][-MAX_ENTRIES:]
                    file.seek(0)
                    file.truncate()
                    file.writelines(lines)
        except OSError:
            return []
        return [draft for line in lines[-MAX_ENTRIES:] if (draft := _entry(line)) is not None]


def _entry(line: bytes) -> Draft | None:
    """An entry; None for a line that a crash or somebody's editor left broken."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        return None
