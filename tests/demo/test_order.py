"""The order of events (`data.md` 1) over whole sessions: what has started ends, once, in its place."""

import pytest

from qiming_tui.model import events as e
from tests.demo.played import NAMES, played
from tests.session.ordered import order


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
