"""Compaction as the loop does it: facts 15 and 24 to 46 of `conformance.md`, form `transcript`, preset
`opencode`; then the three presets from end to end."""

import msgspec
import pytest

from qiming_tui.model import events as e
from qiming_tui.model.parts import CompactionPart, FilePart, ToolPart
from qiming_tui.model.window import Preset, Settings
from tests.context import short
from tests.session.harness import SUMMARY, call, say, session
from tests.session.play import (
    ASKS,
    CONTINUE,
    OPENCODE,
    QIMING,
    M,
    Play,
    answer,
    compact,
    compact_as,
    ends,
    plant,
    real,
    said,
    spoken,
    summaries,
    turns,
    undo,
    words,
)

QUOTED = Settings(preset=Preset.OPENCODE, summary_form="transcript")


def quoted(**more):
    return msgspec.structs.replace(QUOTED, **more)


def with_file(id, text, filename, data="aGk="):
    """A user message with a picture."""
    entry = short.user(id, text)
    url = f"data:image/png;base64,{data}"
    part = FilePart(
        id=f"{id}.f", session_id=short.SES, message_id=id, mime="image/png", url=url, filename=filename
    )
    return msgspec.structs.replace(entry, parts=(*entry.parts, part))


async def asked_for(rig):
    """Text of the newest summary request."""
    body = summaries(rig)[-1]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "tools" not in body
    return body["messages"][1]["content"]


def tail_of(rig):
    """`tail_start_id` of the newest boundary."""
    return next(entry.compaction for entry in reversed(rig.live.entries) if entry.compaction).tail_start_id


async def test_facts_15_24_26_an_automatic_compaction(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", "A1"))
    async with session(tmp_path, Play(), settings=QUOTED, session_id=sid, tools=False) as rig:
        assert await compact_as(rig, auto=True, overflow=True) == "finished"
        asks, summary, last = rig.live.entries[-3:]
        [part] = asks.parts
        assert isinstance(part, CompactionPart)
        assert (part.auto, part.overflow) == (True, True)
        assert (summary.info.summary, summary.info.finish, summary.info.error) == (True, "stop", None)
        assert (summary.info.parent_id, summary.info.mode) == (asks.id, "compaction")
        assert summary.text == SUMMARY
        assert last.user
        assert last.parts[0].synthetic
        assert last.parts[0].metadata["compaction_continue"] is True
        assert CONTINUE in last.parts[0].text
        assert ends(rig) == [("finished", "finished")]


async def test_fact_27_two_turns_are_kept(tmp_path):
    sid = await plant(
        tmp_path, short.user("u1", "first"), answer("a1", "A1"), short.user("u2", "second"),
        answer("a2", "A2"), short.user("u3", "third"), answer("a3", "A3"),
    )  # fmt: skip
    settings = quoted(tail_turns=2, preserve_recent_tokens=10_000)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, tools=False) as rig:
        await compact(rig)
        assert tail_of(rig) == "u2"
        assert await said(rig) == [ASKS, SUMMARY, "second", "A2", "third", "A3"]


@pytest.mark.parametrize(
    ("turns", "budget", "texts", "tail"),
    [
        (2, 100, ("first", "x" * 2_000, "tiny"), "u3"),
        (1, 20, ("first", "y" * 2_000), None),
    ],
    ids=["fact_28", "fact_29"],
)
async def test_facts_28_29_what_does_not_fit_the_tail(tmp_path, turns, budget, texts, tail):
    sid = await plant(tmp_path, *(short.user(f"u{number}", text) for number, text in enumerate(texts, 1)))
    settings = quoted(tail_turns=turns, preserve_recent_tokens=budget)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, tools=False) as rig:
        await compact(rig)
        assert tail_of(rig) == tail
        assert texts[1] in await asked_for(rig)


