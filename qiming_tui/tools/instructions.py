"""AGENTS.md: what a person, and a trusted project, always want the model to know (fact 166, C-138)."""

from pathlib import Path
from typing import Final

from qiming_tui.context.state import Block
from qiming_tui.tools.truncate import cut_bytes

NAME: Final = "AGENTS.md"
MAX_BYTES: Final = 32_768
"""Of one file; what is beyond is left out, and the text says so."""


def instructions(directory: Path, *, trusted: bool, user_folder: Path) -> tuple[Block, ...]:
    """The global file, then the project's own; nothing of a folder that is not trusted, nothing of its
    parents. A project's file that is a link to somewhere else is left out: it is not the project's."""
    places = [user_folder / NAME]
    if trusted:
        places.append(directory / NAME)
    blocks = []
    for path in places:
        if path.parent == directory and not path.resolve().is_relative_to(directory.resolve()):
            continue
        text = _read(path)
        if text:
            blocks.append(Block(text=f"Instructions from: {path}\n{text}", source=str(path)))
    return tuple(blocks)


def _read(path: Path) -> str:
    """The text, at most `MAX_BYTES` of it; "" for what is not there, blank, or no regular file."""
    try:
        if not path.is_file():
            return ""
        size = path.stat().st_size
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 4).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        return ""
    if size <= MAX_BYTES:
        return text.strip()
    kept = cut_bytes(text, MAX_BYTES).rstrip()
    return f"{kept}\n\n[{path.name} is {size:,} bytes: only the first {MAX_BYTES:,} are used]"
