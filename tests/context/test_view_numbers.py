"""The numbers of a view: what counts, what is flagged, how much the model may answer."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.assemble import assemble
from qiming_tui.context.render import render_entry
from qiming_tui.context.repair import Sound, repair
from qiming_tui.context.scene import Scene
from qiming_tui.context.state import Block, Measured
from qiming_tui.context.tokens import Tally, estimate
from qiming_tui.context.view import build
from qiming_tui.context.weigh import image_tokens
from qiming_tui.model.limits import Limits
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Klass, Preset, Settings, State
from tests.context.histories import DIALECTS, damaged_entries, histories
from tests.context.make import (
    MODEL,
    SYSTEM,
    asks,
    assistant,
    file,
    goes_on,
    numbered,
    state,
    summary,
    tool,
    user,
)


class Quarter(Tally):
    """Four characters are a token."""

    def raw(self, text: str) -> int:
        return estimate(text)


def words(count: int) -> str:
    return "word" * count


def test_c_061_c_094_neither_the_tail_nor_the_summary_counts_after_a_compaction():
    heavy = assistant("a1", words(500), total=190_000)
    history = [user("u1", "x"), heavy, asks("c", tail="u1"), summary("s", "c", words(2_000), total=136_000)]
    made = state(*history, goes_on("k"), system=(Block(words(18_000), "system"),))
    stale = Measured(message_id="a1", usage=Usage(input=190_000, total=190_000))
    for measured in (None, stale):
        view = build(msgspec.structs.replace(made, measured=measured), Settings(), Quarter())
        assert view.count == view.total == pytest.approx(20_550, abs=60)
        assert view.verdict.basis is Basis.ESTIMATED
        assert not view.verdict.overflow
    assert view.archived == ()
    assert view.live == ("c", "s", "u1", "a1", "k")


def test_a_measured_answer_counts_and_what_came_since_is_added():
    made = state(user("u1", "x"), assistant("a1", "yes", total=5_000), user("u2", words(100)))
    view = build(made, Settings(), Quarter())
    assert view.count == 5_104
    assert view.verdict.basis is Basis.PREDICTED
    assert build(made, Settings(preset=Preset.OPENCODE), Quarter()).count == 5_000


def test_c_039_a_fixed_prompt_that_does_not_fit_is_flagged():
    made = state(user("u1", "hi"), system=(Block(words(10_000), "s"),), limits=Limits(16_000, None, 8_000))
    view = build(made, Settings(), Quarter())
    assert view.verdict.state is State.OVER
    assert any("fixed prompt 10,004 >= usable 8,000" in flag for flag in view.verdict.flags)


def test_the_last_turn_is_told_by_the_expected_growth():
    made = state(user("u1", words(70_000)), limits=Limits(100_000, None, 20_000))
    assert build(made, Settings(), Quarter()).verdict.state is State.NEAR
    assert build(made, Settings(), Quarter(), growth=11_000).verdict.state is State.LAST_TURN


def test_c_011_the_answer_is_clamped_to_what_the_window_leaves():
    made = state(user("u1", words(10_965)), limits=Limits(65_536, None, 65_536))
    settings = Settings(output_token_max=65_536)
    view = build(made, settings, Quarter())
    assert view.total == 10_969
    assert view.params.max_tokens is not None
    assert 40_000 < view.params.max_tokens <= 54_567
    articles = msgspec.structs.replace(settings, preset=Preset.OPENCODE)
    assert build(made, articles, Quarter()).params.max_tokens == 65_536


def test_an_unknown_output_limit_is_not_named_unless_it_must_be():
    made = state(user("u1", "hi"), limits=Limits(0, None, 0))
    view = build(made, Settings(), Quarter())
    assert view.params.max_tokens is None
    assert "max_tokens" not in assemble(view.params, view.items)
    assert view.usable is None
    anthropic = build(msgspec.structs.replace(made, dialect="anthropic"), Settings(), Quarter())
    assert anthropic.params.max_tokens == 32_000


def test_c_100_overhead_has_its_own_classes():
    view = build(state(user("u1", words(50)), system=SYSTEM), Settings(), Quarter())
    assert view.by_class[Klass.SYSTEM] > 0
    assert view.by_class[Klass.USER] == 54
    assert view.by_class[Klass.MEMORY] == 0


def test_c_055_the_system_prompt_is_fresh_in_every_request_and_never_summarised():
    history = (user("u1", "x"), asks("c"), summary("s", "c"), user("u2", "y"))
    for text in ("old rules", "new rules"):
        view = build(state(*history, memory=(Block(text, "AGENTS.md"),)), Settings(), Quarter())
        assert assemble(view.params, view.items)["messages"][0]["content"] == text


def test_pictures_weigh_by_their_size_never_by_their_base64():
    head = "data:image/png;base64,"
    thousand = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAAA="  # 1000 x 1000
    assert image_tokens(head + thousand) == 1_333
    assert image_tokens(head + thousand + "A" * 400_000) == 1_333
    assert image_tokens("https://example.invalid/x.png") == 1_100
    assert image_tokens(head + "!!!") == 1_100
    jpeg = "data:image/jpeg;base64,/9j/wAARCAEsAZADASIAAhEBAxEB"  # 400 x 300
    assert image_tokens(jpeg) == 160
    gif = "data:image/gif;base64,R0lGODlhQAHwAPAA"  # 320 x 240
    assert image_tokens(gif) == 102
    made = state(user("u1", file("u1", "f", url=head + thousand + "A" * 400_000)))
    assert build(made, Settings(), Quarter()).total == 1_337


@given(st.lists(histories(), min_size=2, max_size=4), st.data(), st.sampled_from(DIALECTS))
def test_repair_that_remembers_gives_what_repair_gives(parts, data, dialect):
    scene = Scene(model=MODEL, dialect=dialect)
    kept, sound = {}, Sound()
    whole = []
    for number, part in enumerate(parts):
        whole += [type(e)(msgspec.structs.replace(e.info, id=f"{number}{e.id}"), e.parts) for e in part]
        entries = data.draw(damaged_entries(whole)) if data.draw(st.booleans()) else whole
        items = []
        for entry in numbered(*entries):
            key = (entry.id, id(entry.parts))
            items += kept.setdefault(key, (entry.parts, render_entry(entry, scene)))[1]
        assert sound.repair(items, dialect=dialect) == repair(items, dialect=dialect)


def test_repair_that_remembers_sees_a_call_id_used_again():
    scene, sound = Scene(model=MODEL), Sound()
    first = [user("u1", "x"), assistant("a1", tool("a1", "p", call_id="call_0"))]
    items = [item for entry in first for item in render_entry(entry, scene)]
    assert sound.repair(items, dialect="openai") is items
    again = render_entry(assistant("a2", tool("a2", "q", call_id="call_0")), scene)
    legal = sound.repair([*items, *again], dialect="openai")
    assert [i.value["id"] for i in legal if i.value["role"] == "tool"] == ["call_0", "call_0_2"]
    other = render_entry(assistant("a2", tool("a2", "q", call_id="call_1")), scene)
    assert all(
        a is b
        for a, b in zip(sound.repair([*items, *other], dialect="openai"), [*items, *other], strict=True)
    )