async def test_fact_30_a_picture_larger_than_the_tail_is_named_in_the_summary_request(tmp_path):
    picture = with_file("u2", "look", "big.png", "A" * 4_000)
    sid = await plant(tmp_path, short.user("u1", "first"), answer("a1", "A1"), picture)
    settings = quoted(tail_turns=1, preserve_recent_tokens=100)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, tools=False) as rig:
        await compact(rig)
        assert tail_of(rig) is None
        text = await asked_for(rig)
        assert "look" in text
        assert "Attached image/png: big.png" in text
        assert "AAAA" not in text


async def test_fact_33_a_replayed_message_names_its_picture(tmp_path):
    sid = await plant(
        tmp_path, short.user("u1", "root"), answer("a1", "A1"), with_file("u2", "image", "cat.png")
    )
    async with session(tmp_path, Play(), settings=QUOTED, session_id=sid, tools=False) as rig:
        await compact_as(rig, auto=True, overflow=True)
        last = rig.live.entries[-1]
        assert last.user
        assert not any(isinstance(part, FilePart) for part in last.parts)
        assert "Attached image/png: cat.png" in last.text
        assert await said(rig) == [ASKS, SUMMARY, "image\n[Attached image/png: cat.png]"]


async def test_fact_34_without_anything_to_repeat_the_size_is_explained(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "earlier"))
    async with session(tmp_path, Play(), settings=QUOTED, session_id=sid, tools=False) as rig:
        await compact_as(rig, auto=True, overflow=True)
        assert "previous request exceeded the provider's size limit" in rig.live.entries[-1].text


async def test_fact_38_a_call_during_the_summary_leaves_no_tool_part(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", "A1"))
    model = Play()
    model.summaries.append(call("read", {"filePath": "a.txt"}))
    async with session(tmp_path, model, settings=QUOTED, session_id=sid, tools=False) as rig:
        await compact(rig)
        assert ends(rig) == [("failed", "tool_call")]
        assert not any(isinstance(part, ToolPart) for entry in rig.live.entries for part in entry.parts)


async def test_facts_39_44_what_is_kept_is_not_quoted_and_what_all_fits_is(tmp_path):
    texts = ("older context", "keep this turn", "and this one too")
    entries = []
    for number, text in enumerate(texts, 1):
        entries += [short.user(f"u{number}", text), answer(f"a{number}", f"A{number}")]
    sid = await plant(tmp_path, *entries)
    settings = quoted(tail_turns=2, preserve_recent_tokens=10_000)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, tools=False) as rig:
        await compact(rig)
        text = await asked_for(rig)
        assert "[User]: older context" in text
        assert "keep this turn" not in text
        assert "and this one too" not in text
        assert ASKS not in text
        await undo(rig)
    settings = quoted(preserve_recent_tokens=10_000)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, seed=2, tools=False) as rig:
        await compact(rig)
        text = await asked_for(rig)
        assert [f"[User]: {each}" in text for each in texts] == [True] * 3
        assert tail_of(rig) is None


async def test_fact_40_c_065_a_second_summary_quotes_the_first_once(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "U1"), answer("a1", "A1"))
    model = Play(*turns(("A2", 500)))
    model.summaries.append(say("the first summary"))
    async with session(tmp_path, model, settings=QUOTED, session_id=sid, tools=False) as rig:
        await compact(rig)
        await rig.ask("U2")
        await compact(rig)
        text = await asked_for(rig)
        inside = text.partition("<prior-summary>")[2].partition("</prior-summary>")[0]
        assert inside.strip() == "the first summary"
        assert text.count("the first summary") == 1
        assert ASKS not in text
        assert "[User]: U2" in text
        assert "[User]: U1" not in text
        for heading in ("## Objective", "## Important Details", "## Work State", "## Next Move"):
            assert heading in text


async def test_fact_41_calls_and_results_are_quoted_as_text(tmp_path):
    part = short.tool("r1", "file contents", name="read", message="a1")
    state = msgspec.structs.replace(part.state, input={"filePath": "src/index.ts"})
    part = msgspec.structs.replace(part, state=state)
    sid = await plant(
        tmp_path, short.user("u1", "U1"), short.assistant("a1", part, finish="tool-calls"), answer("a2", "A1")
    )
    async with session(tmp_path, Play(), settings=quoted(tail_turns=0), session_id=sid, tools=False) as rig:
        await compact(rig)
        text = await asked_for(rig)
        assert '[Assistant tool call]: read({"filePath":"src/index.ts"})' in text
        assert "[Tool result]: file contents" in text
        assert '"role"' not in text


