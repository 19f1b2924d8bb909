"""The count in the loop: part D of `cases.md`, preset `guarded`."""

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.limits import Price
from qiming_tui.model.stream import RequestKind
from tests.context import short
from tests.session.harness import SUMMARY, call, overflow, say, session, used
from tests.session.play import (
    OPENCODE,
    M,
    Play,
    answer,
    compact,
    ends,
    plant,
    real,
    reasons,
    size,
    undo,
    words,
)

LONG = words(2_200)
NARROW = M(6_000, 1_500)
"""Two long answers and the fixed prompt are over its 4,500 usable."""


def silent(text):
    """An answer without usage."""
    return say(text, used(0, 0, 0))


@pytest.mark.parametrize("answers", [silent, say], ids=["zeros", "missing"])
async def test_c_074_without_usage_the_estimate_counts_and_compacts(tmp_path, answers):
    model = Play(answers("A1 " + LONG), answers("A2 " + LONG))
    async with session(tmp_path, model, window=NARROW, tools=False) as rig:
        await rig.ask("U1")
        assert (rig.verdict.basis, rig.verdict.count > 2_200) == ("estimated", True)
        assert "no usage" in rig.verdict.flags[0]
        await rig.ask("U2")
        assert ends(rig) == [("finished", "finished")]


async def test_c_074_under_the_articles_nothing_is_counted_without_usage(tmp_path):
    model = Play(silent("A1 " + LONG), silent("A2 " + LONG))
    async with session(tmp_path, model, window=NARROW, settings=OPENCODE, tools=False) as rig:
        await rig.ask("U1")
        await rig.ask("U2")
        assert rig.verdict.count == 0
        assert ends(rig) == []


async def test_c_075_output_without_input_is_no_measure(tmp_path):
    sid = await plant(tmp_path, short.user("u1", "x" * 60_000), answer("a1", "A1"))
    model = Play(say("A2", used(0, 512, 512)))
    async with session(tmp_path, model, session_id=sid, tools=False) as rig:
        await rig.ask("U2")
        assert rig.verdict.count >= 15_000
        assert rig.verdict.basis == "estimated"
        assert "512 output but no input" in rig.verdict.flags[0]


async def test_c_079_three_requests_of_27k_are_ten_per_cent_of_258k(tmp_path):
    sid = await plant(tmp_path, short.user("u1", words(26_000)), answer("a1", "A1"))
    model = Play(*(say(f"A{i}", used(26_900, 100)) for i in range(3)))
    async with session(tmp_path, model, session_id=sid, window=M(290_000, 32_000), tools=False) as rig:
        for text in ("U2", "U3", "U4"):
            await rig.ask(text)
        assert rig.verdict.usable == 258_000
        assert (rig.verdict.count, rig.verdict.percent) == (27_000, 10)


async def test_c_081_costs_never_fall_and_the_compaction_has_its_own_line(tmp_path):
    price = Price(input=1_000.0, output=1_000.0)
    model = Play(say("A1", used(500, 500)), say("A2 " + LONG, used(900, 100)), say("A3", used(50, 50)))
    model.summaries.append(say(SUMMARY, used(200, 100)))
    async with session(tmp_path, model, price=price, tools=False) as rig:
        costs = []

        async def spent():
            [line] = await rig.runtime.store.sessions()
            costs.append(round(line.cost - 0.0, 6))

        await rig.ask("U1")
        await rig.ask("U2")
        await spent()
        await compact(rig)
        await spent()
        await rig.ask("U3")
        await spent()
        await undo(rig)
        await spent()
        title = sum(r.cost or 0 for r in await requests(rig) if r.kind is RequestKind.TITLE)
        assert [round(cost - title, 6) for cost in costs] == [2.0, 2.3, 2.4, 2.4]
        lines = [(row.kind, row.cost) for row in await requests(rig) if row.kind is RequestKind.SUMMARY]
        assert lines == [(RequestKind.SUMMARY, pytest.approx(0.3))]


async def requests(rig):
    return await rig.runtime.store.requests(rig.live.session.id)


async def test_c_082_one_request_is_counted_once_however_many_parts_it_has(tmp_path):
    price = Price(input=1_000.0, output=1_000.0)
    events = [*say("look", used(100, 100))[:1], *call("list", {"path": "."}, used(1_900, 100))]
    async with session(tmp_path, Play(events, say("A1", used(900, 100))), price=price) as rig:
        await rig.ask("U1")
        turns = [row for row in await requests(rig) if row.kind is RequestKind.TURN]
        assert [row.usage.total for row in turns] == [2_000, 1_000]
        assert [row.cost for row in turns] == [pytest.approx(2.0), pytest.approx(1.0)]
        costs = [entry.info.cost for entry in rig.live.entries if not entry.user]
        assert costs == [pytest.approx(2.0), pytest.approx(1.0)]


async def test_c_088_the_number_that_is_shown_is_the_number_that_decided(tmp_path):
    model = Play(real("A1 " + LONG), real("A2"), overflow(tokens=21_000, limit=20_000), real("A3"))
    async with session(tmp_path, model, tools=False) as rig:
        for text in ("U1", "U2", "U3"):
            await rig.ask(text)
        shown = [event.verdict for event in rig.of(e.Context)]
        for row in await requests(rig):
            if row.kind is RequestKind.TURN:
                assert row.verdict in shown


async def test_c_089_within_a_turn_the_count_only_grows_and_is_replaced_at_its_end(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("eight words of four letters and a space\n" * 40)
    steps = []
    for number in range(4):
        events = [used(10, 1), *call("read", {"filePath": "a.txt"}, call_id=f"c{number}")]
        steps.append(real("", events=events))
    async with session(tmp_path, Play(*steps, real("A1"))) as rig:
        await rig.ask("U1")
        counts = [event.verdict.count for event in rig.of(e.Context)]
        assert counts == sorted(counts)
        assert len(set(counts)) >= 5
        assert rig.verdict.basis == "measured"
        assert rig.verdict.count == size(rig.model.sent()[-1]) + 1
        assert reasons(rig) == ["done"]


async def test_c_083_a_running_total_in_every_chunk_is_not_summed(tmp_path):
    events = [used(100, 1), *say("A1")[:1], used(100, 2), used(100, 2), *say("")[-1:]]
    async with session(tmp_path, Play(events), tools=False) as rig:
        await rig.ask("U1")
        assert rig.verdict.count == 102
