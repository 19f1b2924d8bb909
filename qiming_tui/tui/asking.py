"""What an open question says, line by line; pure."""

from typing import Final, Literal

import msgspec

from qiming_tui.tui.paste import short

Tone = Literal["title", "command", "label", "value", "cap", "first", "warning"]
Run = tuple[str, Tone]
LEAST: Final = 100
"""Fewer tokens are named as they are."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A permission that waits for the person. Texts must be clean (`model.sanitize`)."""

    request_id: str
    tool: str
    command: str
    """What is asked, on one line: a command, a path."""
    detail: str = ""
    """The diff, or the command in full."""
    why: str = ""
    """"rm deletes files; no rule matches"."""
    folder: str = ""
    """Where a command would run."""
    always: str = ""
    """What "always" and "this session" would allow: "pytest *"; empty: only this once."""
    price_tokens: int | None = None
    """What the result will probably add to the window; None: not known."""
    samples: int = 0
    """Of so many earlier calls that is the median."""
    lands_percent: int | None = None
    """Where the window would be after it, of the usable budget."""
    timeout_s: int | None = None
    heading: str = ""
    """Instead of "Allow TOOL?": this is no permission but a question that yes and no answer."""
    yes: str = "yes"
    no: str = "no"
    """What the two answers say."""


def price(question: Question, *, arrow: str, brief: bool = False) -> list[Run]:
    """The price line (`ux.md` 3.3): "price ~2.1k tok, median of 9 runs -> 80%"; empty without a price."""
    if question.price_tokens is None:
        return []
    tokens = question.price_tokens
    words = f"price ~{short(tokens) if tokens >= LEAST else tokens} tok"
    if question.samples and not brief:
        words += f", median of {question.samples} run{'s' * (question.samples != 1)}"
    if question.lands_percent is not None:
        words += f" {arrow} {question.lands_percent}%"
    return [(words, "label")]


def reasons(question: Question) -> list[Run]:
    """The second line: why it asks, and where it runs."""
    runs: list[Run] = []
    if question.why:
        runs += [("asks because  ", "label"), (question.why, "value")]
    if question.folder:
        runs += [("   " if runs else "", "label"), ("runs in ", "label"), (question.folder, "value")]
    return runs


class Choice(msgspec.Struct, frozen=True):
    """A key of the question and what it answers."""

    key: str
    label: str
    reply: str


def choices(question: Question, *, typing: bool, brief: bool = False) -> tuple[Choice, ...]:
    """The keys. While the person types, letters belong to the draft and only the chords answer."""
    if question.heading:
        keys = ("^Y", "^N") if typing else ("y", "n")
        return (Choice(keys[0], question.yes, "once"), Choice(keys[1], question.no, "no"))
    if typing:
        return (Choice("^Y", "once", "once"), Choice("^N", "no", "no"))
    scope = question.always
    found = [Choice("y", "once", "once")]
    if scope:
        found += [
            Choice("s", "session" if brief else "this session", "session"),
            Choice("a", "always" if brief else f"always for {scope}", "always"),
        ]
    return (*found, Choice("n", "no", "no"), Choice("tab", "because" if brief else "no, because", "reason"))
