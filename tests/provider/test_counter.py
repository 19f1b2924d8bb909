"""The counting process: exact counts, no network, survives its own death."""

import asyncio
import os
import signal
import time

import pytest

from qiming_tui.context.tokens import script_estimate
from qiming_tui.provider.counter import TokenCounter, counter_env
from qiming_tui.provider.frames import Ping, Pong

O200K = "o200k_base"
CL100K = "cl100k_base"


@pytest.fixture
async def counter(tmp_path):
    made = TokenCounter(env=dict(os.environ), log_path=tmp_path / "counter.log")
    made.start()
    yield made
    await made.close()


async def test_c_084_exact_counts_of_both_encodings(counter):
    text = "你好世界" * 25
    assert await counter.count(O200K, [text, "", "hello world"]) == [50, 0, 2]
    assert await counter.count(CL100K, [text, "hello world"]) == [125, 2]
    assert counter.problem is None


async def test_c_085_a_special_token_is_counted_as_text(counter):
    assert await counter.count(O200K, ["<|endoftext|>"]) == [7]


async def test_counts_asked_for_at_once_come_back_in_order(counter):
    texts = [("word " * n).strip() for n in range(1, 60)]
    answers = await asyncio.gather(*(counter.count(O200K, [text]) for text in texts))
    assert answers == [[n] for n in range(1, 60)]


async def test_a_text_crosses_the_pipe_once(counter):
    asked = []
    send = counter._child.send
    counter._child.send = lambda frame: (asked.extend(getattr(frame, "texts", ())), send(frame))
    assert await counter.count(O200K, ["one", "two", "one"]) == [1, 1, 1]
    assert await counter.count(O200K, ["two", "three"]) == [1, 1]
    assert asked == ["one", "two", "three"]
    assert await counter.count(CL100K, ["two"]) == [1]
    assert asked == ["one", "two", "three", "two"]


async def test_the_memo_is_bounded_and_forgetting_costs_only_time(tmp_path):
    counter = TokenCounter(env=dict(os.environ), log_path=tmp_path / "log", memo_entries=3)
    try:
        texts = [f"text {n}" for n in range(9)]
        first = await counter.count(O200K, texts)
        assert len(counter._memo) == 3
        assert await counter.count(O200K, texts) == first == [3] * 9
    finally:
        await counter.close()


async def test_a_lone_surrogate_is_counted(counter):
    assert (await counter.count(O200K, ["a\ud800b"]))[0] >= 2
    assert counter.problem is None


async def test_a_million_blanks_do_not_end_the_process(counter):
    await counter.count(O200K, ["x"])
    pid = counter.pid
    (blanks,) = await counter.count(O200K, [" " * 1_200_000])
    assert 1_000 < blanks < 100_000
    assert (counter.pid, counter.problem) == (pid, None)


async def test_a_ping_is_answered_in_the_middle_of_a_long_count(counter):
    await counter.count(O200K, ["warm"])
    pongs: asyncio.Queue = asyncio.Queue()
    received = counter._child._on_frame
    counter._child._on_frame = lambda frame, size: (
        pongs.put_nowait(frame) if isinstance(frame, Pong) else received(frame, size)
    )
    job = asyncio.create_task(counter.count(O200K, ["a" * 2_500_000]))
    await asyncio.sleep(0)
    began = time.perf_counter()
    counter._child.send(Ping("p"))
    async with asyncio.timeout(20):
        assert (await pongs.get()).id == "p"
    assert not job.done()
    assert time.perf_counter() - began < 10
    assert await job == [312_500]


async def test_a_dead_process_is_replaced_and_asked_again(counter):
    await counter.count(O200K, ["x"])
    pid = counter.pid
    job = asyncio.create_task(counter.count(O200K, ["b" * 2_000_000, "two words"]))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        counts = await job
    assert counts[1] == 2
    assert counts[0] > 100_000
    assert counter.pid != pid
    assert counter.problem is None


async def test_c_085_without_the_encoding_files_counts_are_estimated_and_flagged(tmp_path):
    env = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path / "empty")}
    counter = TokenCounter(env=env, log_path=tmp_path / "log")
    try:
        text = "def main():\n    return 1\n" * 20
        assert await counter.count(O200K, [text]) == [script_estimate(text, encoding=O200K)]
        assert "o200k_base.tiktoken is not in" in counter.problem
        assert not counter._memo
    finally:
        await counter.close()


async def test_an_unknown_encoding_is_estimated_and_flagged_until_the_next_exact_count(counter):
    await counter.count("p50k_base", ["some text"])
    assert "no encoding is called p50k_base" in counter.problem
    await counter.count(O200K, ["some text"])
    assert counter.problem is None


async def test_a_program_that_cannot_start_the_process_estimates(tmp_path):
    counter = TokenCounter(env={}, log_path=tmp_path / "log", python=str(tmp_path / "no-python"))
    async with asyncio.timeout(10):
        assert await counter.count(O200K, ["some words here"]) == [script_estimate("some words here")]
    assert "could not be started" in counter.problem
    await counter.close()


async def test_closing_ends_the_process_and_those_who_wait(tmp_path):
    counter = TokenCounter(env=dict(os.environ), log_path=tmp_path / "log")
    await counter.count(O200K, ["x"])
    pid = counter.pid
    job = asyncio.create_task(counter.count(O200K, ["c" * 2_000_000]))
    await asyncio.sleep(0)
    await counter.close()
    assert len(await job) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert await counter.count(O200K, ["later"]) == [script_estimate("later")]


async def test_a_cancelled_count_is_skipped_and_the_next_one_is_answered(counter):
    await counter.count(O200K, ["x"])
    first = asyncio.create_task(counter.count(O200K, ["d" * 1_000_000]))
    second = asyncio.create_task(counter.count(O200K, ["e" * 1_000_000]))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await counter.count(O200K, ["three more words"]) == [3]
    assert await first
    assert not counter._batches


def test_the_process_is_given_no_keys_and_the_encodings_that_litellm_ships():
    env = counter_env({"OPENAI_API_KEY": "secret", "PATH": "/bin"})
    assert set(env) == {"PATH", "TIKTOKEN_CACHE_DIR"}
    assert env["TIKTOKEN_CACHE_DIR"].endswith("litellm_core_utils/tokenizers")
    assert counter_env({"TIKTOKEN_CACHE_DIR": "/mine"})["TIKTOKEN_CACHE_DIR"] == "/mine"
