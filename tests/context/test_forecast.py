"""How long the window lasts, by what was seen; how far our count is off."""

import msgspec

from qiming_tui.context.assemble import manifest
from qiming_tui.context.budget import bound, verdict
from qiming_tui.context.forecast import forecast, promise, trust
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.ledger import CalibrationRow, Outcome, RequestRow, Times
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Settings
from tests.context.make import LIMITS, assistant, state, user

TALK = (user("u1", "x" * 3_000), *(assistant(f"a{n}", "hm", total=50_000 + n) for n in range(1, 9)))
VIEW = build(state(*TALK), Settings(), Tally())
USABLE = bound(LIMITS, Settings()).usable


def row(step, count, **more):
    judged = verdict(
        settings=Settings(), limits=LIMITS, count=more.pop("predicted", count), basis=Basis.PREDICTED
    )
    fields = {
        "id": f"r{step}",
        "session_id": "s",
        "message_id": f"a{step}",
        "step": step,
        "seq": step,
        "kind": RequestKind.TURN,
        "model": "m",
        "limits": LIMITS,
        "preset": "guarded",
        "policy": "",
        "reserved": None,
        "tokenizer": "",
        "calibration": 1.0,
        "manifest": (),
        "params": VIEW.params,
        "view_hash": "",
        "prefix_hash": "",
        "verdict": judged,
        "usage": Usage(input=count, output=0),
        "outcome": Outcome.OK,
        "times": Times(queued=0),
    }
    return RequestRow(**(fields | more))


def test_the_median_of_what_requests_added_says_how_many_are_left_the_quartiles_give_the_band():
    sizes = [10_000, 14_000, 17_000, 22_000, 26_000, 36_000]
    found = forecast(VIEW, [row(n, size) for n, size in enumerate(sizes, 1)], turn=20_000)
    left = USABLE - VIEW.verdict.count
    assert (found.left, found.step) == (left, 4_000)
    assert found.requests == left // 4_000
    low, high = found.band
    assert low < found.requests < high
    assert found.turns == left // 20_000
    assert found.words.endswith(f"at ~4.0k each, about {left // 20_000} turns")
    assert f"full in about {found.requests} requests ({low}-{high})" in found.words


def test_growth_before_a_boundary_of_other_requests_and_of_refused_ones_does_not_count():
    rows = [
        row(1, 10_000),
        row(2, 90_000),
        row(3, 95_000, kind=RequestKind.SUMMARY, message_id="a3"),
        row(4, 20_000),
        row(5, 20_500, outcome=Outcome.REFUSED),
        row(6, 21_000),
        row(7, 70_000, message_id="hidden"),
    ]
    found = forecast(VIEW, rows, turn=None)
    assert (found.step, found.band, found.turns) == (1_000, None, None)
    assert forecast(VIEW, rows[:1], turn=None).words.endswith("left; no growth seen yet")
    blind = build(state(*TALK, limits=type(LIMITS)(0, None, 0)), Settings(), Tally())
    assert forecast(blind, rows, turn=1).words == "window unknown: nothing to forecast"


def test_drift_has_its_sign_and_the_calibration_its_band():
    rows = manifest(VIEW.items)
    ours = sum(each.tokens for each in rows)
    learned = CalibrationRow(model="m", factor=1.08, samples=12, error=0.032)
    found = trust(row(1, ours + 30, manifest=rows), learned)
    assert found.drift == 30
    assert found.band(1_000) == (968, 1_032)
    assert found.words.startswith("drift +30 (+")
    assert found.words.endswith("calibration x1.08, off by 3.2% on average over 12 requests")
    assert (
        trust(None, CalibrationRow(model="m")).words == "drift unknown: nothing measured; not calibrated yet"
    )


def test_the_size_after_a_boundary_is_held_against_the_next_measured_one():
    summary = row(3, 95_000, kind=RequestKind.SUMMARY, message_id="s1")
    rows = [row(2, 90_000), summary, row(4, 24_300, predicted=23_900), row(5, 30_000)]
    found = promise(rows, "s1")
    assert (found.step, found.predicted, found.measured, found.error) == (4, 23_900, 24_300, 400)
    assert found.words == "measured 24.3k at step 4, predicted ~23.9k (+0.4k, +1.7%)"
    unanswered = msgspec.structs.replace(rows[2], usage=None)
    assert promise([rows[0], summary, unanswered], "s1") is None
    assert promise(rows, "s9") is None
