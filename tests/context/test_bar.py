"""What the bar is told of a request: sums in words, states that follow the draft, what is cached."""

import pytest

from qiming_tui.context.bar import Live, bar_data, bound_terms, live_state, offers
from qiming_tui.context.budget import verdict
from qiming_tui.context.figures import bare, kilo, money, plural, signed
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.limits import Limits
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import Preset, Settings, State
from tests.context.make import SYSTEM, TOOLS, state, user
from tests.tui.bars import bar


def judged(limits=(200_000, None, 32_000), count=102_013, preset=Preset.GUARDED, **settings):
    return verdict(
        settings=Settings(preset=preset, **settings),
        limits=Limits(*limits),
        count=count,
        basis=Basis.MEASURED,
    )


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (0, "0.0k"),
        (49, "0.0k"),
        (50, "0.1k"),
        (999_949, "999.9k"),
        (999_950, "1.00M"),
        (1_048_576, "1.05M"),
        (-3_260, "-3.3k"),
    ],
)
def test_tokens_in_thousands_half_up(tokens, words):
    assert kilo(tokens) == words


def test_other_figures():
    assert (bare(47_500), bare(2_000_000)) == ("47.5", "2.00M")
    assert (signed(3_413), signed(-3_300), signed(0)) == ("+3.4k", "-3.3k", "+0.0k")
    assert (plural(1, "turn"), plural(1_200, "turn")) == ("1 turn", "1,200 turns")
    assert (money(4.61), money(0.004), money(0)) == ("$4.61", "$0.004", "$0.00")


@pytest.mark.parametrize(
    ("limits", "preset", "settings", "words"),
    [
        ((200_000, None, 32_000), Preset.GUARDED, {}, ("200.0k ctx - 32.0k out =", "168.0k", "reply")),
        ((200_000, None, 8_192), Preset.QIMING, {}, ("200.0k ctx - 8.2k out =", "191.8k", "reply")),
        (
            (400_000, 180_000, 8_192),
            Preset.GUARDED,
            {"reserved": 20_000},
            ("180.0k in - 20.0k reserved =", "160.0k", "reserve"),
        ),
        ((400_000, 180_000, 8_192), Preset.GUARDED, {}, ("180.0k in - 8.2k reserved =", "171.8k", "reserve")),
        ((400_000, 180_000, 8_192), Preset.QIMING, {}, ("400.0k ctx - 8.2k out =", "391.8k", "reply")),
        (
            (200_000, None, 8_192),
            Preset.GUARDED,
            {"reserved": 50_000},
            ("200.0k ctx - 50.0k reserved =", "150.0k", "reserve"),
        ),
        ((16_384, None, 0), Preset.GUARDED, {}, ("half of 16.4k ctx =", "8.2k", "reserve")),
        ((16_384, None, 0), Preset.OPENCODE, {}, ("16.4k ctx - 32.0k out =", "0.0k", "reply")),
        ((8_192, None, 1_060), Preset.GUARDED, {}, ("8.2k ctx - 1.1k out =", "7.1k", "reply")),
        ((8_140, None, 1_060), Preset.GUARDED, {}, ("8,140 ctx - 1,060 out =", "7,080", "reply")),
        ((0, None, 0), Preset.GUARDED, {}, ("", "", "")),
    ],
)
def test_the_sum_under_the_tick_names_the_bound_that_decides_and_is_true(limits, preset, settings, words):
    held = judged(limits, preset=preset, **settings)
    window = held.limits.context if preset is Preset.QIMING else held.limits.window
    assert bound_terms(held, window) == words


@pytest.mark.parametrize(
    ("count", "draft", "growth", "word"),
    [
        (60_000, 0, None, State.OK),
        (125_999, 0, 0, State.OK),
        (126_000, 0, None, State.NEAR),
        (100_000, 26_000, None, State.NEAR),
        (100_000, 0, 34_000, State.OK),
        (100_000, 0, 34_001, State.NEAR),
        (100_000, 0, 67_999, State.NEAR),
        (100_000, 0, 68_000, State.LAST_TURN),
        (100_000, 68_000, None, State.LAST_TURN),
        (168_000, 0, None, State.OVER),
    ],
)
def test_the_state_follows_the_draft(count, draft, growth, word):
    assert live_state(judged(count=count), draft_tokens=draft, growth=growth) is word


def test_a_refusal_and_an_unknown_window_are_not_softened_by_a_short_draft():
    full = verdict(
        settings=Settings(), limits=Limits(200_000, None, 8_192), count=9, basis=Basis.ESTIMATED, refused=True
    )
    assert live_state(full, draft_tokens=0, growth=1) is State.FULL
    assert live_state(judged((0, None, 0)), draft_tokens=0, growth=1) is State.UNKNOWN


def test_the_bar_of_a_built_request_has_its_sums_and_the_verdicts_number():
    view = build(state(user("u1", "hi"), system=SYSTEM, tools=TOOLS), Settings(), Tally())
    data = bar_data(view, Live(draft_tokens=7, growth=100, cached=30, step=3))
    assert sum(data.by_class.values()) == data.total == view.total
    assert 0 not in data.by_class.values()
    assert (data.count, data.usable, data.window) == (view.count, 191_808, 200_000)
    assert (data.lands, data.after_turn) == (view.count + 7, view.count + 107)
    assert data.turns_left == (191_808 - view.count - 7) // 100
    assert (data.cached, data.cache_break, data.reread) == (30, None, 0)


@pytest.mark.parametrize(
    ("at", "told"), [(None, (30, None, 0)), (12, (12, 12, 18)), (30, (30, None, 0)), (0, (0, 0, 30))]
)
def test_what_is_cached_ends_where_the_next_request_differs(at, told):
    view = build(state(user("u1", "hi"), system=SYSTEM), Settings(), Tally())
    data = bar_data(view, Live(cached=30, cache_break=at))
    assert (data.cached, data.cache_break, data.reread) == told


def test_nothing_measured_since_a_boundary_is_predicted_not_estimated():
    view = build(state(user("u1", "hi")), Settings(), Tally())
    assert bar_data(view, Live()).basis is Basis.ESTIMATED
    held = bar_data(type(view)(**{**_fields(view), "archived": ("u0",)}), Live())
    assert held.basis is Basis.PREDICTED


def _fields(view):
    return {name: getattr(view, name) for name in view.__struct_fields__}


def test_an_input_limit_is_the_axis_unless_the_preset_knows_none():
    made = state(user("u1", "hi"), limits=Limits(400_000, 180_000, 8_192))
    ends = {p: bar_data(build(made, Settings(preset=p), Tally()), Live()).window for p in Preset}
    assert ends == {Preset.OPENCODE: 180_000, Preset.GUARDED: 180_000, Preset.QIMING: 400_000}


def test_an_unknown_window_has_no_axis_and_nothing_left():
    data = bar_data(build(state(user("u1", "hi"), limits=Limits(0, None, 0)), Settings(), Tally()), Live())
    assert (data.window, data.usable, data.percent, data.left, data.turns_left) == (0, None, None, None, None)


def test_drift_is_the_count_beyond_our_sum_and_never_shrinks_what_is_drawn():
    assert (bar().drift, bar().drawn) == (3_413, 102_013)
    less = bar(count=95_300)
    assert (less.drift, less.drawn) == (-3_300, 98_600)


def test_offers_name_a_way_that_works_and_what_it_frees():
    assert [o.act for o in offers()] == ["compact", "focus", "defer", "auto"]
    assert [o.words for o in offers(clearable=36_200)][2] == "clear 36.2k results"
