"""What fills the window: data.md 3 (end) and 4, cases A and D."""

import msgspec
import pytest

from qiming_tui.context.count import account, calibrate, last_measured
from qiming_tui.context.state import Boundary, Measured
from qiming_tui.model.edits import EditKind
from qiming_tui.model.ledger import CalibrationRow
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Klass, Preset, Settings
from tests.context.short import (
    M,
    asks_summary,
    assistant,
    edit,
    in_order,
    item,
    live,
    manifest,
    off,
    state,
    user,
)

OC, QM, GD = Preset.OPENCODE, Preset.QIMING, Preset.GUARDED
GUARDED = Settings()
LIMITS = M(200_000, 8_192)

SYSTEM = item("system:0", 3_000, Klass.SYSTEM)
ASK = item("u1.t", 500, message="u1")
SENT = (SYSTEM, ASK)
CALL = item("r1:call", 80, Klass.ASSISTANT, message="a1")
RESULT = item("r1:result", 2_000, Klass.RESULT, message="a1")
NEXT = item("u2.t", 40, message="u2")
USAGE = Usage(input=3_600, output=100, total=3_700)


def measured(usage=USAGE, sent=SENT, message="a1"):
    return Measured(message_id=message, usage=usage, manifest=None if sent is None else manifest(*sent))


def the(limits=LIMITS, *entries, **more):
    return state(limits, *(entries or (user("u1"), assistant("a1"))), **more)


def test_what_was_measured_is_the_count_while_nothing_changed():
    found = account(the(measured=measured()), (*SENT, CALL), GUARDED)
    assert (found.count, found.basis, found.added, found.removed) == (3_700, Basis.MEASURED, 0, 0)
    assert found.current == found.count
    assert found.words == "3,700 total as reported"


def test_c_008_a_step_is_judged_with_its_tool_results():
    found = account(the(measured=measured()), (*SENT, CALL, RESULT), GUARDED)
    assert (found.count, found.basis, found.added) == (5_700, Basis.PREDICTED, 2_000)
    assert found.words == "3,700 total as reported + ~2,000 added = ~5,700"


@pytest.mark.parametrize("preset", [OC, QM])
def test_under_the_articles_the_measured_total_decides_and_the_rest_is_display(preset):
    found = account(the(measured=measured()), (*SENT, CALL, RESULT, NEXT), Settings(preset=preset))
    assert found.basis is Basis.MEASURED
    assert found.count == 3_700
    assert (found.current, found.current_basis) == (5_740, Basis.PREDICTED)
    assert found.flags == ("3,700 + ~2,040 added = ~5,740 now; it does not decide here",)
    same = account(the(measured=measured()), (*SENT, CALL), Settings(preset=preset))
    assert (same.current, same.flags) == (3_700, ())


def test_the_count_after_edits_is_total_plus_added_minus_removed():
    sent = (SYSTEM, ASK, CALL, RESULT)
    base = measured(Usage(input=5_700, output=50, total=5_750), sent, "a2")
    cleared = item("r1:result", 8, Klass.RESULT, message="a1", value="[Old tool result content cleared]")
    found = account(the(measured=base), (SYSTEM, ASK, CALL, cleared, NEXT), GUARDED)
    assert (found.added, found.removed, found.count) == (40, 1_992, 5_750 + 40 - 1_992)
    assert found.basis is Basis.PREDICTED
    assert found.words.endswith("+ ~40 added - ~1,992 taken out = ~3,798")
    back = account(the(measured=base), sent, GUARDED)
    assert (back.count, back.basis) == (5_750, Basis.MEASURED), "restored: nothing has changed"


def test_a_larger_item_and_a_missing_one_and_a_same_sized_change():
    sent = (SYSTEM, ASK, CALL, RESULT)
    base = measured(sent=sent, message="a2")
    larger = item("system:0", 3_500, Klass.SYSTEM, value="more")
    found = account(the(measured=base), (larger, ASK), GUARDED)
    assert (found.added, found.removed) == (500, 2_080)
    same = item("u1.t", 500, message="u1", value="other words of the same length")
    assert account(the(measured=base), (SYSTEM, same, CALL, RESULT), GUARDED).basis is Basis.PREDICTED


def test_an_unchanged_item_adds_nothing_when_only_the_calibration_has_moved():
    recounted = tuple(msgspec.structs.replace(it, tokens=it.tokens * 2) for it in SENT)
    assert account(the(measured=measured()), recounted, GUARDED).count == 3_700


def test_the_count_is_never_below_zero():
    base = measured(Usage(input=10, output=0, total=10), (item("u0", 10), RESULT))
    assert account(the(measured=base), (item("u0", 10),), GUARDED).count == 0


