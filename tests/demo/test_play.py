"""Every scenario, played by the real worker, store, tools and engine: what the model saw and we see."""

import asyncio
import re
from pathlib import Path

import pytest

from qiming_tui.context.assemble import assemble, items_from
from qiming_tui.demo.scenarios import scenario
from qiming_tui.model import events as e
from qiming_tui.model.codec import canonical, decode
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.parts import PLACEHOLDER, Completed
from qiming_tui.model.stream import RequestKind
from tests.demo.played import NAMES, play, played


@pytest.mark.parametrize("name", NAMES)
def test_every_request_of_the_ledger_is_rebuilt_as_the_provider_got_it(name):
    run = played(name)
    assert [row.view_hash for row in run.rows] == [entry.hash for entry in run.sent]
    for row, entry in zip(run.rows, run.sent, strict=True):
        assert canonical(assemble(row.params, items_from(row.manifest, run.blobs))) == entry.body
        assert (row.outcome is Outcome.REFUSED) == entry.refused
        if row.usage is not None:
            assert row.usage.prompt == entry.tokens
            assert row.usage.cache_read == entry.cached


@pytest.mark.parametrize("name", NAMES)
def test_the_sum_of_the_items_is_what_the_provider_counted(name):
    run = played(name)
    for row, entry in zip(run.rows, run.sent, strict=True):
        if name != "bad-estimate":  # there it is the provider that is off
            assert sum(item.tokens for item in row.manifest) == entry.tokens


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_call_did_what_it_should_and_every_reply_was_given(name):
    run = played(name)
    assert [part.tool for part in run.tools if not isinstance(part.state, Completed)] == []
    asked = [call for turn in scenario(name).turns for reply in turn.replies for call in reply.calls]
    if name not in ("storm", "failed-summary"):
        assert [part.tool for part in run.tools] == [call.tool for call in asked]
        assert run.reasons == ["done"] * len(scenario(name).turns)


def test_the_same_scenario_gives_the_same_run(tmp_path):
    """In a folder of the same name: the path of AGENTS.md is told to the model."""
    one = played("grow")
    one.folder.rename(tmp_path / "first")
    one.folder.mkdir()
    two = asyncio.run(play("grow", one.folder))
    one.folder.rename(tmp_path / "second")
    (tmp_path / "first").rename(one.folder)
    assert [entry.body for entry in one.log] == [entry.body for entry in two.log]
    assert one.verdicts == two.verdicts
    assert [row.view_hash for row in one.rows] == [row.view_hash for row in two.rows]
    assert [row.usage for row in one.rows] == [row.usage for row in two.rows]


def test_grow_fills_the_window_is_summarised_once_by_itself_and_goes_on():
    run = played("grow")
    states = [verdict.state.value for verdict in run.verdicts]
    assert states.index("ok") < states.index("near") < states.index("over")
    assert run.compactions == [("finished", "finished")]
    (end,) = run.of(e.CompactionEnded)
    assert end.auto
    assert end.after < end.before / 3
    assert states[-1] == "ok"
    assert run.verdicts[-1].basis.value == "measured"
    assert "infant" in run.files["ferry/fares.py"]
    assert "Infants" in run.files["CHANGES.md"]


def results_of(entry):
    return [m["content"] for m in decode(entry.body)["messages"] if m["role"] == "tool"]


def test_prune_clears_the_oldest_results_in_one_batch_and_keeps_their_text():
    run = played("prune")
    planned, applied = run.of(e.Prune)
    assert (planned.phase, applied.phase) == ("planned", "applied")
    cleared = applied.plan.cleared
    assert len(cleared) == 2
    before, after = (results_of(entry) for entry in run.log[-3:-1])
    assert PLACEHOLDER not in before
    assert after.count(PLACEHOLDER) == len(cleared)
    assert all("import of week" in run.outputs[part] for part in cleared)
    assert run.compactions == []
    assert run.tools[-1].tool == "read"


def test_overflow_is_refused_once_summarised_and_the_unanswered_turn_goes_on():
    run = played("overflow")
    refused = [entry for entry in run.log if entry.refused]
    assert len(refused) == 1
    full = next(verdict for verdict in run.verdicts if verdict.state.value == "full")
    assert full.count == refused[0].tokens < full.usable
    assert run.compactions == [("finished", "finished")]
    assert run.log[-1].tokens < 10_000