async def test_fact_42_the_second_boundary_holds_one_summary(tmp_path):
    entries = []
    for number in (1, 2, 3):
        entries += [short.user(f"u{number}", f"U{number}"), answer(f"a{number}", f"A{number}")]
    sid = await plant(tmp_path, *entries)
    settings = quoted(tail_turns=2, preserve_recent_tokens=10_000)
    async with session(
        tmp_path, Play(*turns(("A4", 500))), settings=settings, session_id=sid, tools=False
    ) as rig:
        await compact(rig)
        await rig.ask("U4")
        rig.model.summaries.append(say("the second summary"))
        await compact(rig)
        assert await said(rig) == [ASKS, "the second summary", "U3", "A3", "U4", "A4"]


async def test_fact_45_the_tail_may_start_at_an_answer(tmp_path):
    sid = await plant(
        tmp_path,
        short.user("u1", "first"),
        answer("a1", "A1"),
        short.user("u2", "y" * 2_000),
        answer("a2", "the end"),
    )
    settings = quoted(tail_turns=1, preserve_recent_tokens=100)
    async with session(tmp_path, Play(), settings=settings, session_id=sid, tools=False) as rig:
        await compact(rig)
        assert tail_of(rig) == "a2"
        assert await said(rig) == [ASKS, SUMMARY, "the end"]


# -- the presets, end to end -------------------------------------------------------------------------------


async def test_fact_46_preset_opencode_goes_on_after_a_finished_turn(tmp_path):
    model = Play(*turns(("A1", 9_500), ("went on", 3_000)))
    async with session(tmp_path, model, window=M(10_000), settings=OPENCODE) as rig:
        await rig.ask("U1")
        [summary] = summaries(rig)
        assert "tools" not in summary
        assert [message["role"] for message in summary["messages"]] == ["user", "assistant", "user"]
        assert spoken(model.sent()[1]) == [ASKS, SUMMARY, CONTINUE]
        assert await said(rig) == [ASKS, SUMMARY, CONTINUE, "went on"]


async def test_preset_guarded_waits_after_a_finished_turn_and_asks_with_the_same_prefix(tmp_path):
    model = Play(real(words(3_000)), real(words(3_000)))
    async with session(tmp_path, model, window=M(10_000, 2_500)) as rig:
        fixed = rig.worker.ctx
        await rig.ask("U1")
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]
        assert len(model.sent()) == 2
        [summary] = summaries(rig)
        turn = model.sent()[1]
        assert summary["tools"] == turn["tools"]
        assert summary["messages"][: len(turn["messages"])] == turn["messages"]
        assert await said(rig) == [ASKS, SUMMARY]
        assert fixed.live.session.preset == "guarded"


@pytest.mark.parametrize(("total", "compacted"), [(9_500, False), (9_501, True)])
async def test_preset_qiming_compares_with_more_than(tmp_path, total, compacted):
    model = Play(*turns(("A1", total)))
    async with session(tmp_path, model, window=M(10_000), settings=QIMING, tools=False) as rig:
        await rig.ask("U1")
        assert bool(summaries(rig)) is compacted


@pytest.mark.parametrize(("total", "compacted"), [(9_499, False), (9_500, True)])
async def test_preset_opencode_compares_with_as_much_as(tmp_path, total, compacted):
    model = Play(*turns(("A1", total)))
    async with session(tmp_path, model, window=M(10_000), settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        assert bool(summaries(rig)) is compacted


@pytest.mark.parametrize("settings", [OPENCODE, QIMING], ids=["opencode", "qiming"])
async def test_the_articles_presets_do_not_check_before_sending(tmp_path, settings):
    async with session(tmp_path, Play(), window=M(10_000), settings=settings, tools=False) as rig:
        await rig.ask(words(12_000))
        assert len(rig.model.sent()) == 1
        assert not rig.of(e.CompactionEnded)
