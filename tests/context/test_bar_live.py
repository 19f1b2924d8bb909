"""What the bar is told beside the built request: cache and its break, price, growth, what came since."""

from itertools import pairwise

import msgspec
import pytest

from qiming_tui.context.assemble import manifest
from qiming_tui.context.bar_live import (
    answered_of,
    break_at,
    cleared_of,
    cost_next,
    growth_of,
    live_of,
    measured_of,
)
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.limits import ModelRef, Price
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import RequestParams, Settings
from tests.context.make import MODEL, assistant, state, tool, user
from tests.tui.strips import marks, row

LONG = "a result of many words " * 400


def viewed(*entries):
    return build(state(*entries), Settings(), Tally())


def talk(**fields):
    part = tool("a1", "r1", fields.pop("output", LONG), **fields)
    return user("u1", "hi"), assistant("a1", part), user("u2", "and now?"), assistant("a2", "this")


def sent(view, step=2, **fields):
    """A ledger row of a request that was this view."""
    fields = {"params": RequestParams(model=MODEL), "manifest": manifest(view.items), **fields}
    return row(step, 4_000, message_id="a2", **fields)


def test_a_request_that_only_goes_on_breaks_nothing():
    before = viewed(*talk()[:3])
    assert break_at(viewed(*talk()), sent(before)) is None
    assert break_at(viewed(*talk()), None) is None
    assert break_at(viewed(*talk()), sent(before, manifest=())) is None


def test_the_cache_breaks_at_the_first_item_that_is_sent_differently():
    before, after = viewed(*talk()), viewed(*talk(compacted=5))
    at = break_at(after, sent(before))
    place = next(n for n, item in enumerate(after.items) if item.key == "r1:result")
    assert at == sum(item.tokens for item in after.items[:place])
    assert 0 < at < after.total


def test_another_model_and_a_shorter_request_break_it_too():
    view = viewed(*talk())
    other = RequestParams(model=ModelRef("openai", "other"))
    assert break_at(view, sent(view, params=other)) == 0
    short = viewed(*talk()[:2])
    assert break_at(short, sent(view)) == short.total


def test_what_is_measured_is_newer_than_the_boundary_and_part_of_the_window():
    view = viewed(*talk())
    used = Usage(input=3_900, output=100, cache_read=1_000)
    rows = [sent(view, usage=used), row(3, 9, kind=RequestKind.TITLE, usage=used)]
    assert measured_of(rows, view) is rows[0]
    assert answered_of([*rows, row(4, 9, outcome=Outcome.ERROR)]) is rows[0]
    boundary = row(3, 9, kind=RequestKind.SUMMARY, message_id="a2")
    assert measured_of([rows[0], boundary], view) is None
    assert measured_of([sent(view)], view) is None
    gone = msgspec.structs.replace(rows[0], message_id="elsewhere")
    assert measured_of([gone], view) is None


def with_verdict(view, **fields):
    verdict = msgspec.structs.replace(view.verdict, **fields)
    return msgspec.structs.replace(view, count=verdict.count, verdict=verdict)


def test_everything_together():
    view = with_verdict(viewed(*talk()), count=5_600, basis=Basis.PREDICTED)
    before = sent(view, usage=Usage(input=3_900, output=100, cache_read=1_000))
    live = live_of(view, [before], before=before, growth=70, price=None)
    assert (live.step, live.since, live.growth, live.cost_next) == (2, 600, 70, None)
    assert live.cached == min(1_000, view.total)
    refused = with_verdict(view, refused=True)
    told = live_of(refused, [before], before=before, growth=None, price=None)
    assert (told.step, told.since) == (None, 0)
    guess = with_verdict(view, basis=Basis.ESTIMATED)
    assert live_of(guess, [before], before=before, growth=None, price=None).step is None


@pytest.mark.parametrize(("cached", "dollars"), [(0, 0.0215), (5_000, 0.0125), (9_000, 0.0053)])
def test_the_next_request_costs_what_is_new_what_is_cached_and_an_answer_like_the_last(cached, dollars):
    view = with_verdict(viewed(*talk()), count=10_000)
    rows = [sent(view, step, usage=Usage(input=1, output=output)) for step, output in ((1, 900), (2, 100))]
    price = Price(input=2.0, output=3.0, cache_read=0.2)
    assert cost_next(view, rows, price, cached=cached) == pytest.approx(dollars, abs=1e-9)
    assert cost_next(view, rows, None, cached=0) is None


def test_growth_is_the_median_of_the_last_turns_of_the_live_window():
    found = [mark for mark in marks() if mark.live and not mark.summary]
    ends = [[m.count for m in found if m.turn == turn][-1] for turn in sorted({m.turn for m in found})]
    grown = sorted(b - a for a, b in pairwise(ends) if b > a)
    assert growth_of(marks()) in grown
    assert growth_of(marks()[:1]) is None
    assert growth_of([]) is None


def test_what_is_cleared_is_weighed_by_what_it_was():
    entries = talk(compacted=5)
    parts = {part.id: part for entry in entries for part in entry.parts}
    assert cleared_of(viewed(*entries), parts) > 1_000
    assert cleared_of(viewed(*talk()), parts) == 0
