"""What could be meant by what is being typed: a slash command, a file after `@`, an older message.

Pure values; the prompt asks after every change and shows the menu that comes back.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, Literal

import msgspec

from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.commands import matching
from qiming_tui.tui.paste import Draft

LIMIT: Final = 8
"""Rows of the menu."""
WALK: Final = "qiming_tui.tools.walk"
"""Imported with the first `@`: it reads ignore files by a library that the first frame does not need."""
MAX_FILES: Final = 20_000
MAX_NAME: Final = 1_000
_FILE: Final = re.compile(r"(?:^|(?<=\s))@([^\s@]*)$")
_WORD: Final = re.compile(r"/([\w-]*)")


class Item(msgspec.Struct, frozen=True):
    """One row: what is inserted, and what is shown (clean text)."""

    insert: str
    label: str
    note: str = ""
    draft: Draft | None = None
    """An older message takes the place of the whole draft."""


class Menu(msgspec.Struct, frozen=True, kw_only=True):
    """The open menu. `start`: the column on the cursor's line where the inserted text begins."""

    kind: Literal["command", "file", "history"]
    start: int = 0
    query: str = ""
    items: tuple[Item, ...] = ()
    index: int = 0

    @property
    def item(self) -> Item | None:
        """The chosen row."""
        return self.items[self.index] if self.items else None

    def move(self, rows: int) -> "Menu":
        """With another row chosen; it goes round."""
        count = len(self.items)
        return msgspec.structs.replace(self, index=(self.index + rows) % count) if count else self


def wants_files(before: str) -> bool:
    """Whether a file's name is being typed at the end of this text."""
    return _FILE.search(before) is not None


def suggest(before: str, *, first_line: bool, files: Sequence[str] = ()) -> Menu | None:
    """The menu for the text left of the cursor on its line; None where nothing is to be completed."""
    command = _WORD.fullmatch(before)
    if command is not None and first_line:
        items = tuple(Item(f"/{c.slash} ", c.usage, c.title) for c in matching(command[1]))
        return Menu(kind="command", query=command[1], items=items[:LIMIT]) if items else None
    name = _FILE.search(before)
    if name is None:
        return None
    found = tuple(Item(f"@{path} ", one_line(path)) for path in rank(name[1], files))
    return Menu(kind="file", start=name.start(1) - 1, query=name[1], items=found) if found else None


def from_history(query: str, drafts: Iterable[Draft]) -> Menu:
    """The menu of older messages; it stays open when none fits."""
    items = [Item(draft.text, one_line(draft.text), draft=draft) for draft in drafts]
    return Menu(kind="history", query=query, items=tuple(items[:LIMIT]))


def rank(query: str, paths: Sequence[str], *, limit: int = LIMIT) -> tuple[str, ...]:
    """Paths that fit, best first: name begins so, name holds it, path holds it, letters in this order."""
    low = query.lower()
    if not low:
        return tuple(paths[:limit])
    tiers: tuple[list[str], ...] = ([], [], [], [])
    for path in paths:
        folded = path.lower()
        if low in folded:
            name = folded.rpartition("/")[2]
            tiers[0 if name.startswith(low) else 1 if low in name else 2].append(path)
    found = [path for tier in tiers[:3] for path in sorted(tier, key=len)]
    if len(found) < limit:
        held = set(found)
        letters = re.compile(".*?".join(map(re.escape, low)))
        found += sorted((p for p in paths if p not in held and letters.search(p.lower())), key=len)
    return tuple(found[:limit])


class FileIndex:
    """The project's files, as the tools see them: .gitignore holds. Reading blocks: call it in a thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stop = threading.Event()
        self.names: tuple[str, ...] = ()
        """The newest whole list."""

    def read(self) -> tuple[str, ...]:
        """Walk the folder; at most 20,000 names."""
        names: list[str] = []
        walk: Callable[..., Iterator[str]] = import_module(WALK).walk
        for path in walk(self._directory, self._stop, top=self._directory):
            if one_line(path, limit=MAX_NAME) == path:  # a name that hides something is not offered
                names.append(path)
            if len(names) == MAX_FILES:
                break
        self.names = tuple(names)
        return self.names

    def close(self) -> None:
        """End a walk that is under way."""
        self._stop.set()
