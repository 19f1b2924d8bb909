"""How messages become items and a body (conformance 2.7, facts 64 to 87), before and after repair."""

import pytest

from qiming_tui.context.assemble import message_of, runs
from qiming_tui.context.edits import fold
from qiming_tui.context.render import render_entry, unloaded
from qiming_tui.context.scene import Scene
from qiming_tui.context.state import WindowEdits
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.edits import EditKind
from qiming_tui.model.errors import QimingError
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import (
    PLACEHOLDER,
    Completed,
    Failed,
    Pending,
    Running,
    Span,
    StoredOutput,
    SubtaskPart,
)
from qiming_tui.model.window import ItemState, Preset, Settings
from tests.context.legal import legal
from tests.context.make import (
    MODEL,
    OTHER,
    asks,
    assistant,
    edit,
    file,
    own,
    png,
    start,
    state,
    summary,
    text,
    think,
    tool,
    user,
)


def scene(**fields) -> Scene:
    return Scene(**({"model": MODEL, "preset": Preset.OPENCODE} | fields))


def sent(*entries, **fields) -> list[dict]:
    """The provider messages of some entries as `render` alone makes them."""
    items = [item for entry in entries for item in render_entry(entry, scene(**fields))]
    return [message_of(run, frozenset()) for run in runs(items)]


def body(*entries, settings=Settings(), **fields) -> list[dict]:  # noqa: B008
    """The provider messages of a whole view, after repair."""
    from_view = build(state(*entries, **fields), settings, Tally())
    messages = [message_of(run, frozenset()) for run in runs(from_view.items)]
    assert legal({"messages": messages}, fields.get("dialect", "openai")) == []
    return messages


def test_facts_64_65_66_67_messages_without_anything_to_send_are_dropped():
    assert sent(user("u"), assistant("a")) == []
    assert sent(user("u", text("u", "t", "x", ignored=True))) == []
    assert sent(user("u", "")) == []
    assert sent(user("u", "", "kept")) == [{"role": "user", "content": "kept"}]


def test_fact_68_synthetic_text_is_sent():
    assert sent(user("u", text("u", "t", "x", synthetic=True)))[0]["content"] == "x"
    assert sent(assistant("a", text("a", "t", "x", synthetic=True)))[0]["content"] == "x"
    (item,) = render_entry(user("u", text("u", "t", "x", synthetic=True)), scene())
    assert item.state is ItemState.SYNTHETIC


def test_fact_69_a_user_message_with_everything():
    task = own(SubtaskPart, "u", "s", prompt="p", description="d", agent="general")
    everything = user(
        "u",
        "hello",
        text("u", "i", "ignored", ignored=True),
        file("u", "f"),
        file("u", "g", mime="text/plain"),
        file("u", "d", mime="application/x-directory"),
        *asks("u").parts,
        task,
    )
    assert sent(everything)[0]["content"] == [
        {"type": "text", "text": "hello"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "What did we do so far?"},
        {"type": "text", "text": "The following tool was executed by the user"},
    ]


def test_other_files_become_a_line_or_a_document():
    pdf = file("u", "p", mime="application/pdf", filename="a.pdf")
    odd = file("u", "o", mime="audio/wav", filename="a.wav")
    local = file("u", "l", url="file:///tmp/x.png")
    content = sent(user("u", pdf, odd, local))[0]["content"]
    assert content[0]["file"] == {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}
    assert content[1]["text"] == "[Attached audio/wav: a.wav]"
    assert content[2]["text"] == "[Attached image/png: shot.png]"


def test_facts_70_71_72_media_of_a_result():
    entry = assistant("a", "look", tool("a", "p", attachments=[png()]))
    plain = sent(entry)
    assert [m["role"] for m in plain] == ["assistant", "tool", "user"]
    assert plain[1]["content"] == "out"
    assert plain[2]["content"][0] == {"type": "text", "text": "Attached media from tool result:"}
    assert plain[2]["content"][1]["type"] == "image_url"
    kept = sent(entry, dialect="anthropic")
    assert [m["role"] for m in kept] == ["assistant", "tool"]
    assert [block["type"] for block in kept[1]["content"]] == ["text", "image_url"]


def test_media_follow_all_results_of_their_step():
    entry = assistant(
        "a", tool("a", "p", attachments=[png()]), tool("a", "q"), tool("a", "r", attachments=[png()])
    )
    assert [m["role"] for m in body(user("u", "x"), entry)[1:]] == [
        "assistant",
        "tool",
        "tool",
        "tool",
        "user",
    ]


