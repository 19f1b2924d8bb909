"""Large sessions open quickly (cases C-108): bounds that only a change of the kind of work breaks."""

import time
from collections.abc import Awaitable, Callable

from qiming_tui.model.changes import Change, PutMessage, PutPart
from qiming_tui.store.store import Store
from tests.store.conftest import Opener
from tests.store.values import S, answer, talk, text, tool, user


async def best(work: Callable[[], Awaitable[object]], times: int) -> float:
    """The shortest of some runs, in seconds."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        took.append(time.perf_counter() - began)
    return min(took)


async def test_c_108_a_session_of_5000_messages_opens_within_a_second(opener: Opener) -> None:
    store = opener()
    changes: list[Change] = talk()[:1]
    for number in range(2500):
        ask, reply = f"msg_u{number}", f"msg_s{number}"
        changes += [
            PutMessage(user(ask), 2 * number),
            PutMessage(answer(reply, finish="stop"), 2 * number + 1),
        ]
        changes.append(PutPart(text(f"prt_{ask}", f"question {number} " * 10, ask), 0))
        changes.append(PutPart(text(f"prt_{reply}", f"answer {number} " * 50, reply), 0))
        changes.append(PutPart(tool(f"prt_t{number}", f"line {number}\n" * 100, reply, compacted=1), 1))
    await store.apply(changes)
    store.close()

    async def open_and_load() -> None:
        reopened: Store = opener()
        assert len((await reopened.load(S)).entries) == 5000
        reopened.close()

    assert await best(open_and_load, 3) < 1


async def test_a_part_is_written_within_milliseconds(opener: Opener) -> None:
    store = opener()
    await store.apply(talk())
    part = text("prt_1", "a streamed reply " * 120)
    assert await best(lambda: store.apply([PutPart(part, 0)]), 50) < 0.005
