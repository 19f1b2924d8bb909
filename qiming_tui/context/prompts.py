"""The texts of the summary requests: `.md` files beside this code, and the sentences that join them."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

ANNOUNCE: Final = "The conversation so far stands between the <conversation> tags:"
CREATE: Final = "Summarise the conversation above."
MERGE: Final = (
    "The conversation above goes on from the prior summary. Write one summary of both: keep what still "
    "holds, change what is no longer true, drop what is done with, and add what is new."
)


@cache
def prompt(name: str) -> str:
    """The text of `NAME.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text("utf-8").strip()


def closing(focus: str, contexts: Sequence[str], *, limit: int | None) -> list[str]:
    """What follows the template: the user's wishes, a hook's contexts, and the length in words.

    `limit`: tokens that the summary may have; None: no limit is named.
    """
    parts = []
    if focus.strip():
        parts.append(f"The user asks for special attention to: {focus.strip()}")
    parts += [context for context in contexts if context.strip()]
    if limit is not None:
        parts.append(f"Write at most {limit * 2 // 3} words.")
    return parts


def instruction(hook_prompt: str | None, focus: str, contexts: Sequence[str], *, limit: int | None) -> str:
    """The request for a summary that stands after the history; a hook's prompt replaces ours and what a hook
    adds to it (article B); a blank one does not (cases C-064)."""
    if hook_prompt and hook_prompt.strip():
        return "\n\n".join([hook_prompt, *closing(focus, (), limit=limit)])
    return "\n\n".join([prompt("summary"), *closing(focus, contexts, limit=limit)])