def test_fact_73_reasoning_of_another_model_becomes_text_or_is_dropped():
    entry = assistant("a", think("a", "t", "hm", signature="s"), think("a", "b", " "), "ok", model=OTHER)
    for dialect in ("openai", "anthropic"):
        assert sent(entry, dialect=dialect) == [{"role": "assistant", "content": "hm\n\nok"}]
        assert sent(entry, dialect=dialect, preset=Preset.GUARDED) == [{"role": "assistant", "content": "ok"}]


def test_c_046_reasoning_goes_back_verbatim_to_its_model_or_not_at_all():
    entry = assistant("a", think("a", "t", "x", signature="s"), think("a", "r", "", redacted="opaque"), "ok")
    own_model = body(user("u", "q"), entry, dialect="anthropic")[1]
    assert own_model["thinking_blocks"] == [
        {"type": "thinking", "thinking": "x", "signature": "s"},
        {"type": "redacted_thinking", "data": "opaque"},
    ]
    assert body(user("u", "q"), entry, dialect="openai")[1]["reasoning_content"] == "x"
    other = body(user("u", "q"), entry, dialect="anthropic", model=ModelRef("anthropic", "m2"))[1]
    assert other == {"role": "assistant", "content": "ok"}
    unsigned = assistant("a", think("a", "t", "x"), think("a", "e", ""), "ok")
    assert body(user("u", "q"), unsigned, dialect="anthropic")[1] == {"role": "assistant", "content": "ok"}
    empty = assistant("a", think("a", "e", ""), "ok")
    assert body(user("u", "q"), empty)[1] == {"role": "assistant", "content": "ok"}
    assert "reasoning_content" not in body(user("u", "q"), entry, dialect="gemini")[1]


def test_an_imported_signature_is_sent_back():
    part = think("a", "t", "x")
    part = type(part)(
        id="t", session_id="s", message_id="a", text="x", metadata={"anthropic": {"signature": "sig"}}
    )
    made = sent(assistant("a", part, "ok"), dialect="anthropic")[0]
    assert made["thinking_blocks"][0]["signature"] == "sig"


def test_fact_80_reasoning_details_survive():
    part = think("a", "t", "x")
    details = [{"type": "reasoning.encrypted", "data": "d"}]
    part = type(part)(
        id="t",
        session_id="s",
        message_id="a",
        text="x",
        metadata={"openrouter": {"reasoning_details": details}},
    )
    assert sent(assistant("a", part, "ok"))[0]["reasoning_details"] == details


def test_fact_74_c_032_a_cleared_result_is_the_placeholder_without_its_media():
    entry = assistant("a", tool("a", "p", attachments=[png(data="QUJD")], compacted=5))
    for dialect in ("openai", "anthropic"):
        messages = sent(entry, dialect=dialect)
        assert [m["role"] for m in messages] == ["assistant", "tool"]
        assert messages[1]["content"] == PLACEHOLDER
        assert "QUJD" not in str(messages)
    log = fold([edit(1, EditKind.RESTORE, "p")])
    assert "QUJD" in str(sent(entry, edits=log))


def test_fact_75_results_can_be_cut():
    made = sent(assistant("a", tool("a", "p", "abcdefghij")), result_chars=4)
    assert made[1]["content"] == "abcd\n[Tool output truncated for compaction: omitted 6 chars]"


def test_facts_76_77_83_results_that_are_none():
    span = Span(start=1, end=2)
    failed = Failed(input={}, error="boom", time=span)
    kept = Failed(input={}, error="aborted", metadata={"interrupted": True, "output": "half"}, time=span)
    states = [failed, kept, Pending(), Running(input={}, time=span)]
    made = sent(assistant("a", *(tool("a", f"p{n}", state=s) for n, s in enumerate(states))))
    interrupted = "[Tool execution was interrupted]"
    assert [m["content"] for m in made[1:]] == ["boom", "half", interrupted, interrupted]


def test_facts_78_79_answers_with_an_error():
    assert sent(assistant("a", "half", error="APIError")) == []
    assert sent(assistant("a", "half", error="MessageAbortedError"))[0]["content"] == "half"
    only = assistant("a", start("a", "s"), think("a", "t", "hm"), error="MessageAbortedError")
    assert sent(only) == []


