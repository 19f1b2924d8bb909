"""Frames between the program and its children: a 4-byte length, then msgpack (`data.md` 5).

One union holds the frames of all children, so that one decoder reads them all. Keys never travel in a
frame: a child has them in its environment.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.stream import Fault, Request, StreamEvent

MAX_FRAME_BYTES: Final = 256 * 1024 * 1024
"""A longer length is nonsense on the pipe, not a frame."""
HEAD_BYTES: Final = 4


class FrameError(ValueError):
    """What came over the pipe is not a frame; the pipe cannot be used any longer."""


class Hello(msgspec.Struct, frozen=True, tag_field="op", tag="hello"):
    """From a child: it is ready. `info` is the child's own: versions, a server's address, a window."""

    pid: int
    info: dict[str, JSON] = {}


class Start(msgspec.Struct, frozen=True, tag_field="op", tag="request"):
    """To the provider child: begin this request; its id names the stream."""

    request: Request


class Delta(msgspec.Struct, frozen=True, tag_field="op", tag="delta"):
    """From the provider child: events of a stream, coalesced, in order."""

    id: str
    events: tuple[StreamEvent, ...]


class End(msgspec.Struct, frozen=True, tag_field="op", tag="end"):
    """From the provider child: the answer is complete."""

    id: str
    reason: str


class Error(msgspec.Struct, frozen=True, tag_field="op", tag="error"):
    """From a child: the request failed."""

    id: str
    fault: Fault


class Cancel(msgspec.Struct, frozen=True, tag_field="op", tag="cancel"):
    """To a child: stop this request; nothing of it is wanted any more."""

    id: str


class Taken(msgspec.Struct, frozen=True, tag_field="op", tag="taken"):
    """To the provider child: so many bytes of frames of a stream have been consumed (back-pressure)."""

    id: str
    bytes: int


class Count(msgspec.Struct, frozen=True, tag_field="op", tag="count"):
    """To the counter child: count the tokens of each text."""

    id: str
    encoding: str
    texts: list[str]


class Counted(msgspec.Struct, frozen=True, tag_field="op", tag="counted"):
    """From the counter child: tokens of each text, in order."""

    id: str
    counts: list[int]


class Ping(msgspec.Struct, frozen=True, tag_field="op", tag="ping"):
    """Either way: answered with a Pong of the same id."""

    id: str


class Pong(msgspec.Struct, frozen=True, tag_field="op", tag="pong"):
    """The answer to a Ping; `info` may hold the child's own figures (memory, streams)."""

    id: str
    info: dict[str, JSON] = {}


class Quit(msgspec.Struct, frozen=True, tag_field="op", tag="quit"):
    """To a child: leave now."""


Frame = Hello | Start | Delta | End | Error | Cancel | Taken | Count | Counted | Ping | Pong | Quit

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)


def pack(frame: Frame) -> bytes:
    """The bytes of a frame on the pipe: length (big endian), then msgpack."""
    body = _ENCODER.encode(frame)
    if len(body) > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {len(body)} bytes is larger than {MAX_FRAME_BYTES}")
    return len(body).to_bytes(HEAD_BYTES, "big") + body


def body_bytes(head: bytes) -> int:
    """The length that a frame's head announces; raises FrameError when it cannot be one."""
    size = int.from_bytes(head, "big")
    if size > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {size} bytes was announced; the pipe is out of step")
    return size


def unpack(body: bytes | memoryview) -> Frame:
    """A frame from its msgpack body; raises FrameError when it is none of ours."""
    try:
        return _DECODER.decode(body)
    except msgspec.MsgspecError as error:
        raise FrameError(f"not a frame: {error}") from error


class Splitter:
    """Cuts a byte stream into frames, however it is chopped."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Frame, int]]:
        """Every frame that is complete now, with its size in bytes; raises FrameError on nonsense."""
        rest = self._rest
        rest += data
        start = 0
        try:
            while len(rest) - start >= HEAD_BYTES:
                end = start + HEAD_BYTES + body_bytes(bytes(rest[start : start + HEAD_BYTES]))
                if len(rest) < end:
                    break
                frame = unpack(bytes(rest[start + HEAD_BYTES : end]))
                size, start = end - start, end
                yield frame, size
        finally:
            del rest[:start]
