"""The timeline's columns: one a step, with what it was made of, what it cost and how long it took."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.strip import StepMark, marks_of
from qiming_tui.context.timeline_share import Share
from qiming_tui.model.edits import EditRecord
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.usage import Basis

ORDER: Final = "SZUAR?"
"""Bands from the bottom up. `S` is the whole fixed prefix (system, tools, memory), `?` what the provider
counted and we did not, or what a recorded file does not hold."""
GHOST: Final = ":"


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the timeline. Sizes in tokens."""

    mark: StepMark
    share: Share | None
    """None: it is not known what the request was made of."""
    rebuilt: bool = False
    """Put together from the messages, because there is no ledger of it: shown with `~`."""
    state: str = ""
    """The verdict in a word."""
    cost: float | None = None
    """US dollars."""
    read: int = 0
    """Read from the provider's cache."""
    new: int = 0
    """The rest of what was sent; written to the cache or not."""
    answer: int = 0
    """Output and reasoning."""
    wait_ms: int | None = None
    """Until the first token came."""
    write_ms: int | None = None
    """From there to the end; all of it where the first token's time is not known."""

    @property
    def label(self) -> str:
        """Its number; `~7` for one that was rebuilt."""
        return f"~{self.mark.step:,}" if self.rebuilt else f"{self.mark.step:,}"

    @property
    def ms(self) -> int | None:
        """From sending to the end."""
        if self.write_ms is None:
            return None
        return (self.wait_ms or 0) + self.write_ms

    @property
    def bands(self) -> tuple[int, ...]:
        """Tokens by band in `ORDER`; they sum up to the step's count unless we counted more than that."""
        mark, share = self.mark, self.share
        if mark.summary:
            return (0, mark.count, 0, 0, 0, 0)
        if share is None:
            return (0, 0, 0, 0, 0, mark.count)
        answered = self.answer if mark.basis is Basis.MEASURED else 0
        known = (share.fixed, share.summary, share.user, share.assistant + answered, share.results)
        return (*known, max(0, mark.count - sum(known)))

    @property
    def ghost(self) -> int:
        """Tokens of results that are no longer sent."""
        return 0 if self.share is None or self.mark.summary else self.share.ghost


def columns_of(
    rows: Sequence[RequestRow],
    shares: Mapping[str, Share],
    edits: Iterable[EditRecord],
    turns: Mapping[str, int],
    *,
    past: Sequence[RequestRow] = (),
) -> tuple[Column, ...]:
    """The columns of a session. `shares` by request id; `past` are the rows of steps that have no ledger,
    which come first."""
    own = sorted((row for row in rows if row.step > 0), key=lambda row: (row.step, row.seq))
    every = [*past, *own]
    numbered = [msgspec.structs.replace(row, step=number) for number, row in enumerate(every, 1)]
    marks = marks_of(numbered, edits, turns)
    return tuple(
        _column(msgspec.structs.replace(mark, step=row.step), row, shares.get(row.id), place < len(past))
        for place, (mark, row) in enumerate(zip(marks, every, strict=True))
    )


def _column(mark: StepMark, row: RequestRow, share: Share | None, rebuilt: bool) -> Column:
    usage, times = row.usage, row.times
    begun = times.sent if times.sent is not None else times.queued
    first = times.first_token
    write = None if times.end is None else max(0, times.end - (begun if first is None else first))
    return Column(
        mark=mark,
        share=share,
        rebuilt=rebuilt,
        state=str((row.after or row.verdict).state),
        cost=row.cost,
        read=usage.cache_read if usage is not None else row.cache.read,
        new=usage.input + usage.cache_write if usage is not None else 0,
        answer=usage.output + usage.reasoning if usage is not None else 0,
        wait_ms=None if first is None else max(0, first - begun),
        write_ms=write,
    )


def boundary_sizes(columns: Sequence[Column], place: int) -> tuple[int | None, int | None]:
    """The window before and after a summary's step; None: there is no such step."""
    before = next((c.mark.count for c in reversed(columns[:place]) if not c.mark.summary), None)
    after = next((c.mark.count for c in columns[place + 1 :] if not c.mark.summary), None)
    return before, after
