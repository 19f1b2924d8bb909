"""A demo's pace: its speed, its pauses, its steps."""

import asyncio

import pytest

from qiming_tui.demo.pace import Pace


def recorded(speed):
    waits: list[float] = []

    async def sleep(seconds):
        waits.append(seconds)
        await asyncio.sleep(0)

    return Pace(speed=speed, sleep=sleep), waits


@pytest.mark.parametrize(("speed", "wait"), [(1, 3.0), (4, 0.75), (0, 0)])
async def test_a_wait_is_divided_by_the_speed(speed, wait):
    pace, waits = recorded(speed)
    await pace.sleep(3.0)
    assert waits == [wait]


async def running(job):
    """Let it go as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)
    return not job.done()


async def test_a_pause_holds_every_wait_and_every_begin():
    pace, waits = recorded(0)
    told: list[bool] = []
    pace.changed = lambda: told.append(pace.paused)
    pace.toggle()
    wait, begin = asyncio.ensure_future(pace.sleep(1)), asyncio.ensure_future(pace.begin())
    assert await running(wait)
    assert await running(begin)
    assert waits == []
    pace.toggle()
    await asyncio.gather(wait, begin)
    assert told == [True, False]


async def test_a_step_goes_on_to_the_next_request_and_stands_still_there():
    pace, _ = recorded(0)
    pace.step()
    assert pace.paused
    pace.step()
    assert not pace.paused
    await pace.sleep(1)
    begin = asyncio.ensure_future(pace.begin())
    assert await running(begin)
    assert pace.paused
    pace.step()
    await begin
    pace.toggle()
    pace.toggle()
    await pace.begin()
