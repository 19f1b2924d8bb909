"""The health of the next request: what must hold whatever was cleared, pinned, compacted or undone.

Checked on the finished items, apart from the code that made them, and said in words: green, or red with the
first thing that is wrong.
"""

from collections.abc import Sequence

import msgspec

from qiming_tui.context.edits import is_cleared
from qiming_tui.context.figures import plural, whole_tokens
from qiming_tui.context.state import Pin, Window
from qiming_tui.context.view import FIXED
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.window import ContextView, Item, Klass


class Check(msgspec.Struct, frozen=True):
    """One invariant: whether it holds, and its words."""

    name: str
    good: bool
    words: str


class Health(msgspec.Struct, frozen=True):
    """All of them."""

    checks: tuple[Check, ...]

    @property
    def good(self) -> bool:
        """Whether all hold."""
        return all(check.good for check in self.checks)

    @property
    def words(self) -> str:
        """A line: `health good: ...`, or `health BAD: ...` with everything that is wrong."""
        if self.good:
            return f"health good: {', '.join(check.words for check in self.checks)}"
        return f"health BAD: {'; '.join(check.words for check in self.checks if not check.good)}"


def health(view: ContextView, window: Window, *, growth: int | None = None) -> Health:
    """The invariants of a request. `window`: what it was made from; `growth`: tokens that one more turn is
    expected to add."""
    return Health(
        (
            _pairs(view.items),
            _order(view.items, window.live),
            _boundary(view.items, window),
            _pins(view.items, window),
            _fits(view, growth),
        )
    )


def _pairs(items: Sequence[Item]) -> Check:
    """Every call has its one result after it, every result its call."""
    open_calls: dict[object, str] = {}
    pairs = 0
    for item in items:
        value = item.value
        if value.get("type") == "call":
            open_calls[value["id"]] = item.source
        elif value["role"] == "tool":
            if value["id"] not in open_calls:
                return Check("pairs", False, f"a result of {item.source or 'a tool'} without its call")
            del open_calls[value["id"]]
            pairs += 1
    if open_calls:
        return Check("pairs", False, f"a call of {next(iter(open_calls.values()))} without its result")
    results = "its result" if pairs == 1 else "results"
    return Check("pairs", True, f"{plural(pairs, 'call')} with {results}" if pairs else "no calls")


def _order(items: Sequence[Item], live: Sequence[Entry]) -> Check:
    """System, tools and memory first; then the messages as the window has them; a user speaks first."""
    rest = [item for item in items if item.klass not in FIXED]
    head = items[: len(items) - len(rest)]
    if any(item.klass not in FIXED for item in head):
        return Check("order", False, "the fixed prompt does not stand first")
    place = {entry.id: index for index, entry in enumerate(live)}
    places = [place[item.message_id] for item in rest if item.message_id in place]
    if places != sorted(places):
        return Check("order", False, "messages are out of order")
    if rest and rest[0].value["role"] != "user":
        return Check("order", False, "the conversation does not begin with a user message")
    return Check("order", True, "in order")


def _boundary(items: Sequence[Item], window: Window) -> Check:
    """At most one summary is sent: that of the newest boundary, which stands before all that it does not
    replace."""
    sent = {item.message_id for item in items if item.klass is Klass.SUMMARY}
    wanted = set() if window.boundary is None else {window.boundary.summary_id}
    if sent != wanted:
        return Check("boundary", False, f"{plural(len(sent), 'summary')} sent, {len(wanted)} wanted")
    if set(window.archived) & {item.message_id for item in items}:
        return Check("boundary", False, "archived messages are sent beside their summary")
    return Check("boundary", True, "one active boundary" if wanted else "no boundary")


def _pins(items: Sequence[Item], window: Window) -> Check:
    """Every pinned thing is in the request: itself while it is live, else its snapshot."""
    pins = window.edits.pins
    lost = [pin for pin in pins if not pin_sent(pin, items, window)]
    if lost:
        return Check(
            "pins", False, f"{plural(len(lost), 'pin')} not sent: {lost[0].source or lost[0].target}"
        )
    return Check("pins", True, f"{plural(len(pins), 'pin')} present" if pins else "no pins")


def pin_sent(pin: Pin, items: Sequence[Item], window: Window) -> bool:
    """Whether the request holds what was pinned, in full."""
    snapshot = f"pin:{pin.target}"
    found = [i for i in items if i.key == snapshot or pin.target in (i.part_id, i.message_id)]
    if not found:
        return not pin.text.strip()
    if any(item.key == snapshot for item in found):
        return True
    part = next((part for entry in window.live for part in entry.parts if part.id == pin.target), None)
    return not (isinstance(part, ToolPart) and is_cleared(part, window.edits))


def _fits(view: ContextView, growth: int | None) -> Check:
    """What the next turn is expected to need lies below usable."""
    usable = view.usable
    if usable is None:
        return Check("fits", True, "window unknown")
    count = view.verdict.count
    projected = count + (growth or 0)
    sum_words = whole_tokens(count) if not growth else f"{whole_tokens(count)} + ~{whole_tokens(growth)}"
    if projected < usable:
        return Check("fits", True, f"{sum_words} < {whole_tokens(usable)} usable")
    over = whole_tokens(projected - usable)
    return Check("fits", False, f"{sum_words} >= {whole_tokens(usable)} usable, ~{over} over")
