"""The readers alone: hostile objects, calls that are hard to tell apart; the event stream cut anywhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model.stream import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from qiming_tui.model.usage import Usage
from qiming_tui.provider.tap import Events, StreamDamaged
from qiming_tui.provider.wire import Answer, StreamRefused
from qiming_tui.provider.wire_anthropic import AnthropicReader
from qiming_tui.provider.wire_gemini import GeminiReader
from qiming_tui.provider.wire_openai import OpenAIReader

VALUES = [{"a": 1}, {"b": "x\n\ny 你"}, {"c": "data: z"}]


@given(st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_an_event_stream_cut_anywhere(size, end):
    lines = [": a comment", "event: x", "id: 1", *(f"data: {json.dumps(value)}" for value in VALUES)]
    whole = (end + end).join([*lines, "data: [DONE]", ""]).encode()
    events, got = Events(), []
    for start in range(0, len(whole), size):
        got += events.feed(whole[start : start + size])
    assert got + events.end() == VALUES


def test_event_streams_with_many_data_lines_without_end_or_torn():
    assert Events().feed(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]
    events = Events()
    assert events.feed(b'data:{"a":1}\n') == []
    assert events.end() == [{"a": 1}]
    events = Events()
    events.feed(b'data: {"a":')
    assert events.end() == []
    with pytest.raises(StreamDamaged, match="not JSON"):
        Events().feed(b"data: <html>\n\n")


def pieces(*deltas):
    """The events of tool call pieces (index, id, name, arguments) and of the end."""
    answer = Answer("r")
    out = []
    for index, call_id, name, arguments in deltas:
        out += answer.call(index=index, call_id=call_id, name=name, arguments=arguments)
    answer.reason = "tool_calls"
    return [*out, *answer.end()]


def ends(*deltas):
    return [
        (event.call_id, event.name, event.arguments)
        for event in pieces(*deltas)
        if isinstance(event, ToolCallEnd)
    ]


def test_calls_without_ids_get_ids_of_their_own():
    assert ends((0, "", "f", "{}"), (1, "", "g", "{}")) == [("call_r_0", "f", "{}"), ("call_r_1", "g", "{}")]


def test_calls_without_ids_at_one_index_are_told_apart_by_their_names():
    assert ends((0, "", "f", '{"a":1}'), (0, "", "g", "{}")) == [
        ("call_r_0", "f", '{"a":1}'),
        ("call_r_1", "g", "{}"),
    ]
    assert ends((None, "", "f", "{}"), (None, "", "f", "{}")) == [
        ("call_r_0", "f", "{}"),
        ("call_r_1", "f", "{}"),
    ]


def test_a_name_that_is_repeated_with_every_piece_begins_nothing():
    assert ends((0, "c", "f", '{"a"'), (0, "", "f", ":1}")) == [("c", "f", '{"a":1}')]


def test_one_id_at_two_indexes_is_two_calls():
    assert ends((0, "c", "f", "{}"), (1, "c", "g", "{}")) == [("c", "f", "{}"), ("c", "g", "{}")]


def test_a_name_that_comes_late_holds_the_start_back():
    assert pieces((0, "c", "", '{"a"'), (0, "", "f", ":1}")) == [
        ToolCallStart(0, "c", "f"),
        ToolCallDelta(0, '{"a":1}'),
        ToolCallEnd(0, "c", "f", '{"a":1}'),
        Finish("tool-calls"),
    ]


def test_a_call_without_any_name_still_starts_before_it_ends():
    assert pieces((0, "c", "", "{}")) == [
        ToolCallStart(0, "c", ""),
        ToolCallEnd(0, "c", "", "{}"),
        Finish("tool-calls"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"choices": None},
        {"choices": ["x", {"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": [None, {"function": "f"}], "reasoning": []}}]},
        {"usage": "many"},
        {"usage": {"prompt_tokens": "5", "completion_tokens": None, "prompt_tokens_details": 3}},
    ],
)
def test_hostile_chunks_of_openai_are_read_as_if_the_field_were_not_there(value):
    reader = OpenAIReader(Answer("r"))
    assert list(reader.feed(value)) == []
    assert reader.answer.usage in (None, Usage())


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"type": 5},
        {"type": "message_start", "message": []},
        {"type": "content_block_start", "content_block": {"type": "text", "text": 5}},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": None}},
        {"type": "message_delta", "usage": [], "delta": None},
        {"type": "something_new", "x": 1},
    ],
)
def test_hostile_events_of_anthropic(value):
    reader = AnthropicReader(Answer("r"))
    assert list(reader.feed(value)) == []
    assert reader.answer.usage is None


@pytest.mark.parametrize(
    "value",
    [
        {"candidates": {}},
        {
            "candidates": [
                {"content": {"parts": [None, {"text": 5}, {"functionCall": []}, {"inlineData": {}}]}}
            ]
        },
        {"usageMetadata": 5},
    ],
)
def test_hostile_objects_of_gemini(value):
    reader = GeminiReader(Answer("r"), "r")
    assert list(reader.feed(value)) == []
    assert reader.answer.usage is None


def test_gemini_signatures_end_a_thought_and_a_blocked_prompt_is_said():
    reader = GeminiReader(Answer("r"), "r")
    parts = [
        {"text": "a", "thought": True, "thoughtSignature": "S"},
        {"text": "b", "thought": True},
        {"text": "c"},
    ]
    assert list(reader.feed({"candidates": [{"content": {"parts": parts}}]})) == [
        ReasoningDelta("a", 0, signature="S"),
        ReasoningDelta("b", 1),
        TextDelta("c"),
    ]
    list(reader.feed({"promptFeedback": {"blockReason": "SAFETY"}}))
    assert list(reader.answer.end())[-1] == Finish("content-filter")


def test_errors_in_a_stream_are_raised_with_their_text():
    for reader, value in (
        (OpenAIReader(Answer("r")), {"error": {"code": "server_error"}}),
        (AnthropicReader(Answer("r")), {"type": "error", "error": {"type": "overloaded_error"}}),
        (GeminiReader(Answer("r"), "r"), {"error": {"code": 503, "status": "UNAVAILABLE"}}),
    ):
        with pytest.raises(StreamRefused) as caught:
            list(reader.feed(value))
        assert json.loads(caught.value.text) == value


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("refusal", "content-filter"),
        ("SAFETY", "content-filter"),
        ("pause_turn", "unknown"),
    ],
)
def test_finish_reasons(reason, ours):
    answer = Answer("r")
    answer.reason = reason
    answer.usage = Usage(input=1)
    assert list(answer.end()) == [UsageReport(Usage(input=1)), Finish(ours)]
