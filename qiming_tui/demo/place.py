"""Where a demo is played: a temporary folder whose name is the same in every run.

Paths in tool results then weigh the same, and the same scenario gives the same numbers.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TRIES: Final = 9
"""How many demos of one scenario can be played at once with names of their own; more get random ones."""


@contextmanager
def demo_folder(name: str, *, base: Path | None = None) -> Iterator[Path]:
    """A fresh folder, readable by its owner only, that is removed in the end.

    An existing one, whoever made it, is never used: it may be somebody else's, or a demo that runs now.
    """
    base = Path(tempfile.gettempdir()) if base is None else base
    folder = _fresh(base, f"qiming-demo-{name}")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kept_folder(name: str, base: Path) -> Path:
    """A fresh folder that stays, for a demo whose session is kept."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _fresh(base, name)


def _fresh(base: Path, name: str) -> Path:
    for number in range(1, TRIES + 1):
        folder = base / (name if number == 1 else f"{name}-{number}")
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
        return folder
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=base))
