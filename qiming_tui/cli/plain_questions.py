"""The words of a permission in the plain front end."""

from typing import Final

from qiming_tui.model.events import PermissionAsked
from qiming_tui.model.sanitize import one_line

CHOICES: Final = {"1": "once", "2": "session", "3": "always", "4": "no", "5": "no"}
CHOICE_LINE: Final = "1 once  2 this session  3 always (this project)  4 no  5 no with a reason"
NOBODY: Final = "nobody can answer: the input has ended; --allow RULE permits it"
"""Why a call is refused when nobody is there any more."""

LATE_S: Final = 3.0
"""Seconds after a question has closed in which a lone choice was meant for it."""


def late(text: str, closed_s: float) -> bool:
    """Whether a line is an answer that came when its question had closed `closed_s` seconds ago, and no
    message to the model."""
    return text in CHOICES and closed_s <= LATE_S


def asking(event: PermissionAsked, always: tuple[str, ...]) -> str:
    """The question, what it is about, the answers, and what two of them would allow from now on."""
    return "\n".join([f"{event.tool}: {event.title}", *_detail(event), CHOICE_LINE, _scope(always)])


def _detail(event: PermissionAsked) -> list[str]:
    """A question's detail, without the title where it only says that again."""
    if event.detail == event.title:
        return []
    detail = event.detail.removeprefix(f"{event.title}\n")
    return detail.split("\n") if detail else []


def _scope(always: tuple[str, ...]) -> str:
    """What the answers 2 and 3 allow beyond this call."""
    names = []
    for rule in always:
        tool, _, pattern = rule.partition(":")
        names.append(f"every {tool}" if pattern in ("", "*") else f"{tool} {pattern}")
    if not names:
        return "(2 and 3 allow this call only)"
    return f"(2 and 3 allow: {', '.join(one_line(name, limit=120) for name in names)})"
