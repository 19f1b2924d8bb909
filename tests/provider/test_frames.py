"""Frames survive any chopping; nonsense is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import (
    Fault,
    FaultKind,
    ReasoningDelta,
    Request,
    RequestKind,
    TextDelta,
    ToolCallEnd,
)
from qiming_tui.provider.frames import (
    Cancel,
    Count,
    Counted,
    Delta,
    End,
    Error,
    Frame,
    FrameError,
    Hello,
    Splitter,
    Start,
    pack,
    unpack,
)

REQUEST = Request(
    id="r1",
    kind=RequestKind.TURN,
    model=ModelRef("openai", "gpt"),
    body={"messages": [{"role": "user", "content": "hé 你"}], "n": None, "t": 0.5},
)
FRAMES: list[Frame] = [
    Hello(1, {"litellm": "1"}),
    Start(REQUEST),
    Delta("r1", (TextDelta("a"), ReasoningDelta("b", 1, "sig"), ToolCallEnd(0, "c", "n", "{}"))),
    End("r1", "stop"),
    Error("r1", Fault(kind=FaultKind.CHILD, message="m", retryable=True)),
    Cancel("r1"),
    Count("1", "o200k_base", ["a", ""]),
    Counted("1", [1, 0]),
]


@given(st.integers(1, 97))
def test_frames_survive_any_chopping(size):
    data = b"".join(pack(frame) for frame in FRAMES)
    splitter, got, sizes = Splitter(), [], 0
    for start in range(0, len(data), size):
        for frame, frame_bytes in splitter.feed(data[start : start + size]):
            got.append(frame)
            sizes += frame_bytes
    assert got == FRAMES
    assert sizes == len(data)


def test_nonsense_is_noticed():
    with pytest.raises(FrameError, match="out of step"):
        list(Splitter().feed(b"\xff\xff\xff\xff"))
    with pytest.raises(FrameError, match="not a frame"):
        list(Splitter().feed(b"\x00\x00\x00\x01\xc0"))
    with pytest.raises(FrameError):
        unpack(b"\x81\xa2op\xa5other")
