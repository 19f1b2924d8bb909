"""The test's side of `victim.py`: start jobs, read what they say, kill them."""

import base64
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.source import ROOT

TIMEOUT_S = 30
"""A victim that says nothing for so long has failed the test."""


class Victims:
    """The process that forks victims, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.session.victim"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT, start_new_session=True)
        self._said: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)  # or a full pipe would stop a victim
        self._reader.start()

    def start(self, folder: Path, story: str, *prompts: str, **more: Any) -> Iterator[tuple[str, Any]]:
        """Begin a job; yields what the victim says, until it is gone."""
        job = {"folder": str(folder), "story": story, "prompts": prompts, **more}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        return self._lines()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(line)
        self._said.put(None)

    def _lines(self) -> Iterator[tuple[str, Any]]:
        while (line := self._said.get(timeout=TIMEOUT_S)) is not None:
            words = line.split()
            if len(words) != 3:  # cut off by the death, or the blank line before each
                continue
            kind, text, _ = words
            value = pickle.loads(base64.b64decode(text))
            if kind == b"gone":
                return
            yield kind.decode(), value

    def close(self) -> None:
        """End the process, and a victim that a failed test has left alive."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class Death:
    """What a victim says. With `kill_if` it is read to its end, and killed when that says so; otherwise line
    by line, by `until`."""

    def __init__(self, lines: Iterator[tuple[str, Any]], kill_if: Any = None) -> None:
        self.session = ""
        self.queued: dict[str, str] = {}
        self.events: list[Any] = []
        self.lost = ""
        self.pid = 0
        self._lines = enumerate(lines)
        if kill_if is not False:
            self.until(kill_if)
            self.kill()

    def until(self, seen: Any = None) -> None:
        """Read on until `seen(number, kind, value)`, or to the end."""
        for number, (kind, value) in self._lines:
            match kind:
                case "pid":
                    self.pid = value
                case "session":
                    self.session = value
                case "queued":
                    self.queued[value[0]] = value[1]
                case "event":
                    self.events.append(value)
                case "lost":
                    self.lost = value
            if seen is not None and seen(number, kind, value):
                return
        self.pid = 0

    def signal(self, number: int) -> None:
        """Send a signal to the victim."""
        assert self.pid > 0, "the victim is gone already"
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it is gone, and read what it had said."""
        if self.pid:
            with suppress(ProcessLookupError):
                self.signal(signal.SIGKILL)
            self.until()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]
