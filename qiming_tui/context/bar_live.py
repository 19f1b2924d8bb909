"""What the bar is told beside the built request: what is cached and where that breaks, what the next request
costs, what came since the last measured answer, how much a turn adds.

Everything here is read from the ledger and from the view; nothing is guessed without being marked as such.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from qiming_tui.context.bar import Live, Offer
from qiming_tui.context.budget import count_usage, input_side
from qiming_tui.context.strip import StepMark
from qiming_tui.context.tokens import estimate_units, script_estimate
from qiming_tui.model.ledger import Outcome, RequestRow
from qiming_tui.model.limits import Price
from qiming_tui.model.parts import Completed, Part, ToolPart
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage, cost
from qiming_tui.model.window import ContextView, ItemState

TURNS: Final = 3
"""Growth and length of answers are medians of so many."""


def answered_of(rows: Sequence[RequestRow]) -> RequestRow | None:
    """The newest request of a turn that was answered with a usage."""
    return next((row for row in reversed(_turns(rows)) if row.usage is not None), None)


def measured_of(rows: Sequence[RequestRow], view: ContextView) -> RequestRow | None:
    """The newest answered request whose answer the window was measured by: after the newest boundary."""
    live = frozenset(view.live)
    summaries = [row.step for row in rows if row.kind is RequestKind.SUMMARY and row.message_id in live]
    since = max(summaries, default=0)
    for row in reversed(_turns(rows)):
        if row.step < since:
            return None
        usage = row.usage
        if usage is not None and row.message_id in live and input_side(usage):
            return row
    return None


def _turns(rows: Sequence[RequestRow]) -> list[RequestRow]:
    return [row for row in rows if row.kind is RequestKind.TURN and row.outcome is Outcome.OK]


def break_at(view: ContextView, before: RequestRow | None) -> int | None:
    """Tokens of the next request that are the same as in the one before; None: it only goes on from there.

    `before` must have its manifest. Another model shares nothing.
    """
    if before is None or not before.manifest:
        return None
    if before.params.model != view.params.model:
        return 0
    same = 0
    for row, item in zip(before.manifest, view.items, strict=False):
        if row.blob != item.blob or row.group != item.group:
            return same
        same += item.tokens
    return same if len(before.manifest) > len(view.items) else None


def growth_of(marks: Sequence[StepMark]) -> int | None:
    """Tokens that a turn of the live window added, the median of the last three; None: there were none."""
    ends: dict[int, int] = {}
    for mark in marks:
        if mark.live and not mark.summary:
            ends[mark.turn] = mark.count
    sizes = list(ends.values())
    grown = [after - before for before, after in pairwise(sizes) if after > before]
    return int(median(grown[-TURNS:])) if grown else None


def cost_next(
    view: ContextView, rows: Sequence[RequestRow], price: Price | None, *, cached: int
) -> float | None:
    """US dollars that the next request will cost: what is cached at its own price, an answer as long as the
    last ones; None where the price is not known."""
    if price is None:
        return None
    outputs = [row.usage.output + row.usage.reasoning for row in _turns(rows) if row.usage is not None]
    held = min(cached, view.verdict.count)
    usage = Usage(
        input=view.verdict.count - held,
        cache_read=held,
        output=int(median(outputs[-TURNS:])) if outputs else 0,
    )
    return cost(usage, price)


def cleared_of(view: ContextView, parts: Mapping[str, Part]) -> int:
    """Tokens, roughly, of what is cleared in this window; `parts`: those of its cleared items."""
    total = 0
    for item in view.items:
        part = parts.get(item.part_id or "") if item.state is ItemState.CLEARED else None
        if isinstance(part, ToolPart) and isinstance(part.state, Completed):
            stored = part.state.stored
            total += script_estimate(part.state.output) if stored is None else estimate_units(stored.units)
    return total


def live_of(
    view: ContextView,
    rows: Sequence[RequestRow],
    *,
    before: RequestRow | None,
    growth: int | None,
    price: Price | None,
    cleared: int = 0,
    offers: tuple[Offer, ...] = (),
) -> Live:
    """Everything together. `before`: the last answered request with its manifest, as `break_at` needs it."""
    last, measured = answered_of(rows), measured_of(rows, view)
    read = last.usage.cache_read if last is not None and last.usage is not None else 0
    cached = min(read, view.total)
    cut = break_at(view, before)
    verdict = view.verdict
    if verdict.refused or verdict.basis not in (Basis.MEASURED, Basis.PREDICTED):
        measured = None
    since = 0
    if measured is not None and measured.usage is not None:
        since = verdict.count - count_usage(verdict.preset, measured.usage)
    held = cached if cut is None else min(cut, cached)
    return Live(
        growth=growth,
        cached=cached,
        cache_break=cut,
        cost_next=cost_next(view, rows, price, cached=held),
        cleared=cleared,
        step=measured.step if measured is not None else None,
        since=since,
        offers=offers,
    )