def test_facts_81_82_a_step_start_splits():
    entry = assistant("a", start("a", "s1"), "one", tool("a", "p"), start("a", "s2"), "two")
    assert [m["role"] for m in sent(entry)] == ["assistant", "tool", "assistant"]
    assert sent(assistant("a", start("a", "s1"))) == []


def test_facts_84_85_86_87_empty_text_is_kept_by_render_and_taken_out_by_repair():
    signed = assistant("a", think("a", "t", "x", signature="s"), "")
    unsigned = assistant("a", think("a", "t", "x"), "")
    assert sent(signed, dialect="anthropic")[0]["content"] == " "
    assert sent(unsigned, dialect="anthropic")[0]["content"] == ""
    assert sent(assistant("a", ""))[0]["content"] == ""
    assert body(user("u", "q"), signed, dialect="anthropic") == [{"role": "user", "content": "q"}]
    assert body(user("u", "q"), assistant("a", "")) == [{"role": "user", "content": "q"}]


def test_c_047_an_aborted_first_token_poisons_nothing():
    aborted = assistant("a", "", error="MessageAbortedError", finish=None)
    assert body(user("u1", "one"), aborted, user("u2", "two")) == [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
    ]


@pytest.mark.parametrize("value", [{"b": 1, "a": 2}, None, "", "raw", [1], 5])
def test_c_078_arguments_are_a_json_object_with_sorted_keys(value):
    part = tool("a", "p", state=Completed(input=value, output="x", time=Span(start=1)))
    arguments = body(user("u", "q"), assistant("a", part))[1]["tool_calls"][0]["function"]["arguments"]
    expected = {"raw": '{"input":"raw"}', "[1]": '{"input":[1]}', "5": '{"input":5}'}.get(str(value), "{}")
    assert arguments == ('{"a":2,"b":1}' if isinstance(value, dict) else expected)


def test_clipped_arguments_stay_json_and_say_what_is_missing():
    log = (edit(1, EditKind.CLIP, "p", chars=4),)
    part = tool("a", "p", input={"path": "ab", "text": "0123456789", "list": ["x"]})
    view = build(state(user("u", "q"), assistant("a", part), edits=log), Settings(), Tally())
    call = next(item for item in view.items if item.key == "p:call")
    assert call.state is ItemState.CLIPPED
    assert call.value["arguments"] == ('{"list":["x"],"path":"ab","text":"0[... 9 characters cut]"}')
    roomy = build(
        state(user("u", "q"), assistant("a", part), edits=(edit(1, EditKind.CLIP, "p", chars=99),)),
        Settings(),
        Tally(),
    )
    assert next(item for item in roomy.items if item.key == "p:call").state is ItemState.SENT


def test_gemini_call_ids_are_sent_back_verbatim():
    odd = "call_1__thought__AbC+/=="
    messages = body(user("u", "q"), assistant("a", tool("a", "p", call_id=odd)), dialect="gemini")
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == odd


def test_a_stored_output_may_only_stand_where_it_is_cleared():
    stored = StoredOutput(bytes=3, units=3, sha256="x")
    gone = Completed(input={}, output="", time=Span(start=1, compacted=5), stored=stored)
    made = state(user("u", "q"), assistant("a", tool("a", "p", state=gone)))
    assert unloaded(window_of(made, Settings())) == ()
    build(made, Settings(), Tally())
    restored = state(
        user("u", "q"),
        assistant("a", tool("a", "p", state=gone)),
        edits=(edit(1, EditKind.RESTORE, "p"),),
    )
    assert unloaded(window_of(restored, Settings())) == ("p",)
    with pytest.raises(QimingError, match="not loaded"):
        build(restored, Settings(), Tally())


def test_a_compaction_that_failed_is_not_sent_under_guarded():
    failed = (user("u1", "q"), asks("c"), assistant("s", "half", summary=True, finish="length", parent="c"))
    assert body(*failed) == [{"role": "user", "content": "q"}]
    unfinished = (*failed[:2], summary("s", "c", "half", finish=None))
    assert body(*unfinished) == [{"role": "user", "content": "q"}]
    assert len(body(*unfinished, settings=Settings(preset=Preset.OPENCODE))) == 3


def test_pinned_things_carry_their_flag():
    edits = fold([edit(1, EditKind.PIN, "p", text="x", source="read")])
    items = render_entry(assistant("a", "text", tool("a", "p")), scene(edits=edits))
    assert [item.pinned for item in items] == [False, True, True]
    assert isinstance(edits, WindowEdits)
