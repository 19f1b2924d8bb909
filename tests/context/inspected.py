"""Sessions for the inspector's pages: small requests whose sums one can do in the head."""

from typing import Any

import msgspec

from qiming_tui.context.budget import verdict
from qiming_tui.context.past_request import Step
from qiming_tui.model.ledger import ManifestRow, RequestRow, Times
from qiming_tui.model.limits import Limits
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import ItemState, Klass, Preset, Settings
from tests.store.values import request

LIMITS = Limits(100_000, None, 20_000)
SETTINGS = Settings(preset=Preset.GUARDED, protect=10_000, minimum=5_000)


def item(key: str, klass: Klass, tokens: int, **fields: Any) -> ManifestRow:
    """An item; its key stands for its group, part and message too."""
    made = ManifestRow(
        fields.pop("blob", key),
        key,
        key,
        key,
        key.split(":")[0],
        klass,
        fields.pop("state", ItemState.SENT),
        fields.pop("pinned", False),
        tokens,
        Basis.ESTIMATED,
        fields.pop("source", ""),
    )
    assert not fields
    return made


def cleared(row: ManifestRow) -> ManifestRow:
    """The same, not sent any more."""
    return msgspec.structs.replace(row, state=ItemState.CLEARED, tokens=10, blob="placeholder")


SYSTEM = item("system:0", Klass.SYSTEM, 2_000)


def step(number: int, *rows: ManifestRow, output: int = 100, **fields: Any) -> Step:
    """A request that was answered: measured as the sum of its items and of the answer."""
    total = sum(row.tokens for row in rows)
    settings = fields.pop("settings", SETTINGS)
    limits = fields.pop("limits", LIMITS)
    before = verdict(settings=settings, limits=limits, count=total, basis=Basis.PREDICTED)
    after = verdict(settings=settings, limits=limits, count=total + output, basis=Basis.MEASURED)
    read = fields.pop("read", 0)
    row: RequestRow = request(
        number,
        verdict=before,
        after=fields.pop("after", after),
        limits=limits,
        manifest=rows,
        usage=Usage(input=total - read, output=output, cache_read=read),
        times=Times(queued=number * 1_000, end=number * 1_000 + 400),
        message_id=f"m{number}",
        **fields,
    )
    return Step(row=row, manifest=rows)


def grown(turns: int, result: int = 8_000) -> list[Step]:
    """Turns of two steps: a prompt, then the result of a call."""
    made: list[Step] = []
    window = [SYSTEM]
    for turn in range(1, turns + 1):
        window = [*window, item(f"u{turn}:0", Klass.USER, 100)]
        made.append(step(len(made) + 1, *window))
        window = [
            *window,
            item(f"a{turn}:call", Klass.ASSISTANT, 100),
            item(f"r{turn}:result", Klass.RESULT, result, source="read"),
        ]
        made.append(step(len(made) + 1, *window))
    return made


def compacted() -> list[Step]:
    """Steps 1 to 3 grow to 85,100, step 4 is the summary, step 5 goes on from it."""
    first = item("u1:0", Klass.USER, 100)
    big = [item(f"r{n}:result", Klass.RESULT, 41_450, source="bash") for n in (1, 2)]
    summary = item("s:text", Klass.SUMMARY, 1_000)
    go_on = item("c:0", Klass.USER, 10, state=ItemState.SYNTHETIC)
    return [
        step(1, SYSTEM, first),
        step(2, SYSTEM, first, big[0]),
        step(3, SYSTEM, first, *big),
        step(4, SYSTEM, first, *big, kind=RequestKind.SUMMARY, output=1_000),
        step(5, SYSTEM, summary, go_on),
    ]
