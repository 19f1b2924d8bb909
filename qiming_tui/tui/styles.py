"""Where the stylesheets are: at the top of a checkout, inside the package once it is installed."""

from pathlib import Path
from typing import Final

NAMES: Final = ("base", "context", "conversation", "prompt", "dialogs", "fate", "timeline", "inspector")


def stylesheets() -> list[Path]:
    """Every stylesheet, in the order in which they are read."""
    package = Path(__file__).parents[1]
    for folder in (package / "styles", package.parent / "styles"):
        if folder.is_dir():
            return [path for name in NAMES if (path := folder / f"{name}.tcss").is_file()]
    return []
