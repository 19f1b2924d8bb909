"""The session of the pictures as ledger rows and edits: 46 steps, prunes, a compaction at step 27."""

from typing import Any

import msgspec

from qiming_tui.context.strip import StepMark, marks_of
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.ledger import RequestRow, Times
from qiming_tui.model.stream import RequestKind
from tests.store.values import VERDICT, request

DIGITS = "123344556675567788967788999!"
AFTER = "112233444566755555"
USABLE = 168_000


def row(step: int, count: int, **fields: Any) -> RequestRow:
    """A ledger row whose predicted size is `count` of 168,000 usable."""
    verdict = msgspec.structs.replace(VERDICT, count=count, usable=USABLE)
    fields = {"view_hash": f"{step:064}", "message_id": f"msg_{step}", **fields}
    return request(step, verdict=verdict, times=Times(queued=step * 1_000), **fields)


def sized(digit: str) -> int:
    """A count that has this digit."""
    return 171_204 if digit == "!" else int((int(digit) + 0.5) * USABLE / 10)


def edit(kind: EditKind, step: int, *targets: str, by: str = "prune+summary", **fields: Any) -> Edit:
    """An edit made right after a step was sent."""
    return Edit(
        id=f"edt_{step}_{kind}",
        session_id="ses",
        seq=step,
        group=f"grp_{step}",
        kind=kind,
        targets=targets,
        by=by,
        at=step * 1_000 + 500,
        **fields,
    )


def rows() -> list[RequestRow]:
    """28 steps, the summary as step 29, 18 steps after it."""
    before = [row(step, sized(digit)) for step, digit in enumerate(DIGITS, 1)]
    summary = row(29, 160_000, kind=RequestKind.SUMMARY)
    after = [row(step, sized(digit)) for step, digit in enumerate(AFTER, 30)]
    return [*before, summary, *after]


def edits() -> list[Edit]:
    """Prunes at 12, 20 and 43; a compaction by the summary of step 29."""
    sizes = {"tokens_before": 171_204, "tokens_after": 24_300}
    return [
        edit(EditKind.CLEAR, 12, "p1", "p2", tokens_before=110_000, tokens_after=73_800),
        edit(EditKind.CLEAR, 20, "p3"),
        edit(EditKind.COMPACT, 29, "msg_ask", "msg_29", "msg_go_on", **sizes),
        edit(EditKind.CLEAR, 43, "p4", "p5", "p6"),
    ]


def marks() -> tuple[StepMark, ...]:
    """The columns of it; a turn every four steps."""
    turns = {f"msg_{step}": 1 + (step - 1) // 4 for step in range(1, 48)}
    return marks_of(rows(), edits(), turns)
