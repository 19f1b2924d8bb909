"""The scripted gateway: it counts, caches, refuses and fails like a provider."""

import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.tokens import Tally
from qiming_tui.context.weigh import recount
from qiming_tui.model.codec import canonical, digest
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.stream import (
    Failure,
    Fault,
    FaultKind,
    Finish,
    ReasoningDelta,
    Request,
    RequestKind,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
    WireReport,
)
from qiming_tui.model.usage import Usage
from qiming_tui.provider.counter import TokenCounter
from qiming_tui.provider.scenario import Call, Pace, Reply, Scenario, Turn
from qiming_tui.provider.scripted import _PIECES, NOTHING_MORE, ScriptedGateway

TOOLS = [{"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": {}}}]
SYSTEM = {"role": "system", "content": "You are a careful engineer. " * 20}


class OneTokenAWord:
    """A counter whose numbers a reader can check by eye."""

    async def count(self, encoding, texts):
        assert encoding == "o200k_base"
        return [len(text.split()) for text in texts]

    async def close(self):
        return


def request(*messages, kind=RequestKind.TURN, tools=TOOLS, **more):
    body = {"model": "scripted/t", "messages": [SYSTEM, *messages], "tools": tools, **more}
    return Request(id="req_1", kind=kind, model=ModelRef("scripted", "t"), body=body)


def user(text):
    return {"role": "user", "content": text}


def gateway(*replies, counter=None, **more):
    turns = more.pop("turns", (Turn(replies=replies),))
    wait = {key: more.pop(key) for key in ("sleep", "speed") if key in more}
    scenario = Scenario(name="t", turns=turns, **more)
    return ScriptedGateway(scenario, counter=counter or OneTokenAWord(), **{"speed": 0, **wait})


async def collect(gateway, request):
    return [event async for event in gateway.stream(request)]


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def usage_of(events):
    return next(event.usage for event in events if isinstance(event, UsageReport))


async def test_an_answer_with_text_reasoning_and_calls_streams_in_order_and_ends_once():
    reply = Reply(
        text="Reading it now.",
        reasoning="I need the file.",
        calls=(Call("read", {"path": "a.py"}), Call("list")),
    )
    events = await collect(gateway(reply), request(user("go")))
    kinds = [type(event) for event in events]
    assert kinds[0] is WireReport
    assert kinds[-2:] == [UsageReport, Finish]
    assert kinds.count(Finish) == 1
    assert kinds.index(ReasoningDelta) < kinds.index(TextDelta) < kinds.index(ToolCallStart)
    assert events[-1].reason == "tool-calls"
    assert text_of(events) == "Reading it now."
    ends = [event for event in events if isinstance(event, ToolCallEnd)]
    assert [(end.slot, end.name, end.arguments) for end in ends] == [
        (0, "read", '{"path":"a.py"}'),
        (1, "list", "{}"),
    ]
    assert len({end.call_id for end in ends}) == 2
    pieces = [event for event in events if isinstance(event, ToolCallDelta) and event.slot == 0]
    assert "".join(piece.arguments for piece in pieces) == ends[0].arguments


@given(st.text(max_size=60))
def test_the_pieces_of_a_text_are_the_text(text):
    assert "".join(_PIECES.findall(text)) == text


async def test_usage_is_counted_from_the_request_that_came():
    body = request(user("one two three"))
    tally = Tally("o200k_base")
    recount(body.body, tally)
    texts = list(tally.missing.values())
    tally.learn(texts, await OneTokenAWord().count("o200k_base", texts))
    played = gateway(Reply(text="four five", reasoning="six", calls=(Call("read", {}),)))
    usage = usage_of(await collect(played, body))
    assert usage.input == recount(body.body, tally)
    assert (usage.output, usage.reasoning) == (2 + 6 + 2, 1)
    assert usage.total == usage.parts_sum


