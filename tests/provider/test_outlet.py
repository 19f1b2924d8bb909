"""Gathering by the clock and by the timer; back-pressure per stream and for all."""

import asyncio

import pytest

from qiming_tui.model.stream import ReasoningDelta, TextDelta, ToolCallDelta, ToolCallStart
from qiming_tui.provider.frames import pack
from qiming_tui.provider.outlet import FLIGHT_BYTES, GATHER_CHARS, STREAM_BYTES, Harbour, Outlet


class Rig:
    """An outlet with a clock that stands still until it is moved."""

    def __init__(self, name="s", harbour=None):
        self.now = 100.0
        self.sent = []
        self.came = asyncio.Event()
        self.harbour = harbour or Harbour()
        self.outlet = Outlet(name, send=self.send, harbour=self.harbour, clock=lambda: self.now)

    def send(self, frame):
        self.sent.append(frame.events)
        self.came.set()
        return len(pack(frame))


async def test_the_first_event_leaves_at_once_the_next_with_the_clock():
    rig = Rig()
    rig.outlet.put(TextDelta("a"))
    assert rig.sent == [(TextDelta("a"),)]
    rig.outlet.put(TextDelta("b"))
    rig.now += 0.029
    rig.outlet.put(TextDelta("c"))
    assert len(rig.sent) == 1
    rig.now += 0.002
    rig.outlet.put(TextDelta("d"))
    assert rig.sent[1:] == [(TextDelta("bcd"),)]
    rig.outlet.close()


async def test_what_nothing_follows_leaves_with_the_timer():
    rig = Rig()
    rig.outlet.put(TextDelta("a"))
    rig.came.clear()
    rig.outlet.put(TextDelta("b"))
    async with asyncio.timeout(5):
        await rig.came.wait()
    assert rig.sent[1:] == [(TextDelta("b"),)]


async def test_only_what_belongs_together_is_joined():
    rig = Rig()
    rig.outlet.put(TextDelta("-"))
    events = [
        ReasoningDelta("a", 0),
        ReasoningDelta("b", 0),
        ReasoningDelta("c", 1),
        ReasoningDelta("", 1, signature="S"),
        ReasoningDelta("d", 1),
        TextDelta("e"),
        TextDelta("f"),
        ToolCallStart(0, "c", "n"),
        ToolCallDelta(0, "g"),
        ToolCallDelta(1, "h"),
        ToolCallDelta(1, "i"),
        TextDelta("j"),
    ]
    for event in events:
        rig.outlet.put(event)
    rig.outlet.flush()
    assert rig.sent[1] == (
        ReasoningDelta("ab", 0),
        ReasoningDelta("c", 1),
        ReasoningDelta("", 1, signature="S"),
        ReasoningDelta("d", 1),
        TextDelta("ef"),
        ToolCallStart(0, "c", "n"),
        ToolCallDelta(0, "g"),
        ToolCallDelta(1, "hi"),
        TextDelta("j"),
    )
    rig.outlet.flush()
    assert len(rig.sent) == 2


async def test_a_flood_within_one_tick_leaves_in_frames_of_bounded_size():
    rig = Rig()
    for _ in range(40):
        rig.outlet.put(TextDelta("x" * 100_000))
    rig.outlet.flush()
    assert sum(len(event.text) for events in rig.sent for event in events) == 4_000_000
    assert max(len(event.text) for events in rig.sent for event in events) <= GATHER_CHARS + 100_000


async def test_a_full_stream_waits_until_the_screen_takes_something():
    rig = Rig()
    rig.outlet.put(TextDelta("x" * STREAM_BYTES))
    assert rig.outlet.full
    waiting = asyncio.ensure_future(rig.outlet.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    rig.outlet.taken(1000)
    async with asyncio.timeout(5):
        await waiting
    assert not rig.outlet.full


async def test_all_streams_together_are_bounded_and_closing_frees_them():
    harbour = Harbour()
    rigs = [Rig(str(number), harbour) for number in range(5)]
    for rig in rigs[:4]:
        rig.outlet.put(TextDelta("x" * (STREAM_BYTES + 10)))
    assert harbour.flying > FLIGHT_BYTES
    assert rigs[4].outlet.full  # it has nothing in flight itself
    for rig in rigs[:4]:
        rig.outlet.close()
    assert harbour.flying == 0
    assert not rigs[4].outlet.full


@pytest.mark.parametrize("count", [10**9, 0])
async def test_nobody_can_take_more_than_there_is(count):
    rig = Rig()
    rig.outlet.put(TextDelta("abc"))
    rig.outlet.taken(count)
    assert rig.harbour.flying >= 0
