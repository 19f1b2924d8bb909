"""Drafts that survive a restart: one file a session, replaced in one step, readable by its owner only."""

import os
import re
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.tui.history import PRIVATE
from qiming_tui.tui.paste import Draft

MAX_BYTES: Final = 16 * 1024 * 1024
"""A larger file was not written by us, or is not worth a slow start."""
_NAME: Final = re.compile(r"[\w-]{1,120}")


class Drafts:
    """The drafts below one folder. `folder` None: nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def load(self, session_id: str) -> Draft:
        """The draft of a session; an empty one where there is none or it cannot be read."""
        path = self._path(session_id)
        if path is None:
            return Draft()
        try:
            if path.stat().st_size > MAX_BYTES:
                return Draft()
            return msgspec.json.decode(path.read_bytes(), type=Draft)
        except (OSError, msgspec.DecodeError):
            return Draft()

    def save(self, session_id: str, draft: Draft) -> None:
        """Keep a draft; an empty one removes the file. Raises OSError when it cannot be written."""
        path = self._path(session_id)
        if path is None:
            return
        if not draft.text.strip():
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}.new")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
        with open(handle, "wb") as file:
            file.write(msgspec.json.encode(draft.trimmed()))
        new.replace(path)

    def _path(self, session_id: str) -> Path | None:
        if self._folder is None or not _NAME.fullmatch(session_id):
            return None
        return self._folder / f"{session_id}.json"
