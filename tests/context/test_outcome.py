"""Whether an answer may stand for a history, and what the model is told next (cases C)."""

from itertools import count

import msgspec
import pytest

from qiming_tui.context.outcome import (
    Identity,
    check,
    continue_entry,
    needs_continue,
    replay_entry,
    under_way,
)
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.messages import UserMessage
from qiming_tui.model.parts import CONTINUE_TEXT, FilePart, TextPart
from qiming_tui.model.window import CompactionEnd, Preset
from tests.context.make import asks, assistant, file, summary, text, tool, user

G, ARTICLE = Preset.GUARDED, Preset.OPENCODE


def ends(words, finish="stop", preset=G, **fields):
    sizes = {"tool_calls": 0, "replaced_tokens": 10_000, "summary_tokens": 500} | fields
    return check(words, finish, preset=preset, **sizes)


def test_a_good_summary_is_a_boundary():
    assert ends("## Goal\n- it works") is CompactionEnd.FINISHED
    assert ends("<think>hm</think>\n## Goal\n- build") is CompactionEnd.FINISHED
    assert ends('The file has `{"name": "x"}` in it') is CompactionEnd.FINISHED


@pytest.mark.parametrize("words", ["", " \n", "<think>only thinking</think>", "<think>cut off", "---"])
def test_c_034_blank_or_only_thinking_is_no_summary(words):
    assert ends(words) is CompactionEnd.BLANK


@pytest.mark.parametrize(
    "words",
    [
        '<tool_call>{"name": "read"}</tool_call>',
        "<function_calls><invoke name='read'></invoke></function_calls>",
        '{"name": "read", "arguments": {"path": "x"}}',
        '```json\n[{"name": "read", "arguments": {}}]\n```',
        "[TOOL_CALLS] read(x)",
    ],
)
def test_c_069_tool_protocol_text_is_no_summary(words):
    assert ends(words) is CompactionEnd.TOOL_CALL


def test_fact_38_a_tool_call_is_no_summary_under_any_preset():
    for preset in Preset:
        assert ends("text", preset=preset, tool_calls=1) is CompactionEnd.TOOL_CALL


@pytest.mark.parametrize("finish", ["length", "content-filter"])
def test_c_043_a_cut_summary_is_no_boundary(finish):
    assert ends("## Goal", finish) is CompactionEnd.TRUNCATED
    assert ends("## Goal", finish, preset=ARTICLE) is CompactionEnd.FINISHED


@pytest.mark.parametrize("finish", [None, "error"])
def test_c_036_an_unfinished_summary_is_none_under_any_preset(finish):
    for preset in Preset:
        assert ends("## Goal", finish, preset=preset) is CompactionEnd.FAILED


def test_c_037_a_summary_that_is_not_smaller_is_refused():
    assert ends("x", replaced_tokens=661, summary_tokens=1752) is CompactionEnd.NOT_SMALLER
    assert ends("x", replaced_tokens=661, summary_tokens=661) is CompactionEnd.NOT_SMALLER
    assert ends("x", replaced_tokens=661, summary_tokens=660) is CompactionEnd.FINISHED
    assert ends("x", replaced_tokens=661, summary_tokens=1752, preset=ARTICLE) is CompactionEnd.FINISHED


def test_c_065_a_summary_longer_than_allowed_is_refused():
    assert ends("x", replaced_tokens=90_000, summary_tokens=68_000, limit=8_000) is CompactionEnd.NOT_SMALLER
    assert ends("x", replaced_tokens=90_000, summary_tokens=8_000, limit=8_000) is CompactionEnd.FINISHED


def goes_on(*history, preset=G, auto=True, waiting=False, replayed=False):
    return needs_continue(history, preset=preset, auto=auto, waiting=waiting, replayed=replayed)


WORKING = (user("u1", "go"), assistant("a1", tool("a1", "p"), finish="tool-calls"))
FINISHED = (user("u1", "go"), assistant("a1", "done"))


def test_c_052_continue_only_where_work_was_under_way():
    assert goes_on(*WORKING)
    assert not goes_on(*FINISHED)
    assert not goes_on(*WORKING, auto=False)
    assert not goes_on(*WORKING, waiting=True)
    assert goes_on(*FINISHED, preset=ARTICLE)
    assert not goes_on(*FINISHED, preset=ARTICLE, auto=False)
    assert not goes_on(*FINISHED, preset=ARTICLE, replayed=True)


def test_work_is_under_way_after_a_cut_answer_but_not_after_an_abort():
    assert under_way((user("u1", "go"), assistant("a1", "half", finish="length")))
    aborted = assistant("a1", tool("a1", "p"), finish=None, error="MessageAbortedError")
    assert not under_way((user("u1", "go"), aborted))
    refused = assistant("a2", finish=None)
    assert under_way((*WORKING, refused))
    assert under_way((*WORKING, asks("c"), summary("s", "c")))
    assert not under_way((user("u1", "go"),))


def identity() -> Identity:
    numbers = count()
    return Identity(
        session_id="ses_test",
        message_id="msg_new",
        part_id=lambda: f"prt_{next(numbers)}",
        now=7,
        model=ModelRef("anthropic", "working"),
    )


def test_c_053_continue_has_the_working_model_and_the_users_agent():
    last = user("u1", "plan it")
    assert isinstance(last.info, UserMessage)
    planning = type(last)(msgspec.structs.replace(last.info, agent="plan"), last.parts)
    made = continue_entry([planning, assistant("a1", "x")], identity(), preset=G, overflow=True)
    assert isinstance(made.info, UserMessage)
    assert made.info.agent == "plan"
    assert made.info.model is not None
    assert (made.info.model.provider_id, made.info.model.model_id) == ("anthropic", "working")
    (part,) = made.parts
    assert isinstance(part, TextPart)
    assert part.text == CONTINUE_TEXT
    assert part.synthetic
    assert part.metadata == {"compaction_continue": True}
    assert not made.real_user


def test_fact_34_a_refusal_is_explained_before_the_continue_text():
    made = continue_entry([user("u1", "x")], identity(), preset=ARTICLE, overflow=True)
    assert "previous request exceeded the provider's size limit" in made.text
    assert made.text.endswith(CONTINUE_TEXT)


def test_fact_33_a_replayed_message_has_no_media_and_no_compaction_part():
    original = user("u1", file("u1", "f", filename="cat.png"), "what is it?", *asks("u1").parts)
    made = replay_entry(original, identity())
    assert made.id == "msg_new"
    assert [type(part) for part in made.parts] == [TextPart, TextPart]
    assert "Attached image/png: cat.png" in made.text
    assert "what is it?" in made.text
    assert all(part.message_id == "msg_new" and part.id.startswith("prt_") for part in made.parts)
    assert made.real_user
    kept = replay_entry(user("u1", text("u1", "t", "x"), file("u1", "f", mime="text/plain")), identity())
    assert isinstance(kept.parts[1], FilePart)
