"""Large sessions open quickly (cases C-108): ratios that only a change of the kind of work breaks."""

import time
from collections.abc import Awaitable, Callable

from qiming_tui.model.changes import Change, PutMessage, PutPart
from tests.store.conftest import Opener
from tests.store.values import S, answer, talk, text, tool, user


async def best(work: Callable[[], Awaitable[object]], times: int) -> float:
    """The shortest of some runs, in seconds of this process's threads."""
    took = []
    for _ in range(times):
        began = time.process_time()
        await work()
        took.append(time.process_time() - began)
    return min(took)


def turns(first: int, last: int) -> list[Change]:
    """Questions, each with an answer and a cleared result of 800 characters."""
    changes: list[Change] = []
    for number in range(first, last):
        ask, reply = f"msg_u{number}", f"msg_v{number}"
        changes += [
            PutMessage(user(ask), 2 * number),
            PutMessage(answer(reply, finish="stop"), 2 * number + 1),
        ]
        changes.append(PutPart(text(f"prt_{ask}", f"question {number} " * 10, ask), 0))
        changes.append(PutPart(text(f"prt_{reply}", f"answer {number} " * 50, reply), 0))
        changes.append(PutPart(tool(f"prt_t{number}", f"line {number}\n" * 100, reply, compacted=1), 1))
    return changes


async def test_c_108_opening_grows_with_the_messages_and_not_faster(opener: Opener) -> None:
    """5,000 messages within a second is the target (`tests.bench` measures it). Here: ten times the messages
    cost ten times as much, not a hundred, and a write does not notice them."""
    store = opener()
    await store.apply([*talk()[:1], *turns(0, 250)])
    small = await best(lambda: store.load(S), 3)
    part = PutPart(text("prt_1", "a streamed reply " * 120, "msg_v0"), 2)
    alone = await best(lambda: store.apply([part]), 20)
    await store.apply(turns(250, 2500))
    assert len((await store.load(S)).entries) == 5000
    assert await best(lambda: store.load(S), 3) < 30 * small
    assert await best(lambda: store.apply([part]), 20) < 5 * alone