async def test_a_longer_request_costs_what_was_added_and_the_beginning_is_read_from_the_cache():
    played = gateway(Reply(text="a"), Reply(text="b"), Reply(text="c"))
    first = usage_of(await collect(played, request(user("one two three"))))
    assert first.cache_read == 0
    more = [user("one two three"), {"role": "assistant", "content": "a"}, user("next")]
    second = usage_of(await collect(played, request(*more)))
    assert second.cache_read == first.prompt
    assert second.input == (4 + 1) + (4 + 1)
    changed = usage_of(await collect(played, request(user("another beginning"), *more[1:])))
    assert 0 < changed.cache_read < first.prompt


async def test_other_tools_or_another_system_prompt_leave_no_cache():
    played = gateway(Reply(text="a"), Reply(text="b"))
    await collect(played, request(user("one")))
    other = [{"type": "function", "function": {"name": "bash", "description": "", "parameters": {}}}]
    usage = usage_of(await collect(played, request(user("one"), tools=other)))
    assert usage.cache_read == 0


async def test_a_request_above_the_window_is_refused_with_the_numbers_and_takes_no_reply():
    played = gateway(Reply(text="fits"), limits=Limits(200, None, 50))
    events = await collect(played, request(user("word " * 300)))
    fault = events[-1].fault
    assert isinstance(events[-1], Failure)
    assert fault.kind is FaultKind.OVERFLOW
    assert (fault.limit, fault.tokens > 200, fault.retryable) == (200, True, False)
    assert not any(isinstance(event, (TextDelta, UsageReport, Finish)) for event in events)
    assert text_of(await collect(played, request(user("short")))) == "fits"


async def test_the_provider_may_take_less_than_the_catalogue_says():
    events = await collect(gateway(Reply(text="x"), refuses_above=10), request(user("hello")))
    assert events[-1].fault.limit == 10


async def test_a_provider_may_refuse_everything_from_some_request_on_but_still_summarise():
    played = gateway(Reply(text="a"), Reply(text="b"), summaries=(Reply(text="s"),), refuses_after=1)
    assert text_of(await collect(played, request(user("one")))) == "a"
    for _ in range(3):
        fault = (await collect(played, request(user("two"))))[-1].fault
        assert (fault.kind, fault.tokens, fault.limit) == (FaultKind.OVERFLOW, None, None)
    assert text_of(await collect(played, request(user("x"), kind=RequestKind.SUMMARY))) == "s"


async def test_an_input_limit_is_the_window():
    played = gateway(Reply(text="x"), limits=Limits(100_000, 50, 10))
    assert (await collect(played, request(user("hello"))))[-1].fault.limit == 50


async def test_a_providers_error_of_counting_is_in_all_its_numbers():
    true = usage_of(await collect(gateway(Reply(text="a b c d")), request(user("one two"))))
    off = usage_of(
        await collect(gateway(Reply(text="a b c d"), counting_error=1.5), request(user("one two")))
    )
    assert off.prompt == int(true.prompt * 1.5 + 0.5)
    assert (true.output, off.output) == (4, 6)


async def test_a_fault_breaks_off_where_the_script_says_and_the_next_try_gets_the_next_reply():
    fault = Fault(
        kind=FaultKind.RATE_LIMIT, message="slow down", status=429, retryable=True, retry_after_ms=700
    )
    played = gateway(
        Reply(fault=fault), Reply(text="half of it is", fault=fault, fault_after=2), Reply(text="ok")
    )
    first = await collect(played, request(user("go")))
    assert [type(event) for event in first] == [WireReport, Failure]
    assert first[-1].fault == fault
    second = await collect(played, request(user("go")))
    assert text_of(second) == "half of"
    assert isinstance(second[-1], Failure)
    assert text_of(await collect(played, request(user("go")))) == "ok"


async def test_usage_can_be_missing():
    events = await collect(gateway(Reply(text="x", usage=False)), request(user("go")))
    assert not any(isinstance(event, UsageReport) for event in events)


