"""The child's side of the pipes: frames have private descriptors, noise goes to the log (`data.md` 5).

A child calls `Pipes.take()` before it imports anything that could print, and `listen` before anything that
takes long: the listening thread ends the process at the end of its input, so a child never outlives its
parent, not even in the middle of an import.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from qiming_tui.provider.frames import HEAD_BYTES, Frame, FrameError, body_bytes, pack, unpack

if sys.platform == "win32":
    import msvcrt


class Pipes:
    """The frame descriptors of a child process; `send` may be called from any thread."""

    def __init__(self, source: BinaryIO, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()

    @classmethod
    def take(cls) -> "Pipes":
        """Keep stdin and stdout for frames; point stdin at the null device and stdout at stderr (the log)."""
        source, sink = os.dup(0), os.dup(1)  # a duplicate is not inherited by grandchildren (PEP 446)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        if sys.platform == "win32":
            for descriptor in (source, sink):
                msvcrt.setmode(descriptor, os.O_BINARY)
        return cls(os.fdopen(source, "rb", buffering=65536), sink)

    def send(self, frame: Frame) -> int:
        """Write a whole frame; returns its size in bytes. Ends the process when the parent is gone."""
        data = pack(frame)
        with self._lock:
            rest = memoryview(data)
            while rest:
                try:
                    rest = rest[os.write(self._sink, rest) :]
                except BrokenPipeError:
                    os._exit(0)
        return len(data)

    def listen(self, on_frame: Callable[[Frame], None]) -> None:
        """Start the thread that reads frames and hands them over (on that thread)."""
        threading.Thread(target=self._read, args=(on_frame,), name="frames", daemon=True).start()

    def _read(self, on_frame: Callable[[Frame], None]) -> None:
        try:
            while True:
                head = self._source.read(HEAD_BYTES)
                if len(head) < HEAD_BYTES:
                    os._exit(0)
                size = body_bytes(head)
                body = self._source.read(size)
                if len(body) < size:
                    os._exit(0)
                on_frame(unpack(body))
        except FrameError as error:
            os.write(2, f"the parent sent nonsense: {error}\n".encode())
        finally:
            os._exit(1)


def lower_priority(nice: int) -> None:
    """Make the calling thread (Linux) or the process (elsewhere) nicer by `nice`; never fails."""
    if sys.platform != "win32":
        try:
            os.nice(nice)
        except OSError as error:
            os.write(2, f"nice {nice}: {error}\n".encode())