def test_c_074_without_usage_the_estimate_counts_under_guarded_and_0_under_the_articles():
    items = (*SENT, CALL, RESULT)
    for usage in (Usage(), Usage(total=0)):
        kept = the(measured=measured(usage))
        found = account(kept, items, GUARDED)
        assert (found.count, found.basis) == (5_580, Basis.ESTIMATED)
        assert any("no usage" in flag for flag in found.flags)
        for preset in (OC, QM):
            letter = account(kept, items, Settings(preset=preset))
            assert (letter.count, letter.current, letter.current_basis) == (0, 5_580, Basis.ESTIMATED)
            assert any("~5,580" in flag for flag in letter.flags)


def test_before_the_first_answer_the_estimate_counts_without_a_complaint():
    found = account(the(), SENT, GUARDED)
    assert (found.count, found.basis, found.flags) == (3_500, Basis.ESTIMATED, ())
    assert found.words == "~3,500 by our count of 2 items"


def test_c_075_output_without_input_is_no_measure():
    history = item("u1.t", 15_000, message="u1")
    base = measured(Usage(input=0, output=512, total=512), (history,))
    found = account(the(measured=base), (history, item("a1.t", 512, Klass.ASSISTANT, message="a1")), GUARDED)
    assert found.count == 15_512
    assert any("no input" in flag for flag in found.flags)


def test_c_014_usage_above_the_window_is_flagged_and_the_estimate_counts():
    base = measured(Usage(input=250_000, output=10, total=250_010))
    found = account(the(measured=base), SENT, GUARDED)
    assert (found.count, found.basis) == (3_500, Basis.ESTIMATED)
    assert any("250,000" in flag and "200,000" in flag for flag in found.flags)
    assert account(the(measured=base), SENT, Settings(preset=OC)).count == 250_010, "the articles believe it"


def test_c_014_usage_above_twice_the_estimate_is_flagged():
    at = measured(Usage(input=11_000, output=1, total=11_001))
    assert account(the(measured=at), SENT, GUARDED).count == 11_001
    above = measured(Usage(input=11_001, output=1, total=11_002))
    found = account(the(measured=above), SENT, GUARDED)
    assert found.count == 3_500
    assert any("~3,500" in flag and "~11,000" in flag for flag in found.flags)


def test_c_014_the_window_of_another_model_proves_nothing():
    other = ModelRef("openai", "larger")
    entries = (user("u1"), assistant("a1", model=other))
    sent = (item("u1.t", 150_000, message="u1"),)
    base = measured(Usage(input=150_000, output=10, total=150_010), sent)
    assert account(the(M(125_000, 8_192), *entries, measured=base), sent, GUARDED).count == 150_010
    own = the(M(125_000, 8_192), measured=base)
    assert account(own, sent, GUARDED).basis is Basis.ESTIMATED


def test_c_015_usage_first_and_both_numbers_are_told():
    base = measured(Usage(input=9_000, output=100, total=9_100))
    found = account(the(measured=base), (*SENT, CALL, RESULT), GUARDED)
    assert found.count == 11_100
    assert "9,100" in found.words
    assert "~2,000" in found.words


def test_c_090_a_broken_total_is_flagged_and_counts():
    base = measured(Usage(input=3_600, output=100, total=4_000))
    found = account(the(measured=base), (*SENT, CALL), GUARDED)
    assert found.count == 4_000
    assert any("4,000" in flag and "3,700" in flag for flag in found.flags)


def test_an_imported_answer_has_no_manifest_what_follows_it_was_added():
    items = (*SENT, CALL, RESULT, NEXT)
    found = account(the(measured=measured(sent=None)), items, GUARDED)
    assert (found.count, found.added, found.basis) == (5_740, 2_040, Basis.PREDICTED)
    alone = account(the(measured=measured(sent=None)), (*SENT, CALL), GUARDED)
    assert (alone.count, alone.basis) == (3_700, Basis.MEASURED)


def test_an_imported_answer_is_not_held_against_an_estimate_without_its_system_prompt():
    big = measured(Usage(input=90_000, output=10, total=90_010), None)
    assert account(the(measured=big), SENT, GUARDED).count == 90_010


def test_edits_of_an_imported_session_are_taken_off_while_they_are_active():
    freed = msgspec.structs.replace(edit(1, "p", EditKind.CLEAR, "r1"), tokens_before=2_000, tokens_after=8)
    came = msgspec.structs.replace(freed, id="e0", seq=0, group="i", by="import")
    kept = the(measured=measured(sent=None), edits=(came, freed))
    found = account(kept, (*SENT, CALL), GUARDED)
    assert (found.removed, found.count, found.basis) == (1_992, 1_708, Basis.PREDICTED)
    undone = the(measured=measured(sent=None), edits=(came, freed, off(2, "p")))
    assert account(undone, (*SENT, CALL), GUARDED).count == 3_700


