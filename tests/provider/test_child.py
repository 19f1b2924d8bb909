"""The provider child as a process: cancels, streams at once, back-pressure, noise, deaths of both sides."""

import asyncio
import os
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest
import pytest_asyncio

from qiming_tui.model.stream import Failure, FaultKind, Finish, TextDelta, WireReport
from qiming_tui.provider.litellm_gateway import LitellmGateway
from qiming_tui.provider.outlet import FLIGHT_BYTES, STREAM_BYTES
from tests.loopback.formats import DONE, chunk, openai, sse
from tests.loopback.server import HOLD, Loopback, Reply
from tests.provider.conftest import KEY, clean_env, collect, merge, request

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).parents[2]
CANCEL_S = 0.25
FLOOD = sse(chunk({"content": "x" * 2000})) * 20_000


def held(text):
    """An answer that stops in the middle, until it is released."""
    return Reply(
        chunks=[
            *sse(chunk({"content": text})),
            HOLD,
            *sse(chunk({"content": "!"}), chunk({}, finish="stop")),
            DONE,
        ]
    )


async def wait(event, seconds=30):
    """Wait for an event of a server's thread."""
    assert await asyncio.to_thread(event.wait, seconds)


async def until_text(stream):
    """Read up to the first text."""
    async with asyncio.timeout(30):
        async for event in stream:
            if isinstance(event, TextDelta):
                return event.text
            assert isinstance(event, WireReport)
    raise AssertionError("no text came")


@pytest.mark.parametrize("tap", [True, False], ids=["tap", "acompletion"])
@pytest.mark.parametrize("moment", ["first byte", "silence", "flood"])
async def test_a_cancel_closes_the_connection_at_once(gateway, tap, moment):
    reply = {"first byte": Reply(hold=True, chunks=[]), "silence": held("so far")}.get(
        moment, Reply(chunks=FLOOD)
    )
    with Loopback(reply) as server:
        stream = gateway.stream(request(server, "openai", tap=tap))
        if moment == "first byte":
            reading = asyncio.ensure_future(anext(stream))
            async with asyncio.timeout(30):
                while not server.requests:
                    await gateway.figures()
            await wait(server.requests[0].holding)
            asked = time.monotonic()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        else:
            await until_text(stream)
            asked = time.monotonic()
            await stream.aclose()
        assert time.monotonic() - asked < 0.05  # this side does not wait for the other
        await wait(server.requests[0].closed, 5)
        assert server.requests[0].closed_at - asked < CANCEL_S
        async with asyncio.timeout(5):
            while (await gateway.figures())["streams"]:
                pass
        assert (await gateway.figures())["flying"] == 0


async def test_two_streams_at_once_one_cancelled(gateway):
    with Loopback(held("one"), held("two")) as server:
        first = gateway.stream(request(server, "openai"))
        assert await until_text(first) == "one"
        second = gateway.stream(request(server, "openai"))
        assert await until_text(second) == "two"
        await first.aclose()
        await wait(server.requests[0].closed)
        server.requests[1].release.set()
        rest = [event async for event in second]
    assert merge(rest) == [TextDelta("!"), Finish("stop")]


async def test_many_streams_at_once_do_not_mix(gateway):
    def answer(received):
        word = received.json["messages"][0]["content"]
        return Reply(chunks=openai(*({"content": word} for _ in range(200))))

    with Loopback(answer=answer) as server:
        asked = [
            collect(gateway, request(server, "openai", messages=[{"role": "user", "content": f"w{number} "}]))
            for number in range(8)
        ]
        for number, events in enumerate(await asyncio.gather(*asked)):
            assert events == [TextDelta(f"w{number} " * 200), Finish("stop")]


async def test_a_screen_that_does_not_read_stops_its_own_stream_only(gateway):
    """Back-pressure: 40 MB wait at the server, not in our pipes; another stream goes on meanwhile."""
    flood = [*FLOOD, *sse(chunk({}, finish="stop")), DONE]
    with Loopback(Reply(chunks=flood), Reply(chunks=openai({"content": "quick"}))) as server:
        slow = gateway.stream(request(server, "openai"))
        got = len(await until_text(slow))
        async with asyncio.timeout(30):
            while (await gateway.figures())["flying"] < STREAM_BYTES:
                pass
        assert await collect(gateway, request(server, "openai")) == [TextDelta("quick"), Finish("stop")]
        assert (await gateway.figures())["flying"] < STREAM_BYTES + 1_000_000
        async with asyncio.timeout(60):
            async for event in slow:
                got += len(event.text) if isinstance(event, TextDelta) else 0
    assert got == 20_000 * 2000
    figures = await gateway.figures()
    assert figures["flying"] == 0
    assert figures["peak"] <= FLIGHT_BYTES


