"""The measuring itself, on sessions so small that it costs nothing. No figure is judged here."""

import math

from tests.bench import decision, storage
from tests.bench.history import session
from tests.bench.measure import Row, table
from tests.bench.stream_server import tokens


def row(ours: tuple[float, ...], floor: tuple[float, ...], most: float = 3.0) -> Row:
    return Row(area="a", name="n", ours=ours, floor=floor, against="x", most=most)


def test_a_ratio_is_taken_pair_by_pair_so_that_a_slow_moment_does_not_decide():
    assert row((2.0, 40.0, 2.2), (1.0, 20.0, 1.0)).ratio == 2.0


def test_only_a_ratio_beyond_its_bound_fails_and_is_marked():
    assert row((3.0,), (1.0,)).good
    bad = row((3.1,), (1.0,))
    assert not bad.good
    assert "3.1 FAILED" in table([bad])


def test_the_decision_is_measured():
    found = decision.rows(1, ((160, 50),))
    assert [line.name for line in found] == [f"160 parts, {kind}" for kind in ("cold", "counted", "warm")]
    assert all(0 < line.ratio < math.inf for line in found)


def test_a_history_has_the_parts_that_it_was_asked_for_and_is_all_live():
    state = session(160)
    assert sum(len(entry.parts) for entry in state.entries) == 160
    desk = decision.Desk(160)
    view, plan = desk.decide()
    assert len(view.live) == len(state.entries)
    assert len(plan.fates) == 60
    assert view.verdict.usable > view.count


def test_the_store_is_measured():
    assert all(0 < line.ratio < math.inf for line in storage.rows(1, 40))


def test_the_big_reply_is_the_one_that_others_were_measured_with():
    assert len(tokens(2000)) + 1 == 24_972