async def test_replies_follow_the_prompts_and_are_never_given_to_another_turn():
    turns = (
        Turn(prompt="first", replies=(Reply(text="1a"), Reply(text="1b"))),
        Turn(prompt="second", replies=(Reply(text="2a"),)),
        Turn(prompt="third", replies=(Reply(text="3a"),)),
    )
    played = gateway(turns=turns)

    async def say(*texts):
        return text_of(await collect(played, request(*map(user, texts))))

    assert await say("first") == "1a"
    assert await say("first", "second") == "2a"
    assert await say("second", "Continue if you have next steps") == NOTHING_MORE.text
    assert await say("the summary", "third") == "3a"
    blocks = {"role": "user", "content": [{"type": "text", "text": "third"}]}
    assert text_of(await collect(played, request(blocks))) == NOTHING_MORE.text


async def test_summaries_and_titles_have_their_own_answers():
    played = gateway(
        Reply(text="turn"), summaries=(Reply(text=""), Reply(text="good summary")), title="A title"
    )

    async def say(kind):
        events = await collect(played, request(user("go"), kind=kind))
        assert usage_of(events).prompt > 0
        return text_of(events)

    assert await say(RequestKind.TITLE) == "A title"
    assert [await say(RequestKind.SUMMARY) for _ in range(3)] == ["", "good summary", "good summary"]
    assert await say(RequestKind.TURN) == "turn"


async def test_every_request_is_logged_byte_for_byte_refused_ones_too():
    played = gateway(Reply(text="x"), limits=Limits(200, None, 50))
    bodies = [request(user("ok")), request(user("word " * 300)), request(user("t"), kind=RequestKind.TITLE)]
    wires = [(await collect(played, one))[0] for one in bodies]
    assert [entry.body for entry in played.log] == [canonical(one.body) for one in bodies]
    assert [entry.hash for entry in played.log] == [wire.sha256 for wire in wires]
    assert [entry.hash for entry in played.log] == [digest(canonical(one.body)) for one in bodies]
    assert [entry.refused for entry in played.log] == [False, True, False]
    assert [entry.kind for entry in played.log][-1] is RequestKind.TITLE


async def test_the_pace_is_kept_and_divided_by_the_speed():
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    reply = Reply(text="one two three")
    pace = Pace(first_ms=400, piece_ms=20)
    await collect(gateway(reply, pace=pace, sleep=sleep, speed=2), request(user("go")))
    assert waits == [0.2, 0.01, 0.01]
    waits.clear()
    await collect(gateway(reply, pace=pace, sleep=sleep, speed=0), request(user("go")))
    assert waits == []


async def test_closing_the_stream_stops_it_at_once():
    started = asyncio.Event()

    async def sleep(seconds):
        started.set()
        await asyncio.Event().wait()

    played = gateway(Reply(text="x"), sleep=sleep, speed=1)
    task = asyncio.create_task(collect(played, request(user("go"))))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stream = played.stream(request(user("go")))
    await anext(stream)
    await stream.aclose()


async def test_the_same_scenario_gives_the_same_events():
    def play():
        return gateway(Reply(text="one two", calls=(Call("read", {"path": "x"}),)))

    assert await collect(play(), request(user("go"))) == await collect(play(), request(user("go")))


async def test_with_the_real_counter_chinese_is_counted_as_it_is(tmp_path):
    counter = TokenCounter(env=dict(os.environ), log_path=tmp_path / "log")
    try:
        played = gateway(Reply(text="你好世界" * 25), counter=counter)
        usage = usage_of(await collect(played, request(user("你好世界" * 25), tools=[])))
        empty = gateway(Reply(text="x"), counter=counter)
        nothing = usage_of(await collect(empty, request(user(""), tools=[])))
        assert usage.prompt - nothing.prompt == 50
        assert usage == Usage(input=usage.prompt, output=50, total=usage.prompt + 50)
    finally:
        await counter.close()
