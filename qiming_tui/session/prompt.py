"""The fixed texts that the session sends: the system prompt, in two lengths, and the title prompt."""

from functools import cache
from importlib.resources import files

from qiming_tui.context.state import Block


@cache
def _text(name: str) -> str:
    return files("qiming_tui.session").joinpath(name).read_text(encoding="utf-8").strip()


def system_blocks(*, short: bool) -> tuple[Block, ...]:
    """The system prompt; `short` for models that follow only a sentence or two."""
    name = "system_short.md" if short else "system.md"
    return (Block(_text(name), f"session/{name}"),)


def title_prompt() -> str:
    """What the title request says before the user's message."""
    return _text("title.md")
