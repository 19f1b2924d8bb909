"""The one rule (`design.md` 3), for every step of every scenario: what the bar shows, what `/context` prints,
what `qiming inspect request --session` says and what the provider logged: the same items, hash and verdict.
"""

from collections import Counter
from functools import cache

import msgspec
import pytest

from qiming_tui.cli.inspect_budget import answer
from qiming_tui.context.assemble import assemble, items_from, manifest
from qiming_tui.context.bar import live_state
from qiming_tui.context.report import NAMES as CLASSES
from qiming_tui.model.codec import canonical, decode
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.stream import RequestKind
from tests.cli.runner import call
from tests.demo.played import NAMES, played


@cache
def inspected(name, step):
    """What the command says."""
    run = played(name)
    args = ("--session", run.session, "--step", str(step), "--store", str(run.store))
    return call("inspect", "request", *args, "--json").json


def steps(name):
    """The requests of turns: the row, what the provider logged, and the screen at that moment."""
    run = played(name)
    pairs = zip(run.rows, run.sent, strict=True)
    found = [(row, entry, run.frames[row.step]) for row, entry in pairs if row.kind is RequestKind.TURN]
    assert found
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_items_are_the_same(name):
    for row, entry, frame in steps(name):
        shown = manifest(frame.view.items)
        assert tuple(shown) == row.manifest
        said = inspected(name, row.step)["items"]
        assert [(i["key"], i["blob"], i["klass"], i["state"], i["tokens"]) for i in said] == [
            (i.key, i.blob, i.klass.value, i.state.value, i.tokens) for i in row.manifest
        ]
        blobs = played(name).blobs
        assert canonical(assemble(row.params, items_from(row.manifest, blobs))) == entry.body
        assert inspected(name, row.step)["messages"] == decode(entry.body)["messages"]


@pytest.mark.parametrize("name", NAMES)
def test_the_hash_is_the_same(name):
    for row, entry, frame in steps(name):
        assert frame.view.hash == row.view_hash == entry.hash == inspected(name, row.step)["hash"]


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_the_same(name):
    for row, entry, frame in steps(name):
        verdict = row.verdict
        assert frame.view.verdict == verdict == played(name).told[row.step]
        assert inspected(name, row.step)["verdict"] == msgspec.to_builtins(answer(verdict))
        bar = frame.bar
        assert (bar.count, bar.usable, bar.percent, bar.over_by, bar.auto) == (
            verdict.count,
            verdict.usable,
            verdict.percent,
            verdict.over_by,
            verdict.auto,
        )
        # the bar looks a turn ahead as soon as it can, and says by how much
        assert bar.state is live_state(verdict, draft_tokens=0, growth=bar.growth)
        assert (row.outcome is Outcome.REFUSED) == entry.refused


@pytest.mark.parametrize("name", NAMES)
def test_the_sums_are_those_of_the_items(name):
    for row, entry, frame in steps(name):
        sums = Counter()
        for item in row.manifest:
            sums[item.klass] += item.tokens
        assert frame.bar.by_class == {klass.value: tokens for klass, tokens in sums.items() if tokens}
        assert frame.bar.total == sums.total() == inspected(name, row.step)["tokens"]
        if name != "bad-estimate":  # there it is the provider that is off
            assert sums.total() == entry.tokens


@pytest.mark.parametrize("name", NAMES)
def test_context_prints_what_the_bar_shows(name):
    for row, _, frame in steps(name):
        text, verdict = frame.report, row.verdict
        assert [line[9:] for line in text if line[:9].strip() in ("sum", "")][: text_sums(verdict)] == (
            verdict.arithmetic.split("; ")
        )
        assert text[0].startswith(f"state    {verdict.percent}% {frame.bar.state.value}")
        assert f"{verdict.count:,} of {verdict.usable:,} usable" in text[0]
        assert f"{verdict.count:,} " in text[1]
        counts = Counter(item.klass for item in row.manifest)
        for klass, items in counts.items():
            (line,) = [line for line in text if line.startswith(f"{klass.value}  {CLASSES[klass]} ")]
            tokens = sum(item.tokens for item in row.manifest if item.klass is klass)
            assert line.split()[-3:] == [f"~{tokens:,}", str(items), "item" if items == 1 else "items"]


def text_sums(verdict):
    """How many lines the arithmetic takes."""
    return len(verdict.arithmetic.split("; "))


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_is_inspected_as_it_was_sent(name):
    run = played(name)
    for row, entry in zip(run.rows, run.sent, strict=True):
        if row.kind is RequestKind.SUMMARY:
            said = inspected(name, row.step)
            assert said["hash"] == row.view_hash == entry.hash
            assert said["messages"] == decode(entry.body)["messages"]
            assert [item["key"] for item in said["items"]] == [item.key for item in row.manifest]
