"""The difference of two requests, the cache's book and the page of reasons, on small ledgers."""

import msgspec

from qiming_tui.context.cachebook import cachebook
from qiming_tui.context.request_diff import compare
from qiming_tui.context.why_rows import fate_words, question, why_rows
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.limits import Limits, Price
from qiming_tui.model.window import Keep, Klass, PartFate, Preset, PrunePlan, Settings
from tests.context.inspected import SYSTEM, cleared, compacted, item, step

USER = item("u1:0", Klass.USER, 100)
OLD = item("r1:result", Klass.RESULT, 9_000, source="read")
NEW = item("r2:result", Klass.RESULT, 4_000, source="bash")


def edit(kind, at, *targets):
    return Edit(
        id="e", session_id="s", seq=1, group="g", kind=kind, targets=targets, by="prune+summary", at=at
    )


def test_a_request_that_goes_on_breaks_no_cache():
    diff = compare((SYSTEM, USER), (SYSTEM, USER, OLD))
    assert (diff.first, diff.place, diff.same, diff.again) == (None, None, 2_100, 0)
    assert [(row.sign, row.klass, row.after) for row in diff.rows] == [("+", "R", 9_000)]
    assert diff.drivers == (("R read", 9_000),)
    assert diff.grew == 9_000


def test_a_cleared_result_is_a_change_and_the_place_where_the_cache_breaks():
    diff = compare((SYSTEM, OLD, USER), (SYSTEM, cleared(OLD), USER, NEW), {"r1": "T1 read a.py"})
    assert (diff.first, diff.place, diff.same) == ("r1:result", 1, 2_000)
    assert diff.again == 9_100, "the changed item and what stands behind it"
    changed = next(row for row in diff.rows if row.sign == "~")
    assert changed.words == "T1 read a.py (cleared)"
    assert (changed.before, changed.after, diff.grew) == (9_000, 10, -8_990 + 4_000)


def test_what_is_left_out_is_told_and_an_item_in_another_group_breaks_too():
    diff = compare((SYSTEM, USER, OLD), (SYSTEM, USER))
    assert [(row.sign, row.before) for row in diff.rows] == [("-", 9_000)]
    assert diff.first == "r1:result"
    moved = msgspec.structs.replace(USER, group="other")
    assert compare((SYSTEM, USER), (SYSTEM, moved)).place == 1


def test_the_book_sums_what_was_reported_and_names_the_cause_and_price_of_a_break():
    steps = [
        step(1, SYSTEM, USER, OLD),
        step(2, SYSTEM, USER, OLD, NEW, read=11_100),
        step(3, SYSTEM, USER, cleared(OLD), NEW, read=2_100),
    ]
    edits = [edit(EditKind.CLEAR, 2_500, "r1")]
    book = cachebook(steps, edits, Price(3.0, 15.0, 0.3, 3.75))
    assert [line.cause for line in book.steps] == ["", "", "results cleared"]
    assert [line.hit for line in book.steps] == [0, 74, 34]
    assert (book.read, book.new) == (13_200, 11_100 + 4_000 + 4_010)
    assert book.steps[2].again == 13_000
    price = book.steps[2].price
    assert price is not None
    assert abs(price - 1.15 * 13_000 * 3.0 / 1_000_000) < 1e-9
    assert "breaks 1, ~13.0k sent again, ~$0.04" in book.words
    unknown = cachebook(steps, [], None)
    assert unknown.steps[2].cause == "r1:result"
    assert unknown.steps[2].price is None
    assert "$" not in unknown.words


def test_other_models_and_schemas_are_causes():
    other = msgspec.structs.replace(SYSTEM, blob="other")
    steps = [step(1, SYSTEM), step(2, other), step(3, SYSTEM, model="b/other")]
    book = cachebook(steps, [], None)
    assert [line.cause for line in book.steps] == ["", "system changed", "another model: b/other"]


def test_a_step_says_why_nothing_happened_in_whole_numbers():
    settings = Settings(preset=Preset.GUARDED)
    limits = Limits(200_000, None, 32_000)
    held = step(
        7, SYSTEM, item("r:result", Klass.RESULT, 100_000), output=13, settings=settings, limits=limits
    )
    rows = why_rows(held, None, None, [], PrunePlan(fates=(), tokens=0, candidates_tokens=0))
    told = {row.label: row for row in rows if row.label}
    assert question(held, None) == "Why did step 7 not compact?"
    assert told["count"].number == "102,013"
    assert told["usable"].number == "168,000"
    assert told["test"].words == "102,013 >= 168,000 FALSE, 65,987 short"
    assert told["test"].number == "-65,987"
    assert "auto on" in told["guards"].words
    assert told["result"].words == "the next request is not made yet"


def test_a_step_that_compacted_says_so_with_what_it_grew_by_and_what_came_next():
    steps = compacted()
    diff = compare(steps[1].manifest, steps[2].manifest)
    rows = why_rows(steps[2], steps[3], diff, [], None)
    told = {row.label: row for row in rows if row.label}
    assert question(steps[2], steps[3]) == "Why did step 3 compact?"
    assert told["test"].words == "85,100 >= 80,000 TRUE, 5,100 over"
    assert told["grew by"].number == "+~41,450"
    assert ("", "+~41,450", "R bash") in [(row.label, row.number, row.words) for row in rows]
    assert told["result"].words.startswith("summary request, step 4")
    assert question(steps[3], steps[4]) == "What did the summary request of step 4 do?"


def test_prunes_and_their_absence_are_told_and_every_part_has_its_reason():
    one = step(1, SYSTEM, OLD)
    cut = msgspec.structs.replace(edit(EditKind.CLEAR, 1_500, "r1"), tokens_before=9_000, tokens_after=10)
    rows = why_rows(one, step(2, SYSTEM, cleared(OLD)), None, [cut], None)
    assert ("-8,990", "1 result cleared by prune+summary") in [(row.number, row.words) for row in rows]
    fates = (PartFate(part_id="r1", tool="read", tokens=9_000, reason=Keep.BELOW_MINIMUM),)
    plan = PrunePlan(fates=fates, tokens=0, candidates_tokens=9_000)
    rows = why_rows(one, None, None, [], plan)
    assert "nothing: candidates hold ~9,000, not more than the minimum" in [row.words for row in rows]
    assert fate_words(fates[0]) == "keep: clearing all candidates would free too little"
    assert fate_words(msgspec.structs.replace(fates[0], reason=None)) == "clear"
