"""What holds for every history: a plan is idempotent, and protection never backfires."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.edits import fold
from qiming_tui.context.prune import plan
from qiming_tui.context.state import Pin, Window, WindowEdits
from qiming_tui.context.tokens import estimate
from qiming_tui.model.edits import EditKind
from qiming_tui.model.parts import PLACEHOLDER, ToolPart
from qiming_tui.model.window import Keep, Preset, Settings
from tests.context.short import assistant, edit, failed, learnt, live, running, tool, user

SIZES = {letter * (4 * size): size for size in (0, 1, 5, 30, 100) for letter in "ab"}
TALLY = learnt({**SIZES, PLACEHOLDER: 8})


@st.composite
def windows(draw):
    """Turns of several steps whose tools ended in every way, some cleared, some pinned or restored."""
    entries, ids = [], []
    for place in range(draw(st.integers(0, 9))):
        if draw(st.integers(0, 3)) == 0:
            entries.append(user(f"u{place}", "q", synthetic=draw(st.integers(0, 3)) == 0))
            continue
        parts = []
        for number in range(draw(st.integers(0, 4))):
            id = f"r{place}.{number}"
            ids.append(id)
            make = draw(st.sampled_from([tool, tool, tool, tool, running, failed]))
            if make is tool:
                text = draw(st.sampled_from(sorted(SIZES)))
                name = draw(st.sampled_from(["bash", "read", "skill"]))
                cleared = draw(st.integers(0, 4)) == 0
                parts.append(tool(id, text, name=name, cleared=cleared, images=draw(st.integers(0, 1))))
            else:
                parts.append(make(id))
        entries.append(assistant(f"a{place}", *parts))
    for place in range(draw(st.integers(0, 2))):
        entries.append(user(f"newest{place}"))
    pins = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if ids else []
    restored = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if ids else []
    edits = WindowEdits(
        pins=tuple(Pin(target=id, text="", source="") for id in pins),
        restored=frozenset(restored),
        touched=frozenset(restored),
    )
    return live(*entries, edits=edits)


# Results are small, so the two lines are too. Both ways of counting give the same sizes.
settings = st.builds(
    Settings,
    preset=st.sampled_from(list(Preset)),
    protect=st.integers(0, 80),
    minimum=st.integers(0, 40),
    protected_tools=st.sampled_from([("skill",), (), ("skill", "read")]),
)


def parts(window: Window) -> dict[str, ToolPart]:
    return {part.id: part for entry in window.live for part in entry.parts if isinstance(part, ToolPart)}


def applied(window: Window, cleared) -> Window:
    log = [edit(1, "p", EditKind.CLEAR, *cleared)]
    return msgspec.structs.replace(
        window,
        edits=msgspec.structs.replace(
            window.edits,
            cleared=window.edits.cleared | fold(log).cleared,
            touched=window.edits.touched | fold(log).touched,
        ),
    )


@given(windows(), settings)
def test_a_plan_that_was_applied_leaves_nothing_to_clear(window, chosen):
    found = plan(window, chosen, TALLY)
    again = plan(applied(window, found.cleared), chosen, TALLY)
    if chosen.preset is Preset.GUARDED or found.cleared:
        assert set(again.cleared) == set()
    if chosen.preset is Preset.GUARDED:
        before, after = ({f.part_id: f.reason for f in it.fates} for it in (found, again))
        for id, reason in after.items():
            now = Keep.ALREADY_CLEARED if before[id] is None else before[id]
            assert reason is now or (now, reason) == (Keep.SMALLER_THAN_PLACEHOLDER, Keep.WITHIN_PROTECT)


@given(windows(), settings, st.integers(0, 100), st.integers(0, 60))
def test_more_protection_never_clears_more(window, chosen, protect, minimum):
    before = set(plan(window, chosen, TALLY).cleared)
    for more in (
        msgspec.structs.replace(chosen, protect=chosen.protect + protect),
        msgspec.structs.replace(chosen, minimum=chosen.minimum + minimum),
        msgspec.structs.replace(chosen, protected_tools=(*chosen.protected_tools, "bash")),
    ):
        assert set(plan(window, more, TALLY).cleared) <= before


@given(windows(), settings, st.data())
def test_a_pin_more_never_clears_more(window, chosen, data):
    if not parts(window):
        return
    target = data.draw(st.sampled_from(sorted(parts(window))))
    pinned = msgspec.structs.replace(
        window,
        edits=msgspec.structs.replace(
            window.edits, pins=(*window.edits.pins, Pin(target=target, text="", source=""))
        ),
    )
    after = set(plan(pinned, chosen, TALLY).cleared)
    assert after <= set(plan(window, chosen, TALLY).cleared) - {target}


@given(windows(), settings)
def test_a_part_under_protection_is_never_cleared(window, chosen):
    found = plan(window, chosen, TALLY)
    safe = {pin.target for pin in window.edits.pins} | window.edits.restored
    safe |= {id for id, part in parts(window).items() if part.tool in chosen.protected_tools}
    assert not safe & set(found.cleared)


@given(windows(), settings)
def test_the_account_is_whole(window, chosen):
    found = plan(window, chosen, TALLY)
    assert sorted(fate.part_id for fate in found.fates) == sorted(parts(window))
    marked = sum(fate.tokens for fate in found.fates if fate.reason is None)
    assert found.tokens == marked
    assert (found.tokens > chosen.minimum) == bool(found.cleared)
    below = sum(fate.tokens for fate in found.fates if fate.reason is Keep.BELOW_MINIMUM)
    assert found.candidates_tokens == marked + below


@given(windows(), settings)
def test_what_is_kept_within_protect_fits_it(window, chosen):
    found = plan(window, chosen, TALLY)
    assert sum(f.tokens for f in found.fates if f.reason is Keep.WITHIN_PROTECT) <= chosen.protect


@given(windows(), st.sampled_from([Preset.OPENCODE, Preset.QIMING]))
def test_the_articles_count_by_the_quarter_rule(window, preset):
    found = plan(window, Settings(preset=preset), TALLY)
    for fate in found.fates:
        output = getattr(parts(window)[fate.part_id].state, "output", "")
        assert fate.tokens == estimate(output)
