"""`/context`: what the bar shows, as text that can be pasted into an issue: exact numbers, no colours."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from qiming_tui.context.bar import BarData
from qiming_tui.context.figures import change, money, plural, whole_tokens
from qiming_tui.model.sanitize import one_line
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import ContextView, ItemState, Klass

NAMES: Final = {
    Klass.SYSTEM: "system prompt",
    Klass.TOOL: "tool schemas",
    Klass.MEMORY: "memory files",
    Klass.SUMMARY: "summary",
    Klass.USER: "user",
    Klass.ASSISTANT: "assistant",
    Klass.RESULT: "tool results",
}
"""What the class letters stand for."""


def report(data: BarData, view: ContextView, *, heading: str = "") -> tuple[str, ...]:
    """The window of the next request: how full, by what, measured how, and what comes next."""
    lines = [f"context  {one_line(heading, limit=120)}"] if heading else []
    lines += [f"state    {_state(data)}", f"count    {_count(data)}"]
    sums = view.verdict.arithmetic.split("; ")
    lines += [f"{'sum' if not at else '':<8} {words}" for at, words in enumerate(sums)]
    lines += [f"next     {words}" for words in _ahead(data)]
    lines += [f"cache    {words}" for words in _cache(data)]
    lines += ["", *_classes(data, view)]
    left_out = _left_out(data, view)
    if left_out:
        lines += ["", *left_out]
    return (*lines, *_flags(view))


def _state(data: BarData) -> str:
    words = data.state.value if data.auto else f"{data.state.value}, automatic compaction is off"
    if data.usable is None:
        return f"{words}: the window of this model is not known"
    share = f"{data.percent}% " if data.percent is not None else ""
    mark = "" if data.basis is Basis.MEASURED else "~"
    where = f"over by {mark}{data.over_by:,}" if data.over_by else f"{mark}{data.left or 0:,} left"
    turns = data.turns_left
    more = f", ~{plural(turns, 'turn')} of ~{data.growth:,}" if turns is not None and data.growth else ""
    return f"{share}{words}: {mark}{data.count:,} of {data.usable:,} usable, {where}{more}"


def _count(data: BarData) -> str:
    mark = "" if data.basis is Basis.MEASURED else "~"
    words = f"{mark}{data.count:,} {data.basis.value}"
    if data.step is not None and (data.basis is Basis.MEASURED or data.since):
        since = f", {change(data.since, '~')} since" if data.since else ""
        words = f"{mark}{data.count:,} measured at step {data.step}{since}"
    return f"{words}; our own sum ~{data.total:,}, drift {data.drift:+,}"


def _ahead(data: BarData) -> Iterable[str]:
    if data.draft_tokens:
        yield f"the draft is ~{data.draft_tokens:,}: the request would be ~{data.lands:,}"
    if data.after_turn is not None:
        yield f"after one more turn ~{data.after_turn:,}"
    if data.cost_next is not None:
        yield f"the request costs ~{money(data.cost_next)}"


def _cache(data: BarData) -> Iterable[str]:
    if data.cache_break is not None:
        yield f"breaks at {data.cache_break:,}: ~{data.reread:,} are read again"
    elif data.cached:
        yield f"{data.cached:,} at the beginning are cached"


def _classes(data: BarData, view: ContextView) -> list[str]:
    counts = Counter(item.klass for item in view.items)
    rows = [
        (klass.value, NAMES[klass], f"~{whole_tokens(view.by_class.get(klass, 0))}", counts[klass])
        for klass in Klass
        if counts[klass]
    ]
    if data.drift > 0:
        rows.append(("?", "counted beyond that", f"{whole_tokens(data.drift)}", 0))
    rows.append((" ", "the next request", f"~{whole_tokens(view.total)}", len(view.items)))
    names = max(len(row[1]) for row in rows)
    numbers = max(len(row[2]) for row in rows)
    return [
        f"{letter}  {name:<{names}}  {tokens:>{numbers}}  {plural(items, 'item') if items else ''}".rstrip()
        for letter, name, tokens, items in rows
    ]


def _left_out(data: BarData, view: ContextView) -> list[str]:
    states = Counter(item.state for item in view.items)
    pinned = sum(item.pinned for item in view.items)
    lines = []
    if states[ItemState.CLEARED]:
        was = f", ~{data.cleared:,} tokens" if data.cleared else ""
        lines.append(f"{plural(states[ItemState.CLEARED], 'result')} cleared{was}: kept, not sent")
    if states[ItemState.CLIPPED]:
        lines.append(f"{plural(states[ItemState.CLIPPED], 'call')} sent with shortened arguments")
    if pinned:
        lines.append(f"{plural(pinned, 'item')} pinned")
    if view.archived:
        lines.append(f"{plural(len(view.archived), 'message')} archived behind the summary: kept, not sent")
    return lines


def _flags(view: ContextView) -> list[str]:
    return [f"note     {one_line(flag, limit=300)}" for flag in view.verdict.flags]
