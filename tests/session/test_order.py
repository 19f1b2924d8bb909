"""The order of events (`data.md` 1) over whole sessions: what has started ends, once, in its place."""

import asyncio

import pytest

from qiming_tui.demo.scenarios import BUILDERS
from qiming_tui.model import events as e
from qiming_tui.model.stream import TextDelta
from tests.session.harness import Model, session
from tests.session.ordered import order
from tests.session.played import played

NAMES = list(BUILDERS)


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_is_in_order(name):
    run = played(name)
    assert order(run.events) == []
    assert isinstance(run.events[-1], e.Idle)
    turns = [event for event in run.events if isinstance(event, e.TurnStarted)]
    ends = [event for event in run.events if isinstance(event, e.TurnFinished)]
    assert len(turns) == len(ends) > 0
    assert all(event.session == run.session for event in run.events)


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_told_after_every_step(name):
    events = played(name).events
    for place, event in enumerate(events):
        if isinstance(event, e.StepFinished):
            later = [type(other) for other in events[place + 1 :]]
            stop = later.index(e.TurnFinished)
            following = later.index(e.StepStarted) if e.StepStarted in later else stop
            assert e.Context in later[: min(stop, following)]


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_the_sum_of_their_deltas(name):
    texts = {}
    for event in played(name).events:
        match event:
            case e.PartStarted(part=part):
                texts[part.id] = getattr(part, "text", None)
            case e.PartDelta(part_id=part_id, text=text):
                texts[part_id] += text
            case e.PartFinished(part=part) if texts.get(part.id) is not None:
                assert part.text == texts[part.id]


async def test_a_state_is_told_after_the_store_has_it(tmp_path):
    """Whoever reads the store at the moment of an event finds what the event says."""
    stored, told = [], []
    async with session(tmp_path, Model([TextDelta("hel"), TextDelta("lo")])) as rig:
        apply = rig.runtime.store.apply

        async def noted(changes):
            await apply(changes)
            stored.extend(changes)

        rig.runtime.store.apply = noted

        def listen(event):
            match event:
                case e.PartFinished(part=part):
                    told.append(any(getattr(change, "part", None) == part for change in stored))
                case e.MessageUpdated(info=info):
                    told.append(any(getattr(change, "message", None) == info for change in stored))

        rig.worker.ctx.bus.listen(listen)
        await rig.ask("say hello")
    assert told
    assert all(told)


async def test_nothing_is_told_after_the_end(tmp_path):
    async with session(tmp_path, Model()) as rig:
        await rig.ask("hello")
        await rig.worker.close()
        count = len(rig.events)
        await asyncio.sleep(0)
        assert len(rig.events) == count
