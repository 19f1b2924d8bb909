"""A process that works on a session and is killed. It imports once and forks for every job, so that thirty
deaths cost seconds: a job is a line of JSON on stdin, what happens comes as lines on stdout."""

import asyncio
import base64
import json
import os
import pickle
import signal
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

from qiming_tui.model.stream import Finish, TextDelta
from tests.session import harness
from tests.session.test_abort import LONG, Titled, stories


def gated(story: str) -> tuple[Titled, dict[str, Any]]:
    """A model that stops for ever in the middle of what the story is about."""
    never = asyncio.Event()
    if story == "stream":
        return Titled([TextDelta("half a "), TextDelta("sentence"), never]), {}
    if story == "tool":
        command = {"command": "touch begun; sleep 20", "description": "wait"}
        return Titled(harness.call("bash", command)), {}
    if story == "summary":
        model = Titled(harness.say(LONG), harness.say("two"))
        model.summaries = [[TextDelta("## Goal"), never, Finish("stop")]]
        return model, {}
    if story == "chatter":
        return Chatter(), {}
    scripts, summaries, options = stories()[story]
    model = Titled(*scripts)
    model.summaries = list(summaries)
    return model, options


class Chatter(Titled):
    """Says one word after the other until somebody stops it."""

    async def stream(self, request: Any) -> Any:
        number = 0
        while True:
            number += 1
            yield TextDelta(f"word {number} ")
            await asyncio.sleep(0.002)


class Deadly(harness.Ticks):
    """A clock that kills the process at its `last` tick; 0: never."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last = last

    def __call__(self) -> int:
        self.last -= 1
        if self.last == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__()


def say(kind: str, value: object) -> None:
    """One line for the test; written at once, since the next moment may be the last."""
    text = base64.b64encode(pickle.dumps(value)).decode()
    os.write(1, f"\n{kind} {text} .\n".encode())


async def play(job: dict[str, Any]) -> None:
    model, options = gated(job["story"])
    folder = Path(job["folder"])
    (folder / "project").mkdir(exist_ok=True)
    (folder / "project" / "a.txt").write_text("alpha\n")
    harness.Ticks = lambda: Deadly(job.get("ticks", 0))  # type: ignore[misc, assignment]
    if job.get("take"):
        harness.Runtime.open_session = partialmethod(harness.Runtime.open_session, take=True)
    seed = job.get("seed", 1)
    async with harness.session(folder, model, session_id=job.get("session"), seed=seed, **options) as rig:
        say("session", rig.live.session.id)

        def listen(event: Any) -> None:
            say("event", event)
            if type(event).__name__ == "PermissionAsked":
                asyncio.get_running_loop().call_soon(rig.worker.answer, event.request_id, "once")

        rig.worker.ctx.bus.listen(listen)
        for text in job["prompts"]:
            say("queued", (await rig.worker.submit(text), text))
        if job["story"] == "summary":
            await rig.idle()
            await rig.worker.compact()
        await rig.worker.idle()
        if rig.worker.lost:
            say("lost", rig.worker.lost)


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            say("pid", os.getpid())
            asyncio.run(play(job))
            os._exit(0)
        os.waitpid(pid, 0)
        say("gone", pid)


if __name__ == "__main__":
    main()
