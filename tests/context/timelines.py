"""The session of the pictures with manifests: what each of its 47 requests was made of."""

from qiming_tui.context.strip import marks_of
from qiming_tui.context.timeline import Column, columns_of
from qiming_tui.context.timeline_share import shares_of
from qiming_tui.model.ledger import ManifestRow, RequestRow
from qiming_tui.model.limits import Limits
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import ItemState, Klass
from tests.tui import strips

TURNS = {f"msg_{step}": 1 + (step - 1) // 4 for step in range(1, 48)}


def line(key: str, klass: Klass, tokens: int, *, cleared: bool = False, source: str = "") -> ManifestRow:
    """An item of a request."""
    state = ItemState.CLEARED if cleared else ItemState.SENT
    return ManifestRow("b", key, key, None, key, klass, state, False, tokens, Basis.ESTIMATED, source)


def made_of(step: int, count: int) -> tuple[ManifestRow, ...]:
    """Fixed 16k, a summary after the boundary, then a fifth for the user's and the model's words."""
    first = step <= 28
    gone = step > 12 if first else step > 43
    start = [line("system:0", Klass.SYSTEM, 4_000), line("tool:read", Klass.TOOL, 12_000)]
    if not first:
        start.append(line("z:text", Klass.SUMMARY, 4_600))
    rest = max(500, count - sum(row.tokens for row in start) - 10)
    words = [line(f"u{step // 4}", Klass.USER, rest // 20), line(f"a{step}", Klass.ASSISTANT, rest // 4)]
    old = []
    if step >= 8 if first else step >= 38:
        size = 10 if gone else 24_000
        old = [line(f"old{first}:result", Klass.RESULT, size, cleared=gone, source="read")]
    room = max(100, rest - sum(row.tokens for row in (*words, *old)))
    results = [line(f"r{step}:result", Klass.RESULT, room, source="bash")]
    return (*start, *old, *words, *results)


def rows() -> list[RequestRow]:
    """The ledger of the pictures, each request with its items, its cost, its times and its usage."""
    found = []
    for row in strips.rows():
        usage = Usage(input=row.verdict.count // 4, cache_read=row.verdict.count * 3 // 4, output=400)
        made = made_of(row.step, row.verdict.count)
        found.append(
            strips.row(
                row.step,
                row.verdict.count,
                kind=row.kind,
                manifest=made,
                usage=usage,
                cost=row.step / 100,
                limits=Limits(200_000, None, 32_000),
            )
        )
    return found


def columns(*, turns: dict[str, int] | None = None) -> tuple[Column, ...]:
    """All 47 columns."""
    ledger = rows()
    return columns_of(ledger, shares_of(ledger), strips.edits(), TURNS if turns is None else turns)


def many(steps: int) -> tuple[Column, ...]:
    """A long session: the pictures' columns over and over, without boundaries."""
    held = [column for column in columns() if not column.mark.summary and column.mark.live]
    found = [strips.row(step, held[step % len(held)].mark.count) for step in range(1, steps + 1)]
    marks = marks_of(found, [], {})
    return tuple(Column(mark=mark, share=held[n % len(held)].share) for n, mark in enumerate(marks))