async def test_a_flood_of_small_deltas_arrives_in_few_events(gateway):
    words = [{"content": "word "} for _ in range(5000)]
    with Loopback(Reply(chunks=[b"".join(openai(*words))])) as server:
        async with asyncio.timeout(30):
            events = [event async for event in gateway.stream(request(server, "openai"))]
    assert merge(events)[1:] == [TextDelta("word " * 5000), Finish("stop")]
    assert len(events) < 500


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def noisy(tmp_path_factory):
    """A gateway whose child is talked over all the time; and its log."""
    log = tmp_path_factory.mktemp("noisy") / "child.log"
    noise = {"QIMING_TEST_NOISE": "1", "PYTHONPATH": str(Path(__file__).parent / "noisy")}
    made = LitellmGateway(env={**clean_env(), **noise}, log_path=log)
    made.start()
    yield made, log
    await made.close()


async def test_a_request_before_the_child_is_ready_waits_and_noise_does_no_harm(noisy):
    gateway, log = noisy
    words = [{"content": f"{number} "} for number in range(3000)]
    with Loopback(Reply(chunks=openai(*words))) as server:
        async with asyncio.timeout(120):
            events = merge([event async for event in gateway.stream(request(server, "openai"))])
    assert events[1:] == [TextDelta("".join(word["content"] for word in words)), Finish("stop")]
    noise = log.read_text()
    for source in ("print", "write", "grandchild"):
        assert f"noise of a {source}" in noise
    assert KEY not in noise
    assert re.search(r"noise of a print +\*\*\*", noise)


async def test_a_child_killed_in_mid_stream_is_a_fault_and_starts_again(noisy):
    gateway, _ = noisy
    with Loopback(held("so far"), Reply(chunks=openai({"content": "again"}))) as server:
        stream = gateway.stream(request(server, "openai"))
        assert await until_text(stream) == "so far"
        first = gateway.pid
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(5):
            (failure,) = [event async for event in stream]
        assert isinstance(failure, Failure)
        assert (failure.fault.kind, failure.fault.retryable) == (FaultKind.CHILD, True)
        assert "code -9" in failure.fault.message
        async with asyncio.timeout(120):
            again = merge([event async for event in gateway.stream(request(server, "openai"))])
        assert again[1:] == [TextDelta("again"), Finish("stop")]
        assert gateway.pid != first


async def gone(pid):
    """Wait until a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool((await asyncio.to_thread(select.select, [descriptor], [], [], 10))[0])
    finally:
        os.close(descriptor)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd (Linux)")
@pytest.mark.parametrize("moment", ["importing", "streaming"])
async def test_no_child_is_left_when_the_parent_is_killed(tmp_path, moment):
    with Loopback(held("so far")) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.provider.orphan",
            str(tmp_path / "log"),
            server.url if moment == "streaming" else "-",
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        assert process.stdout is not None
        async with asyncio.timeout(120):
            child = int(await process.stdout.readline())
            if moment == "streaming":
                assert await process.stdout.readline() == b"event\n"
        process.kill()
        assert await gone(child)
        await process.wait()
        if moment == "streaming":
            await wait(server.requests[0].closed, 5)


async def test_a_gateway_without_a_child_says_so(tmp_path):
    made = LitellmGateway(env=clean_env(), log_path=tmp_path / "log", python=str(tmp_path / "nowhere"))
    with Loopback(Reply(chunks=openai({"content": "x"}))) as server:
        events = await collect(made, request(server, "openai"))
        await made.close()
        (closed,) = await collect(made, request(server, "openai"))
        assert server.requests == []
    assert [event.fault.kind for event in (*events, closed)] == [FaultKind.CHILD, FaultKind.CHILD]
    assert "No such file" in events[0].fault.message
    assert [event.fault.retryable for event in (*events, closed)] == [False, False]
