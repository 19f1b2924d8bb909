"""The parent's side of a child: ready, noise, death, restart, giving up, close."""

import asyncio
import os
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from qiming_tui.model.errors import GatewayError
from qiming_tui.provider.frames import Count, Counted, Ping, Pong
from qiming_tui.provider.process import ChildProcess, ChildSpec, Stage

ROOT = Path(__file__).parents[2]


class Seen:
    """What a child said, waited for with a timeout."""

    def __init__(self):
        self.frames: asyncio.Queue = asyncio.Queue()
        self.deaths: asyncio.Queue = asyncio.Queue()

    async def frame(self):
        async with asyncio.timeout(10):
            return await self.frames.get()

    async def death(self):
        async with asyncio.timeout(10):
            return await self.deaths.get()


@asynccontextmanager
async def child(tmp_path, *args, restart=True, **env):
    seen = Seen()
    spec = ChildSpec(
        module="tests.provider.echo_child",
        env={"PATH": os.environ["PATH"], **env},
        log_path=tmp_path / "logs" / "child.log",
        args=args,
        restart=restart,
    )
    process = ChildProcess(
        spec, on_frame=lambda frame, size: seen.frames.put_nowait(frame), on_death=seen.deaths.put_nowait
    )
    try:
        yield process, seen
    finally:
        await process.close()
        assert process.stage is Stage.CLOSED


async def test_ready_frames_and_noise_apart(tmp_path, monkeypatch):
    (tmp_path / "msgspec.py").write_text("raise SystemExit(9)")  # a project's own file is never imported
    monkeypatch.chdir(tmp_path)
    async with child(tmp_path, "one", "two", SECRET="s") as (process, seen):
        process.start()
        process.send(Count("1", "o200k_base", ["abc", ""]))  # kept until the child runs
        hello = await process.ready(10)
        assert hello.info == {"args": ["one", "two"], "secret": "s"}
        assert hello.pid == process.pid
        assert await seen.frame() == Counted("1", [3, 0])
        process.send(Ping("a"))
        assert await seen.frame() == Pong("a", {"stdin": "", "cwd": False})
    log = tmp_path / "logs" / "child.log"
    assert log.read_text().count("noise on stdout") >= 2
    assert "noise of a grandchild" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


async def test_a_dead_child_is_reported_and_started_again(tmp_path):
    async with child(tmp_path) as (process, seen):
        first = (await process.ready(10)).pid
        process.send(Ping("die"))
        assert "ended with code 7" in await seen.death()
        process.send(Ping("again"))  # while it starts again
        assert (await process.ready(10)).pid != first
        assert isinstance(await seen.frame(), Pong)


async def test_nonsense_on_the_pipe_ends_that_run_only(tmp_path):
    async with child(tmp_path) as (process, seen):
        await process.ready(10)
        process.send(Ping("nonsense"))
        assert "ended with code -9" in await seen.death()
        await process.ready(10)
        process.send(Ping("b"))
        assert isinstance(await seen.frame(), Pong)


async def test_a_child_that_never_starts_is_given_up(tmp_path):
    async with child(tmp_path, "die-early") as (process, seen):
        with pytest.raises(GatewayError, match="could not be started") as caught:
            await process.ready(20)
        assert "child.log" in caught.value.hint
        assert process.stage is Stage.BROKEN
        assert "code 3" in await seen.death()
        with pytest.raises(GatewayError, match="does not run"):
            process.send(Ping("x"))


async def test_without_restart_a_death_is_final(tmp_path):
    async with child(tmp_path, restart=False) as (process, seen):
        await process.ready(10)
        process.send(Ping("die"))
        await seen.death()
        assert process.stage is Stage.BROKEN
        await process.ready(10)  # asked for again
        process.send(Ping("c"))
        assert isinstance(await seen.frame(), Pong)


async def test_a_missing_interpreter_is_said(tmp_path):
    deaths = []
    spec = ChildSpec(module="x", env={}, log_path=tmp_path / "log", python=str(tmp_path / "nowhere"))
    process = ChildProcess(spec, on_frame=lambda frame, size: None, on_death=deaths.append)
    with pytest.raises(GatewayError, match="could not be started"):
        await process.ready(5)
    assert "No such file" in deaths[0]
    await process.close()


async def test_a_long_log_is_put_aside(tmp_path):
    log = tmp_path / "logs" / "child.log"
    log.parent.mkdir()
    log.write_bytes(b"x" * (5 * 1024 * 1024 + 1))
    async with child(tmp_path) as (process, _):
        await process.ready(10)
    assert log.with_name("child.log.1").stat().st_size > 5_000_000
    assert log.stat().st_size < 1000
