"""The prompt cache, step by step: read, written, new, how much of each request was a hit, and what each break
cost. What the provider reports is exact; the price of a break is ours and marked `~`.
"""

from collections.abc import Iterable, Sequence

import msgspec

from qiming_tui.context.figures import kilo, money
from qiming_tui.context.past_request import Step
from qiming_tui.context.price import ratios
from qiming_tui.context.request_diff import compare
from qiming_tui.model.edits import Edit, EditKind, EditRecord, Switch
from qiming_tui.model.limits import Price
from qiming_tui.model.stream import RequestKind


class CacheStep(msgspec.Struct, frozen=True, kw_only=True):
    """One request's cache; tokens as the provider reported them, None where it reported nothing."""

    step: int
    read: int | None
    write: int | None
    new: int | None
    """Sent and neither read from the cache nor written to it."""
    hit: int | None
    """Per cent of what was sent that came from the cache, half up."""
    cause: str
    """Why the beginning of the request was another; empty: it only went on."""
    again: int
    """Tokens of the request before, behind the break, that were sent anew (`~`)."""
    price: float | None
    """What that cost more than reading them from the cache, in dollars (`~`); None: prices unknown."""
    summary: bool = False


class CacheBook(msgspec.Struct, frozen=True, kw_only=True):
    """All requests, and their sums."""

    steps: tuple[CacheStep, ...]
    read: int
    write: int
    new: int

    @property
    def hit(self) -> int | None:
        """Per cent of everything sent that came from the cache."""
        return _percent(self.read, self.read + self.write + self.new)

    @property
    def words(self) -> str:
        """The sums in a line."""
        broken = [step for step in self.steps if step.cause]
        lost = sum(step.price or 0 for step in broken)
        hit = "unknown" if self.hit is None else f"{self.hit}%"
        head = f"read {self.read:,}  written {self.write:,}  new {self.new:,}  hit {hit}"
        if not broken:
            return f"{head}  no break"
        again = kilo(sum(step.again for step in broken))
        paid = f", ~{money(lost)}" if any(step.price is not None for step in broken) else ""
        return f"{head}  breaks {len(broken):,}, ~{again} sent again{paid}"


def _percent(part: int, whole: int) -> int | None:
    return (200 * part + whole) // (2 * whole) if whole > 0 else None


def cachebook(steps: Sequence[Step], edits: Iterable[EditRecord], price: Price | None) -> CacheBook:
    """The book of a session's requests in order. A summary's own request breaks nothing."""
    records = sorted(edits, key=lambda record: record.at)
    found: list[CacheStep] = []
    last: Step | None = None
    for step in steps:
        summary = step.row.kind is RequestKind.SUMMARY
        found.append(_step(step, None if summary else last, records, price))
        if not summary:
            last = step
    return CacheBook(
        steps=tuple(found),
        read=sum(step.read or 0 for step in found),
        write=sum(step.write or 0 for step in found),
        new=sum(step.new or 0 for step in found),
    )


def _step(step: Step, last: Step | None, edits: Sequence[EditRecord], price: Price | None) -> CacheStep:
    row, usage = step.row, step.row.usage
    cause, again = "", 0
    if last is not None and last.manifest and step.manifest:
        diff = compare(last.manifest, step.manifest)
        if diff.first is not None:
            cause, again = row.cache.cause or _cause(last, step, edits, diff.first), diff.again
    lost = None
    if cause and price is not None and price.input > 0:
        read, write = ratios(price)
        lost = (write - read) * again * price.input / 1_000_000
    sent = 0 if usage is None else usage.input + usage.cache_read + usage.cache_write
    return CacheStep(
        step=row.step,
        read=None if usage is None else usage.cache_read,
        write=None if usage is None else usage.cache_write,
        new=None if usage is None else usage.input,
        hit=None if usage is None else _percent(usage.cache_read, sent),
        cause=cause,
        again=again,
        price=lost,
        summary=row.kind is RequestKind.SUMMARY,
    )


_CAUSES = {
    EditKind.CLEAR: "results cleared",
    EditKind.RESTORE: "a result restored",
    EditKind.CLIP: "arguments shortened",
    EditKind.PIN: "a pin",
    EditKind.UNPIN: "a pin let go",
    EditKind.COMPACT: "compaction",
    EditKind.SUMMARY_EDIT: "the summary edited",
}


def _cause(last: Step, step: Step, edits: Sequence[EditRecord], key: str) -> str:
    """The edit that was made between two requests, another model, or the item itself."""
    if last.row.model != step.row.model:
        return f"another model: {step.row.model}"
    kinds: list[str] = []
    for record in edits:
        if last.row.times.queued < record.at <= step.row.times.queued:
            if isinstance(record, Switch):
                kinds.append("redo" if record.on else "undo")
            elif isinstance(record, Edit):
                kinds.append(_CAUSES[record.kind])
    if kinds:
        return ", ".join(dict.fromkeys(kinds))
    return f"{key.split(':', 1)[0]} changed" if key.startswith(("system:", "tool:", "memory:")) else key
