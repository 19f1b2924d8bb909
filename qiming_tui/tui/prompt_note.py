"""The words under the prompt: what the draft will cost, or what the session is doing; pure."""

from typing import Final, Literal

import msgspec

from qiming_tui.tui.paste import short

GAP: Final = "   "
Tone = Literal["label", "value", "warning", "running", "limit"]
Run = tuple[str, Tone]
"""A piece of the line and its tone, a component class of the widget."""


class PromptStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What the line says. Numbers that are not known are None and left out."""

    busy: bool = False
    """Whether a turn is under way: what is sent waits."""
    draft_tokens: int = 0
    lands_at: int | None = None
    """Tokens of the next request with the draft."""
    percent: int | None = None
    """The same, of the usable budget."""
    after_turn: int | None = None
    compacts: bool = False
    """Whether the history would be compacted before the reply."""
    doing: str = ""
    """"waiting for permission", "running bash": while it is set, it takes the draft's place."""
    waiting: bool = False
    """Whether what is being done waits for the person."""
    elapsed_s: int | None = None
    step: int | None = None
    grew: int | None = None
    """Tokens that this turn has added so far."""
    cost: str = ""
    queued: int = 0
    """Messages that wait for the turn to end."""
    held: bool = False
    """Whether they wait for a word of the person, because the turn was stopped."""
    locked: str = ""
    """Why nothing can be sent from here; empty: it can."""


def facts(status: PromptStatus) -> list[list[Run]]:
    """The facts of the line, the ones to drop first last."""
    found = _doing(status) if status.doing else _draft(status)
    if status.queued:
        words = "held, ^X g sends" if status.held else "queued"
        found.insert(1, [(f"{status.queued} ", "value"), (words, "warning" if status.held else "label")])
    if status.locked:
        found.insert(0, [(status.locked, "warning")])
    return found


def _draft(status: PromptStatus) -> list[list[Run]]:
    if not status.draft_tokens:
        return []
    found: list[list[Run]] = [[("draft ", "label"), (f"~{short(status.draft_tokens)}", "value")]]
    if status.compacts:
        found.append([("would compact before the reply", "limit")])
    if status.lands_at is not None:
        percent = f" {status.percent}%" if status.percent is not None else ""
        found.append([("lands at ", "label"), (f"~{short(status.lands_at)}{percent}", "value")])
    if status.after_turn is not None:
        found.append([("after this turn ", "label"), (f"~{short(status.after_turn)}", "value")])
    return found


def _doing(status: PromptStatus) -> list[list[Run]]:
    elapsed = f" {status.elapsed_s} s" if status.elapsed_s is not None else ""
    found: list[list[Run]] = [[(status.doing + elapsed, "warning" if status.waiting else "running")]]
    if status.draft_tokens:
        found.append([("draft ", "label"), (f"~{short(status.draft_tokens)}", "value")])
    if status.step is not None:
        found.append([(f"step {status.step}", "label")])
    if status.grew is not None:
        found.append([("turn so far ", "label"), (f"+{short(status.grew)}", "value")])
    if status.cost:
        found.append([(status.cost, "label")])
    return found


def line(status: PromptStatus, *, width_cells: int) -> list[Run]:
    """As many facts as fit, the first one always."""
    runs: list[Run] = []
    used = 0
    for fact in facts(status):
        cells = sum(len(text) for text, _ in fact) + (len(GAP) if runs else 0)
        if runs and used + cells > width_cells:
            break
        runs += [(GAP, "label"), *fact] if runs else fact
        used += cells
    return runs
