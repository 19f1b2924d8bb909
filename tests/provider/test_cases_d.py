"""Cases of part D that are the provider's: what a stream says of usage, and what an import may not do."""

import inspect
import subprocess
import sys

import pytest

from qiming_tui.model.stream import UsageReport
from qiming_tui.model.usage import Usage
from qiming_tui.provider import child
from tests.loopback.formats import openai
from tests.loopback.server import Loopback, Reply
from tests.provider.conftest import collect, request

LOOP = pytest.mark.asyncio(loop_scope="session")
WAYS = pytest.mark.parametrize("tap", [True, False], ids=["tap", "acompletion"])


def usages(events: list) -> list[Usage]:
    return [event.usage for event in events if isinstance(event, UsageReport)]


@LOOP
@WAYS
async def test_c_073_usage_is_asked_for_and_taken_from_a_last_chunk_without_choices(gateway, tap):
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    cached = {**usage, "prompt_tokens_details": {"cached_tokens": 60}}
    for sent, expected in (
        (usage, Usage(input=100, output=7, total=107)),
        (cached, Usage(input=40, output=7, cache_read=60, total=107)),
    ):
        with Loopback(Reply(chunks=openai({"content": "hi"}, usage=sent))) as server:
            events = await collect(gateway, request(server, "openai", tap=tap))
            assert server.requests[0].json["stream_options"] == {"include_usage": True}
        assert usages(events)[-1] == expected


@LOOP
@WAYS
async def test_c_076_usage_that_was_not_sent_is_not_invented(gateway, tap):
    with Loopback(Reply(chunks=openai({"content": "Hello"}))) as server:
        events = await collect(gateway, request(server, "openai", tap=tap))
    assert usages(events) == []


NO_NETWORK = """
import os, sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        print(event, arguments[-1], file=sys.stderr)
        os._exit(9)
sys.addaudithook(watch)
from qiming_tui.provider import child
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from qiming_tui.provider import child_upstream
print("imported")
"""


def test_c_086_importing_litellm_as_the_child_does_reaches_for_no_network():
    source = inspect.getsource(child.main)
    assert 'os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"' in source
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK], capture_output=True, text=True, timeout=180, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "imported"), done.stderr
