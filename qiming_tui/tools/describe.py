"""What the model is told about each tool: `.md` files beside the code."""

from functools import cache
from pathlib import Path


@cache
def describe(name: str) -> str:
    """The text of `NAME.md`."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()