def test_c_007_c_096_the_refusals_numbers_become_the_count():
    kept = the(M(131_072, 8_192), measured=measured(), refused=(412_533, 131_072))
    found = account(kept, (*SENT, CALL, RESULT), GUARDED)
    assert (found.count, found.basis, found.refused) == (412_533, Basis.MEASURED, True)
    assert any("412,533" in flag and "131,072" in flag for flag in found.flags)
    letter = account(kept, (*SENT, CALL, RESULT), Settings(preset=OC))
    assert (letter.count, letter.refused) == (3_700, True)


def test_c_041_after_a_refusal_only_a_smaller_request_is_worth_a_try():
    sent = (*SENT, CALL, RESULT)
    kept = the(refused=(210_000, None), refused_manifest=manifest(*sent))
    assert account(kept, sent, GUARDED).refused
    smaller = account(kept, (*SENT, CALL), GUARDED)
    assert not smaller.refused
    assert (smaller.count, smaller.removed) == (208_000, 2_000)
    assert account(kept, (*sent, NEXT), GUARDED).refused


def test_a_refusal_without_a_number_keeps_the_count():
    found = account(the(measured=measured(), refused=(None, None)), (*SENT, CALL, RESULT), GUARDED)
    assert (found.count, found.refused) == (5_700, True)


def test_c_061_usage_older_than_the_boundary_never_counts():
    tail = (user("u2"), assistant("a2", parent="u2", usage=Usage(input=190_000, output=10)))
    summary = assistant(
        "s", parent="uc", words="so far", summary=True, usage=Usage(input=136_000, output=900)
    )
    stored = in_order(user("u1"), *tail, asks_summary("uc"), summary, user("u3"))
    boundary = Boundary(message_id="uc", summary_id="s", tail_start_id="u2")
    ordered = (*stored[3:5], *stored[1:3], stored[5])
    window = msgspec.structs.replace(live(boundary=boundary), live=ordered)
    assert last_measured(window) is None, "neither the tail's nor the summary's own (fact 102, C-094)"

    fresh = msgspec.structs.replace(assistant("a3", parent="u3", usage=USAGE), seq=9)
    found = last_measured(msgspec.structs.replace(window, live=(*ordered, fresh)))
    assert (found.message_id, found.usage, found.manifest) == ("a3", USAGE, None)


def test_c_079_only_the_newest_request_counts():
    answers = [
        assistant(f"a{n}", usage=Usage(input=27_000 + n, output=0, total=27_000 + n)) for n in range(3)
    ]
    found = last_measured(live(user("u1"), *answers))
    assert (found.message_id, found.usage.total) == ("a2", 27_002)


@pytest.mark.parametrize(
    "newest",
    [
        assistant("x", finish=None, usage=USAGE),
        assistant("x", finish="stop", summary=True, usage=USAGE),
        assistant("x", finish="error", error="APIError", usage=USAGE),
    ],
    ids=["not finished", "a summary", "failed"],
)
def test_an_answer_that_does_not_count_leaves_the_one_before(newest):
    window = live(user("u1"), assistant("a1", usage=Usage(input=7)), newest)
    assert last_measured(window).message_id == "a1"
    assert last_measured(live(user("u1"), newest)) is None


def test_the_newest_answer_counts_even_if_it_reported_nothing():
    found = last_measured(live(user("u1"), assistant("a1", usage=USAGE), assistant("a2", usage=Usage())))
    assert found.message_id == "a2"
    assert found.usage.empty


def learn(row, measured_tokens, predicted, factor=1.0):
    usage = Usage(input=measured_tokens, output=5, total=measured_tokens + 5)
    return calibrate(row, usage=usage, predicted=predicted, factor=factor)


def test_calibration_learns_the_providers_factor_and_settles():
    row = learn(CalibrationRow(model="m"), 13_000, 10_000)
    assert (row.factor, row.samples, row.error) == (1.3, 1, 0.2308)
    for _ in range(20):
        row = learn(row, 13_000, round(10_000 * row.factor), row.factor)
    assert row.factor == pytest.approx(1.3, abs=0.001)
    assert row.error == pytest.approx(0.0, abs=0.005)
    assert row.samples == 21


def test_calibration_moves_slowly_once_it_has_samples_and_stays_in_bounds():
    row = CalibrationRow(model="m", factor=1.0, samples=9)
    assert learn(row, 15_000, 10_000).factor == 1.1
    assert learn(CalibrationRow(model="m"), 1_000, 10_000).factor == 0.5


@pytest.mark.parametrize(
    ("measured_tokens", "predicted"), [(0, 10_000), (400, 10_000), (10_000, 0), (600, 499), (24_001, 10_000)]
)
def test_calibration_learns_nothing_from_what_is_missing_small_or_not_plausible(measured_tokens, predicted):
    row = CalibrationRow(model="m", factor=1.1, samples=3)
    assert learn(row, measured_tokens, predicted) == row
