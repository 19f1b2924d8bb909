"""What a call's result will probably add to the window: the median of the calls before it (`ux.md` 3.3)."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

import msgspec

from qiming_tui.context.budget import percent
from qiming_tui.context.tokens import estimate_units, script_estimate
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, ToolPart
from qiming_tui.model.window import ContextView, ItemState, Klass

MOST: Final = 20
"""So many of the newest calls are looked at."""


class ResultPrice(msgspec.Struct, frozen=True):
    """What a result is expected to weigh."""

    tokens: int
    samples: int
    lands_percent: int | None
    """Where the window would be after it, of usable; None: not known."""


def result_price(
    view: ContextView, entries: Sequence[Entry], *, tool: str, command: str = ""
) -> ResultPrice | None:
    """The median of the newest results of the same tool; for a command, of those with the same program where
    there are any. None: the tool has not run yet."""
    weighed = {
        item.part_id: item.tokens
        for item in view.items
        if item.klass is Klass.RESULT and item.part_id is not None and item.state is not ItemState.CLEARED
    }
    found = list(_results(entries, tool))
    program = _program(command)
    alike = [part for part in found if program and _program(_command(part)) == program]
    sizes = [_tokens(part, weighed) for part in (alike or found)[:MOST]]
    if not sizes:
        return None
    tokens = int(median(sizes))
    verdict = view.verdict
    return ResultPrice(tokens, len(sizes), percent(verdict.count + tokens, verdict.usable))


def _results(entries: Sequence[Entry], tool: str) -> Iterator[ToolPart]:
    """Completed calls of the tool, newest first."""
    for entry in reversed(entries):
        for part in reversed(entry.parts):
            if isinstance(part, ToolPart) and part.tool == tool and isinstance(part.state, Completed):
                yield part


def _tokens(part: ToolPart, weighed: dict[str, int]) -> int:
    known = weighed.get(part.id)
    if known is not None:
        return known
    state = part.state
    assert isinstance(state, Completed)
    return script_estimate(state.output) if state.stored is None else estimate_units(state.stored.units)


def _command(part: ToolPart) -> str:
    arguments = part.state.input
    value = arguments.get("command") if isinstance(arguments, dict) else None
    return value if isinstance(value, str) else ""


def _program(command: str) -> str:
    """The first word of a command line that is no assignment."""
    return next((word for word in command.split() if "=" not in word), "")
