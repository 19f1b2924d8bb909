"""Several real processes on one file: nobody blocks, overwrites or loses anything."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qiming_tui.model.changes import PutPart
from qiming_tui.model.errors import SessionBusy, StoreLocked
from qiming_tui.model.parts import Failed
from qiming_tui.store.opening import check
from tests.store.child import now
from tests.store.conftest import Opener
from tests.store.values import S, talk, text

ROOT = Path(__file__).parents[2]


class Child:
    """A process that answers line by line."""

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.child", *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, order: str = "") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def rest(self) -> list[str]:
        """What it still says until it ends."""
        return self.process.communicate()[0].split()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts children, and ends them all."""
    children: list[Child] = []

    def begin(*arguments: object) -> Child:
        children.append(Child(*arguments))
        return children[-1]

    yield begin
    for child in children:
        if child.process.returncode is None:
            child.kill()


async def test_two_processes_write_500_parts_each(path: Path, opener: Opener, start: Start) -> None:
    names = ["ses_a", "ses_b"]
    children = [start("write", path, name, 500) for name in names]
    assert [child.hear() for child in children] == ["ready", "ready"]
    for child in children:
        child.tell()
    assert [len(child.rest()) for child in children] == [500, 500]
    assert [child.process.returncode for child in children] == [0, 0]
    store = opener(clock=now)
    for name in names:
        parts = (await store.load(name)).entries[0].parts
        assert [part.id for part in parts] == [f"prt_{name}_{number:04}" for number in range(500)]
    assert len(await store.search("number 499", limit=10)) == 2


async def test_four_processes_make_the_file_at_once(path: Path, start: Start) -> None:
    children = [start("look", path) for _ in range(4)]
    assert [child.rest() for child in children] == [["0"]] * 4
    assert [child.process.returncode for child in children] == [0] * 4


async def test_a_second_process_follows_and_takes_over_when_the_first_is_killed(
    path: Path, opener: Opener, start: Start
) -> None:
    store = opener(clock=now)
    first = start("hold", path, S)
    assert [first.hear(), first.hear()] == ["True", "begun"]
    version = await store.version(S)
    assert not await store.acquire(S, "second")
    holder = await store.lease(S)
    assert holder is not None
    assert holder.pid == first.process.pid
    with pytest.raises(SessionBusy, match=f"process {first.process.pid}"):
        await store.apply([PutPart(text("prt_mine", "x"), 1)])
    assert not await store.changed_since(version, S)
    first.tell("followed")
    assert first.hear() == "written"
    assert await store.changed_since(version, S)
    assert (await store.load(S)).entries[1].text == "followed"
    first.kill()
    assert await store.acquire(S, "second"), "at once, without waiting for its lease to expire"
    assert len(await store.recover(S)) == 2
    tool, more = (await store.load(S)).entries[1].parts
    assert isinstance(tool.state, Failed)
    assert more.text == "followed"
    await store.apply([PutPart(text("prt_mine", "on it goes"), 1)])


@pytest.mark.parametrize("announced", [0, 7, 60])
async def test_a_kill_loses_nothing_that_was_announced(
    path: Path, opener: Opener, start: Start, announced: int
) -> None:
    child = start("write", path, S, 5000)
    assert child.hear() == "ready"
    child.tell()
    heard = [child.hear() for _ in range(announced + 1)][-1]
    child.kill()
    assert heard == str(announced)
    store = opener(clock=now)
    store._reader.call(check)
    parts = (await store.load(S)).entries[0].parts
    assert [part.id for part in parts] == [f"prt_{S}_{number:04}" for number in range(len(parts))]
    assert len(parts) > announced
    assert len(await store.search("number", limit=9999)) == len(parts)


async def test_a_lock_held_for_3_seconds_is_waited_for(path: Path, opener: Opener, start: Start) -> None:
    store = opener(clock=now)
    other = start("lock", path, 3)
    assert other.hear() == "locked"
    began = time.monotonic()
    await store.apply(talk())
    assert 1 < time.monotonic() - began < 8
    assert (await store.load(S)).entries


async def test_a_lock_held_for_longer_is_said_and_nothing_is_lost(
    path: Path, opener: Opener, start: Start
) -> None:
    store = opener(clock=now, lock_timeout_s=0.05)
    await store.apply(talk())
    other = start("lock", path, 0)
    assert other.hear() == "locked"
    with pytest.raises(StoreLocked, match="locked by another program"):
        await store.apply([PutPart(text("prt_1", "x"), 0)])
    assert (await store.load(S)).entries[0].parts == (), "reading goes on"
    other.tell()
    other.rest()
    await store.apply([PutPart(text("prt_1", "x"), 0)])
    assert (await store.load(S)).entries[0].text == "x"
