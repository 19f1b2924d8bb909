"""What a prune clears and why the rest stays: conformance 1.6 and 2.3, data.md 4, cases B."""

import msgspec
import pytest

from qiming_tui.context.prune import plan
from qiming_tui.context.state import Boundary, Pin, WindowEdits
from qiming_tui.context.tokens import Tally, estimate
from qiming_tui.model.parts import PLACEHOLDER
from qiming_tui.model.window import Keep, Preset, Settings
from tests.context.short import asks_summary, assistant, failed, in_order, learnt, live, running, tool, user

OC, QM, GD = Preset.OPENCODE, Preset.QIMING, Preset.GUARDED
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def result(tokens, letter="x"):
    """A text of so many tokens, both by the quarter rule and for `known`."""
    return letter * (4 * tokens)


def known(*texts, calibration=1.0):
    """A tally that counts a quarter of each text."""
    return learnt({text: estimate(text) for text in (*texts, PLACEHOLDER)}, calibration)


def turn(number, *parts):
    """A user message and an answer with these tool parts."""
    return user(f"u{number}", f"question {number}"), assistant(f"a{number}", *parts, parent=f"u{number}")


def reasons(found):
    return {fate.part_id: fate.reason for fate in found.fates}


def three_turns(*parts):
    return live(*turn(1, *parts), *turn(2), *turn(3))


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_16_an_old_large_result_is_cleared(preset):
    output = "x" * 200_000
    found = plan(three_turns(tool("r1", output)), Settings(preset=preset), known(output))
    assert found.cleared == ("r1",)
    assert found.tokens == found.candidates_tokens == 50_000


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_17_a_protected_tool_is_never_cleared(preset):
    output = "x" * 200_000
    found = plan(three_turns(tool("r1", output, name="skill")), Settings(preset=preset), known(output))
    assert found.cleared == ()
    assert reasons(found) == {"r1": Keep.PROTECTED_TOOL}
    chosen = Settings(preset=preset, protected_tools=("bash",))
    assert reasons(plan(three_turns(tool("r1", output)), chosen, known(output))) == {
        "r1": Keep.PROTECTED_TOOL
    }


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_18_c_021_prune_is_on_by_default_and_off_does_nothing(preset):
    window, tally = three_turns(tool("r1", "x" * 200_000)), known("x" * 200_000)
    assert plan(window, Settings(preset=preset), tally).cleared == ("r1",)
    found = plan(window, Settings(preset=preset, prune=False), tally)
    assert (found.fates, found.tokens, found.candidates_tokens) == ((), 0, 0)


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_19_c_024_the_last_two_turns_never_count(preset):
    output = result(100_000)
    window = live(*turn(1, tool("r1", output)), *turn(2, tool("r2", output)), *turn(3, tool("r3", output)))
    found = plan(window, Settings(preset=preset), known(output))
    assert found.cleared == ("r1",)
    assert reasons(found) == {"r3": Keep.PROTECTED_TURN, "r2": Keep.PROTECTED_TURN, "r1": None}
    two = live(*turn(1, tool("r1", output)), *turn(2, tool("r2", output)))
    assert plan(two, Settings(preset=preset), known(output)).cleared == ()


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_20_the_lines_of_40_000_and_20_000_are_exclusive(preset):
    def cleared(*sizes):
        texts = [result(size, LETTERS[place]) for place, size in enumerate(sizes)]
        parts = [tool(f"r{place}", text) for place, text in enumerate(texts)]
        return plan(three_turns(*parts), Settings(preset=preset), known(*texts))

    assert cleared(40_000).cleared == ()
    assert reasons(cleared(40_000)) == {"r0": Keep.WITHIN_PROTECT}
    assert cleared(40_001).cleared == ("r0",)
    exactly = cleared(20_000, 40_000)
    assert (exactly.cleared, exactly.tokens, exactly.candidates_tokens) == ((), 0, 20_000)
    assert reasons(exactly) == {"r1": Keep.WITHIN_PROTECT, "r0": Keep.BELOW_MINIMUM}
    more = cleared(20_001, 40_000)
    assert (more.cleared, more.tokens) == (("r0",), 20_001)


def summarised(*parts):
    """A compaction whose summary is followed by enough turns to reach it."""
    kept = in_order(
        asks_summary("uc"),
        assistant("s", parent="uc", words="all of it", summary=True),
        *turn(1, *parts),
        *turn(2),
        *turn(3),
    )
    return live(*kept, boundary=Boundary(message_id="uc", summary_id="s"))


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_21_the_walk_stops_at_a_summary(preset):
    output = result(100_000)
    old = tool("r0", output)
    window = summarised(tool("r1", output))
    before = (assistant("a0", old), *window.live)
    found = plan(msgspec.structs.replace(window, live=before), Settings(preset=preset), known(output))
    assert found.cleared == ("r1",)
    assert reasons(found)["r0"] is Keep.BEFORE_BOUNDARY