def test_input_limit_is_the_bound_less_the_reserve():
    run = played("input-limit")
    assert {verdict.usable for verdict in run.verdicts} == {10_000}
    assert all("13,000 input - 3,000 reserved" in verdict.arithmetic for verdict in run.verdicts)
    assert run.compactions == [("finished", "finished")]


def test_huge_result_reaches_the_window_capped_with_a_pointer_to_the_whole():
    run = played("huge-result")
    bash = next(part for part in run.tools if part.tool == "bash")
    output = bash.state.output
    assert len(output.encode()) < 52_500
    (kept,) = [name for name in run.files if re.search(r"tool-output|prt_", name)]
    assert Path(kept).name in output
    assert run.files[kept].rstrip() == run.files["logs/telemetry.log"].rstrip()
    assert all(verdict.count < verdict.usable for verdict in run.verdicts)
    assert "Found 3 matches" in run.tools[-1].state.output


def test_failed_summary_leaves_the_history_and_the_second_try_works():
    run = played("failed-summary")
    assert run.compactions == [("failed", "blank"), ("finished", "finished")]
    assert run.reasons == ["done", "done", "done", "needs_you", "done"]
    first, second = [decode(entry.body)["messages"] for entry in run.log if entry.kind is RequestKind.SUMMARY]
    assert second[: len(first) - 1] == first[:-1]
    assert any("history stays" in event.message for event in run.of(e.Failed))


def test_storm_stops_after_two_summaries_and_explains():
    run = played("storm")
    assert run.compactions == [("finished", "finished"), ("finished", "finished"), ("skipped", "floor")]
    assert [entry.kind.value for entry in run.log if entry.refused] == ["turn"] * 3
    assert run.reasons[-1] == "needs_you"
    assert "2 compactions in a row" in run.of(e.Failed)[-1].message


def test_zh_is_counted_by_the_tokenizer_and_summarised_in_chinese():
    run = played("zh")
    assert run.compactions == [("finished", "finished")]
    assert "婴儿" in run.files["fares.py"]
    assert "四岁以下" in run.files["变更.md"]
    last = run.log[-1].body.decode()
    assert "港务局" in last
    assert run.log[-1].tokens > len(last) / 8


def test_undo_takes_a_cleared_result_and_a_compaction_back_and_brings_them_again():
    run = played("undo")
    edits = [(event.phase, event.edits[0].kind.value) for event in run.of(e.EditChanged)]
    assert edits == [
        ("applied", "clear"),
        ("undone", "clear"),
        ("redone", "clear"),
        ("applied", "restore"),
        ("applied", "compact"),
        ("undone", "compact"),
        ("redone", "compact"),
    ]
    assert run.of(e.Failed) == []
    (boat,) = [n for n, row in enumerate(run.rows) if row.kind is RequestKind.SUMMARY]
    before, undone, redone = (run.rows[n] for n in (boat - 1, boat + 1, boat + 2))
    keys = [[item.key for item in row.manifest] for row in (before, undone, redone)]
    assert keys[1][: len(keys[0])] == keys[0]
    assert len(keys[2]) < len(keys[0])
    sent = [entry.body.decode() for entry in run.sent]
    assert [sent[n].count(PLACEHOLDER) for n in (boat - 1, boat)] == [2, 1]  # the system prompt names it


def test_pins_are_in_every_request_after_two_compactions_until_they_are_taken_out():
    run = played("pins")
    assert run.compactions == [("finished", "finished")] * 2
    assert run.of(e.Failed) == []
    pinned = [any(item.key.startswith("pin:") for item in row.manifest) for row in run.rows]
    first = pinned.index(True)
    assert pinned[first:] == [True] * (len(pinned) - first - 1) + [False]
    assert "DISCOUNTS" not in run.log[-1].body.decode()


def test_bad_estimate_is_learned_so_that_the_sum_comes_near_what_is_counted():
    run = played("bad-estimate")
    off = [
        entry.tokens / sum(item.tokens for item in row.manifest)
        for row, entry in zip(run.rows, run.sent, strict=True)
    ]
    assert off[0] == pytest.approx(1.35, abs=0.01)
    assert off[-1] == pytest.approx(1.0, abs=0.05)
    assert run.rows[-1].calibration == pytest.approx(1.35, abs=0.07)
    assert run.compactions == []
