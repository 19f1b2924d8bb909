"""The process that holds the encoders: it counts tokens of texts, and nothing else (`data.md` 5).

Frames in: count, cancel, ping, quit. Frames out: hello, counted, error, pong. The frame thread stays free
while the main thread encodes (the encoder lets the interpreter go), so a ping is answered in mid count.
An encoding is loaded when a text asks for it. tiktoken's own download is barred: the files come from
TIKTOKEN_CACHE_DIR or not at all (cases C-085).
"""

import os
import queue
from typing import TYPE_CHECKING, Final, NoReturn

from qiming_tui.model.stream import Fault, FaultKind
from qiming_tui.provider.frames import Cancel, Count, Counted, Error, Frame, Hello, Ping, Pong, Quit
from qiming_tui.provider.pipes import Pipes

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODINGS: Final = ("o200k_base", "cl100k_base")
PIECE_CHARS: Final = 32_768


class EncodingMissing(Exception):
    """The file of an encoding is not there or not usable."""


def count_tokens(encoder: "Encoding", text: str) -> int:
    """Exact tokens of a text, special tokens counted as plain text.

    A run of about a million blanks makes the encoder's regular expression overflow its stack; only then the
    text is counted in pieces, which can differ by a token a piece.
    """
    try:
        return len(encoder.encode_ordinary(text))
    except BaseException as fault:
        if type(fault).__name__ != "PanicException" or len(text) <= PIECE_CHARS:
            raise
    pieces = range(0, len(text), PIECE_CHARS)
    return sum(count_tokens(encoder, text[start : start + PIECE_CHARS]) for start in pieces)


def _no_download(blobpath: str) -> NoReturn:
    raise EncodingMissing(f"{blobpath.rsplit('/', 1)[-1]} is not in {os.environ.get('TIKTOKEN_CACHE_DIR')}")


class Encoders:
    """The encodings loaded so far."""

    def __init__(self) -> None:
        import tiktoken.load
        import tiktoken.registry

        tiktoken.load.read_file = _no_download
        self.version = tiktoken.__version__
        self._get = tiktoken.registry.get_encoding
        self._loaded: dict[str, Encoding] = {}

    def get(self, name: str) -> "Encoding":
        """The encoder of that name; raises EncodingMissing when its file is not there."""
        if name not in ENCODINGS:
            raise EncodingMissing(f"no encoding is called {name}")
        if name not in self._loaded:
            self._loaded[name] = self._get(name)
        return self._loaded[name]


class Service:
    """Takes frames on the frame thread, answers counts on the main thread, in order."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._jobs: queue.SimpleQueue[Count] = queue.SimpleQueue()
        self._cancelled: set[str] = set()

    def take(self, frame: Frame) -> None:
        """A frame has come (called on the frame thread)."""
        match frame:
            case Count():
                self._jobs.put(frame)
            case Cancel():
                self._cancelled.add(frame.id)
            case Ping():
                self._pipes.send(Pong(frame.id, {"waiting": self._jobs.qsize()}))
            case Quit():
                os._exit(0)
            case _:
                return

    def run(self) -> NoReturn:
        """Answer counts until the process ends."""
        encoders = Encoders()
        self._pipes.send(Hello(os.getpid(), {"tiktoken": encoders.version}))
        while True:
            job = self._jobs.get()
            if job.id in self._cancelled:
                self._cancelled.discard(job.id)
                continue
            self._pipes.send(_answer(encoders, job))


def _answer(encoders: Encoders, job: Count) -> Counted | Error:
    try:
        encoder = encoders.get(job.encoding)
        return Counted(job.id, [count_tokens(encoder, text) for text in job.texts])
    except EncodingMissing as fault:
        return Error(job.id, Fault(kind=FaultKind.INVALID, message=str(fault)))


def main() -> NoReturn:
    """Entry of the process."""
    pipes = Pipes.take()
    service = Service(pipes)
    pipes.listen(service.take)
    service.run()


if __name__ == "__main__":
    main()