def test_a_failed_summary_stops_the_articles_walk_but_not_ours():
    output = result(100_000)
    failed_summary = assistant("s", parent="uc", summary=True, finish="error", error="APIError")
    window = live(*turn(1, tool("r1", output)), asks_summary("uc"), failed_summary, *turn(2), *turn(3))
    assert plan(window, Settings(preset=OC), known(output)).cleared == ()
    assert plan(window, Settings(preset=GD), known(output)).cleared == ("r1",)


def test_fact_21_a_cleared_part_stops_the_articles_walk_and_is_skipped_by_ours():
    output = result(100_000)
    parts = (tool("r1", output), tool("r2", output, cleared=True), tool("r3", output))
    window = three_turns(*parts)
    for preset in (OC, QM):
        found = plan(window, Settings(preset=preset), known(output))
        assert found.cleared == ("r3",)
        assert reasons(found)["r1"] is Keep.ALREADY_CLEARED
    found = plan(window, Settings(preset=GD), known(output))
    assert found.cleared == ("r1", "r3")
    assert reasons(found)["r2"] is Keep.ALREADY_CLEARED


@pytest.mark.parametrize("preset", list(Preset))
def test_fact_22_ten_reads_of_which_the_five_oldest_go(preset):
    texts = [result(7_860, LETTERS[place]) for place in range(10)]
    reads = [tool(f"r{place}", text, name="read") for place, text in enumerate(texts)]
    after_two = plan(live(*turn(1, *reads), *turn(2)), Settings(preset=preset), known(*texts))
    assert after_two.cleared == ()
    found = plan(live(*turn(1, *reads), *turn(2), *turn(3)), Settings(preset=preset), known(*texts))
    assert found.cleared == ("r0", "r1", "r2", "r3", "r4")
    assert [fate.part_id for fate in found.fates if fate.reason is None] == ["r4", "r3", "r2", "r1", "r0"]
    assert found.tokens == 5 * 7_860


def test_turns_are_a_persons_own_messages_under_guarded_and_all_under_the_articles():
    output = result(100_000)
    window = live(*turn(1, tool("r1", output)), user("k", "Continue", synthetic=True), *turn(2))
    assert plan(window, Settings(preset=OC), known(output)).cleared == ("r1",)
    found = plan(window, Settings(preset=GD), known(output))
    assert reasons(found) == {"r1": Keep.PROTECTED_TURN}


def test_a_request_for_a_summary_is_no_turn_under_guarded():
    output = result(100_000)
    window = live(*turn(1, tool("r1", output)), asks_summary("uc"), *turn(2))
    assert plan(window, Settings(preset=QM), known(output)).cleared == ("r1",)
    assert plan(window, Settings(preset=GD), known(output)).cleared == ()


def test_parts_of_the_tail_are_walked_in_the_order_of_the_request():
    """The tail is older than its summary, yet stands after it in the request."""
    texts = [result(41_000, "a"), result(41_000, "b")]
    tail = turn(1, tool("r1", texts[0]))
    summary = (asks_summary("uc"), assistant("s", parent="uc", words="so far", summary=True))
    stored = in_order(*tail, *summary, *turn(2, tool("r2", texts[1])), *turn(3), *turn(4))
    ordered = (*stored[2:4], *stored[:2], *stored[4:])
    window = msgspec.structs.replace(live(boundary=Boundary(message_id="uc", summary_id="s")), live=ordered)
    found = plan(window, Settings(), known(*texts))
    assert found.cleared == ("r1", "r2")


def test_c_022_a_part_smaller_than_its_placeholder_stays_under_guarded():
    big = result(100_000)
    window = three_turns(tool("ok", "ok"), tool("r1", big))
    found = plan(window, Settings(), known(big, "ok"))
    assert found.cleared == ("r1",)
    assert reasons(found)["ok"] is Keep.SMALLER_THAN_PLACEHOLDER
    assert found.tokens == 100_000, "it does not count towards the minimum"
    assert plan(window, Settings(preset=OC), known(big, "ok")).cleared == ("ok", "r1")


def test_c_022_many_small_parts_do_not_reach_the_minimum():
    texts = [f"ok {place}" for place in range(40)]
    parts = [tool(f"r{place}", text) for place, text in enumerate(texts)]
    found = plan(three_turns(*parts), Settings(protect=0, minimum=10), known(*texts))
    assert (found.cleared, found.candidates_tokens) == ((), 0)


