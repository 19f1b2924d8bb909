"""The test's side of `victim.py`: start jobs, read what they say, kill them."""

import base64
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.source import ROOT


class Victims:
    """The process that forks victims, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.session.victim"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT)

    def start(self, folder: Path, story: str, *prompts: str, **more: Any) -> Iterator[tuple[str, Any]]:
        """Begin a job; yields what the victim says, until it is gone."""
        job = {"folder": str(folder), "story": story, "prompts": prompts, **more}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        return self._lines()

    def _lines(self) -> Iterator[tuple[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            words = line.split()
            if len(words) != 3:  # cut off by the death, or the blank line before each
                continue
            kind, text, _ = words
            value = pickle.loads(base64.b64decode(text))
            if kind == b"gone":
                return
            yield kind.decode(), value

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Death:
    """What a victim had said when it was gone."""

    def __init__(self, lines: Iterator[tuple[str, Any]], kill_if: Any = None) -> None:
        self.session = ""
        self.queued: dict[str, str] = {}
        self.events: list[Any] = []
        pid = 0
        for number, (kind, value) in enumerate(lines):
            match kind:
                case "pid":
                    pid = value
                case "session":
                    self.session = value
                case "queued":
                    self.queued[value[0]] = value[1]
                case "event":
                    self.events.append(value)
            if kill_if is not None and pid and kill_if(number, kind, value):
                kill_if = None
                os.kill(pid, signal.SIGKILL)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]
