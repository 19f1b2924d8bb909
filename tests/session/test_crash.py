"""`kill -9` of a real process at any moment: nothing is lost but the unfinished delta (C-068, C-111)."""

import random

import pytest

from qiming_tui.model import events as e
from qiming_tui.model.messages import UserMessage
from qiming_tui.model.parts import Completed, Failed, TextPart, ToolPart
from qiming_tui.model.stream import RequestKind
from tests.session.harness import Model, limits, session
from tests.session.killing import Death, Victims
from tests.session.ordered import boundaries, order, settled
from tests.session.test_abort import Titled, goes_on, stories

SEED = 20_261_130
RUNS = 30


@pytest.fixture(scope="module")
def victims():
    process = Victims()
    yield process
    process.close()


async def nothing_is_lost(folder, death, **options):
    """Open what a dead process has left, and go on; returns the session's rig's events and its record."""
    async with session(folder, Titled(), session_id=death.session, seed=2, **options) as rig:
        store = rig.runtime.store
        assert await settled(store, death.session) == []
        record = await store.load(death.session)
        assert boundaries(record) == []
        parts = {part.id: part for entry in record.entries for part in entry.parts}
        for part_id, text in texts(death).items():
            if part_id in parts:
                assert text.startswith(parts[part_id].text), (
                    "what was told is what is stored, or its beginning"
                )
        shown = {event.part.id for event in death.of(e.PartFinished)}
        summaries = summary_texts(death)
        assert shown - summaries <= set(parts), "what was told as finished is stored"
        for event in death.of(e.PartFinished):
            if isinstance(event.part, ToolPart):
                assert parts[event.part.id].state.__class__ is event.part.state.__class__
        queued = [item.text for item in record.queue]
        begun = [entry.text for entry in record.entries if getattr(entry.info, "queued_id", None)]
        accepted = list(death.queued.values())
        assert (begun + queued)[: len(accepted)] == accepted, "accepted once: said once, or still waiting"
        assert order([*death.events, *rig.events], crash=len(death.events)) == []
        recovered = list(rig.events)
        await goes_on(rig, waiting=queued, told=death.events)
        return recovered, record


def texts(death):
    """Text parts as they were told, by id."""
    told = {}
    for event in death.events:
        if isinstance(event, e.PartStarted) and isinstance(event.part, TextPart):
            told[event.part.id] = ""
        elif isinstance(event, e.PartDelta) and event.part_id in told:
            told[event.part_id] += event.text
    return told


def summary_texts(death):
    """Ids of the texts of summaries: they are stored only when they are whole."""
    inside, found = False, set()
    for event in death.events:
        if isinstance(event, (e.CompactionStarted, e.CompactionEnded)):
            inside = isinstance(event, e.CompactionStarted)
        elif isinstance(event, e.PartStarted) and inside:
            found.add(event.part.id)
    return found


async def test_killed_in_the_middle_of_a_stream(tmp_path, victims):
    def half(_, kind, value):
        return isinstance(value, e.PartDelta) and value.text == "sentence"

    death = Death(victims.start(tmp_path, "stream", "first", "second"), half)
    recovered, record = await nothing_is_lost(tmp_path, death)
    assert [item.text for item in record.queue] == ["second"]
    answer = record.entries[-1]
    assert answer.info.error.name == "MessageAbortedError"
    assert "half a sentence".startswith(answer.text)
    assert [type(event) for event in recovered][-2:] == [e.StepFinished, e.TurnFinished]
    assert {getattr(event, "reason", getattr(event, "finish", "")) for event in recovered[-2:]} == {
        "interrupted"
    }


async def test_c_111_killed_in_a_running_tool(tmp_path, victims):
    def running(_, kind, value):
        return isinstance(value, e.PartUpdated)

    death = Death(victims.start(tmp_path, "tool", "wait"), running)
    recovered, record = await nothing_is_lost(tmp_path, death)
    (call,) = [part for part in record.entries[-1].parts if isinstance(part, ToolPart)]
    assert isinstance(call.state, Failed)
    assert call.state.metadata["interrupted"] is True
    assert [event.part.id for event in recovered if isinstance(event, e.PartFinished)] == [call.id]


async def test_c_068_killed_in_a_summary(tmp_path, victims):
    def summing(_, kind, value):
        return isinstance(value, e.PartDelta) and value.text == "## Goal"

    death = Death(victims.start(tmp_path, "summary", "first", "second"), summing)
    recovered, record = await nothing_is_lost(tmp_path, death)
    assert [attempt.end for attempt in record.attempts] == ["interrupted"]
    assert not any(entry.compaction for entry in record.entries)
    (end,) = [event for event in recovered if isinstance(event, e.CompactionEnded)]
    assert (end.phase, end.reason) == ("failed", "interrupted")
    assert summary_texts(death) == {event.part.id for event in recovered if isinstance(event, e.PartFinished)}


def moments() -> list[tuple[str, int]]:
    """Where the thirty die: (story, look at the clock)."""
    chance = random.Random(SEED)
    names = sorted(stories())
    stories_ = [names[run % len(names)] for run in range(RUNS)]
    return [(story, chance.randint(15, 110 if story == "retry" else 135)) for story in stories_]


@pytest.mark.parametrize(("story", "place"), moments())
async def test_killed_at_a_random_moment(tmp_path, victims, story, place):
    options = {name: value for name, value in stories()[story][2].items() if name == "window"}
    lines = victims.start(tmp_path, story, "turn one", "turn two", "turn three", ticks=place)
    death = Death(lines)
    assert death.session
    assert not death.of(e.Idle), "it died at work"
    await nothing_is_lost(tmp_path, death, **options)


async def test_killed_twice_in_a_row(tmp_path, victims):
    first = Death(victims.start(tmp_path, "tools", "turn one", "turn two", ticks=90))
    # Ids are made of the seed and the clock: each process needs a seed of its own.
    second = Death(victims.start(tmp_path, "tools", "turn three", session=first.session, seed=3, ticks=70))
    assert second.session == first.session
    async with session(tmp_path, Model(), session_id=first.session, seed=2, window=limits(20_000)) as rig:
        assert await settled(rig.runtime.store, first.session) == []
        record = await rig.runtime.store.load(first.session)
        spoken = [entry.text for entry in record.entries if isinstance(entry.info, UserMessage)]
        assert [*spoken, *(item.text for item in record.queue)] == ["turn one", "turn two", "turn three"]
        rows = await rig.runtime.store.requests(first.session)
        assert len({row.step for row in rows if row.kind is RequestKind.TURN}) == len(
            [row for row in rows if row.kind is RequestKind.TURN]
        )
        done = [p for entry in record.entries for p in entry.parts if isinstance(p, ToolPart)]
        assert all(isinstance(part.state, (Completed, Failed)) for part in done)