def test_c_032_a_small_result_with_an_image_is_cleared_for_its_image():
    big = result(100_000)
    window = three_turns(tool("shot", "ok", images=1), tool("r1", big))
    assert plan(window, Settings(), known(big, "ok")).cleared == ("shot", "r1")


def test_guarded_counts_by_the_tokenizer_and_its_calibration():
    output = "x" * 4_000
    window = three_turns(tool("r1", output))
    exact = learnt({output: 50_000, PLACEHOLDER: 8})
    found = plan(window, Settings(), exact)
    assert (found.cleared, found.tokens) == (("r1",), 50_000)
    assert plan(window, Settings(preset=OC), exact).cleared == (), "1,000 by the quarter rule"
    assert plan(window, Settings(), learnt({output: 50_000, PLACEHOLDER: 8}, 0.7)).cleared == ()


def test_guarded_asks_for_the_counts_it_does_not_have():
    tally = Tally()
    plan(three_turns(tool("r1", result(100_000))), Settings(), tally)
    assert set(tally.missing.values()) == {result(100_000), PLACEHOLDER}
    untouched = Tally()
    plan(three_turns(tool("r1", result(100_000))), Settings(preset=OC), untouched)
    assert untouched.exact


@pytest.mark.parametrize("preset", list(Preset))
@pytest.mark.parametrize("target", ["r1", "a1"])
def test_c_030_pinned_parts_and_messages_stay(preset, target):
    output = result(100_000)
    edits = WindowEdits(pins=(Pin(target=target, text="x", source="read"),))
    window = live(*turn(1, tool("r1", output)), *turn(2), *turn(3), edits=edits)
    assert reasons(plan(window, Settings(preset=preset), known(output))) == {"r1": Keep.PINNED}


@pytest.mark.parametrize("preset", list(Preset))
def test_c_030_restored_parts_stay(preset):
    output = result(100_000)
    edits = WindowEdits(restored=frozenset({"r1"}), touched=frozenset({"r1"}))
    window = live(*turn(1, tool("r1", output, cleared=True)), *turn(2), *turn(3), edits=edits)
    assert reasons(plan(window, Settings(preset=preset), known(output))) == {"r1": Keep.RESTORED}


@pytest.mark.parametrize("preset", list(Preset))
def test_c_030_parts_before_the_boundary_are_listed_and_never_cleared(preset):
    output = result(100_000)
    old = assistant("a0", tool("r0", output), running("r00"))
    window = msgspec.structs.replace(summarised(tool("r1", output)), archived=("a0",))
    entries = (old, *window.live)
    found = plan(window, Settings(preset=preset), known(output), entries=entries)
    assert found.cleared == ("r1",)
    assert [(f.part_id, f.reason) for f in found.fates[-2:]] == [
        ("r00", Keep.BEFORE_BOUNDARY),
        ("r0", Keep.BEFORE_BOUNDARY),
    ]
    assert "r0" not in reasons(plan(window, Settings(preset=preset), known(output)))


@pytest.mark.parametrize("preset", list(Preset))
def test_parts_that_did_not_complete_are_kept_and_do_not_count(preset):
    output = result(100_000)
    window = three_turns(tool("r1", output), running("r2"), failed("r3"))
    found = plan(window, Settings(preset=preset), known(output))
    assert reasons(found) == {"r3": Keep.NOT_COMPLETED, "r2": Keep.NOT_COMPLETED, "r1": None}


def test_a_result_left_in_the_store_counts_by_its_size():
    window = three_turns(tool("r1", units=200_000), tool("r2", units=40_000, cleared=True))
    found = plan(window, Settings(), Tally())
    assert {fate.part_id: fate.tokens for fate in found.fates} == {"r1": 50_000, "r2": 10_000}
    assert found.cleared == ("r1",)


def test_every_tool_part_has_one_fate_newest_first():
    texts = [result(30_000, letter) for letter in "abc"]
    window = live(
        *turn(1, tool("r1", texts[0]), running("r2")),
        *turn(2, tool("r3", texts[1])),
        *turn(3, failed("r4"), tool("r5", texts[2])),
    )
    found = plan(window, Settings(), known(*texts))
    assert [fate.part_id for fate in found.fates] == ["r5", "r4", "r3", "r2", "r1"]
    assert all(fate.reason is None or fate.reason.sentence for fate in found.fates)


def test_an_empty_window_has_nothing_to_prune():
    assert plan(live(), Settings(), Tally()).fates == ()
