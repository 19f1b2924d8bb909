"""The view of the next request: order, sums, hashes, breakpoints."""

import msgspec
import pytest

from qiming_tui.context.assemble import assemble, first_change, items_from, manifest, view_hash
from qiming_tui.context.cache import Cache
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.context.weigh import recount
from qiming_tui.model.codec import canonical, digest
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.window import Settings
from tests.context.legal import legal
from tests.context.make import (
    MEMORY,
    SYSTEM,
    TOOLS,
    assistant,
    file,
    png,
    start,
    state,
    think,
    tool,
    user,
)

HISTORY = (
    user("u1", "hi", file("u1", "f1")),
    assistant(
        "a1",
        start("a1", "x"),
        think("a1", "t", "hm", signature="sig"),
        "one",
        tool("a1", "p1"),
        tool("a1", "p2", attachments=[png()]),
        "two",
        start("a1", "y"),
        "done",
    ),
    user("u2", "again", "and this"),
)


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("calibration", [1.0, 1.13])
def test_the_sum_over_the_items_is_the_recount_of_the_body(dialect, calibration):
    tally = Tally(calibration=calibration)
    made = state(*HISTORY, system=SYSTEM, memory=MEMORY, tools=TOOLS, dialect=dialect)
    view = build(made, Settings(), tally)
    body = assemble(view.params, view.items)
    assert recount(body, tally) == view.total == sum(view.by_class.values())
    assert view.hash == view_hash(body)
    assert legal(body, dialect) == []


def test_a_request_is_rebuilt_from_its_manifest_and_blobs_alone():
    made = state(*HISTORY, system=SYSTEM, memory=MEMORY, tools=TOOLS, dialect="anthropic")
    view = build(made, Settings(), Tally())
    blobs = {item.blob: canonical(item.value) for item in view.items}
    assert all(digest(value) == blob for blob, value in blobs.items())
    rows = msgspec.json.decode(msgspec.json.encode(manifest(view.items)), type=tuple[ManifestRow, ...])
    again = items_from(rows, blobs)
    assert again == view.items
    assert view_hash(assemble(view.params, again)) == view.hash


def test_mutating_one_item_changes_the_body():
    view = build(state(*HISTORY, system=SYSTEM, memory=MEMORY, tools=TOOLS), Settings(), Tally())
    for index, item in enumerate(view.items):
        text = next(key for key in ("text", "content", "name", "url") if key in item.value)
        other = msgspec.structs.replace(item, value={**item.value, text: item.value[text] + "!"})
        changed = (*view.items[:index], other, *view.items[index + 1 :])
        assert view_hash(assemble(view.params, changed)) != view.hash, item.key


def test_anthropic_breakpoints_stand_at_the_four_places():
    made = state(*HISTORY, system=SYSTEM, memory=MEMORY, tools=TOOLS, dialect="anthropic")
    view = build(made, Settings(), Tally())
    assert view.params.breakpoints == ("tool:list", "memory:AGENTS.md", "p2:result", "u2.1")
    assert view.prefix_hash != view.hash
    plain = msgspec.structs.replace(view.params, breakpoints=())
    assert view.prefix_hash == view_hash(assemble(plain, view.items))


def test_other_dialects_have_no_breakpoints():
    view = build(state(*HISTORY, tools=TOOLS), Settings(), Tally())
    assert view.params.breakpoints == ()
    assert view.prefix_hash == view.hash


def test_a_cache_changes_nothing_and_keeps_what_is_unchanged():
    cache, tally = Cache(), Tally()
    made = state(*HISTORY, system=SYSTEM)
    first = build(made, Settings(), tally, cache=cache)
    more = msgspec.structs.replace(made, entries=(*made.entries, *state(assistant("a2", "yes")).entries))
    second = build(more, Settings(), tally, cache=cache)
    assert second == build(more, Settings(), Tally())
    assert first_change(manifest(first.items), manifest(second.items)) is None
    assert first_change(manifest(second.items), manifest(first.items)) == "a2.0"


def test_counts_are_taken_again_when_the_counter_has_answered():
    cache, tally = Cache(), Tally()
    made = state(user("u1", "hello there"))
    build(made, Settings(), tally, cache=cache)
    texts = list(tally.missing.values())
    tally.learn(texts, [1000 for _ in texts])
    assert tally.exact
    assert build(made, Settings(), tally, cache=cache).total == 1004
