"""The timeline's columns: what each step was made of, and how that becomes cells."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.timeline import ORDER, boundary_sizes, columns_of
from qiming_tui.context.timeline_cells import cells_of, ruler, stacked, threshold_row, units_of
from qiming_tui.context.timeline_modes import Axis, Bar, Mode, axis_of, bar_of, seconds
from qiming_tui.context.timeline_share import Weigher, shares_of
from qiming_tui.model.ledger import Times
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import Klass
from tests.context.timelines import columns, line, rows
from tests.tui import strips

TOKENS = st.integers(0, 400_000)


def test_a_column_is_made_of_the_items_of_its_request():
    found = columns()
    first = found[0]
    assert first.share is not None
    assert first.share.fixed == 16_000
    assert first.bands[0] == 16_000
    assert sum(first.bands) == first.mark.count
    summary = next(c for c in found if c.mark.summary)
    assert summary.bands == (0, 160_400, 0, 0, 0, 0), "a summary's own request is its own size"
    assert found[29].share is not None
    assert found[29].share.summary == 4_600


def test_what_is_cleared_stands_above_as_a_ghost_of_the_size_it_was_sent_with():
    found = columns()
    assert [c.ghost for c in found[:13]] == [0] * 12 + [23_990]
    assert found[20].share is not None
    assert found[20].share.cleared == 1
    assert sum(found[20].bands) == found[20].mark.count, "the ghost is not part of the window"


def test_the_weigher_reads_only_what_changed_and_comes_to_the_same():
    ledger = rows()
    turns = [row for row in ledger if row.kind is RequestKind.TURN]
    together = shares_of(ledger)
    weigher = Weigher()
    assert [weigher.take(row.manifest) for row in turns] == [together[row.id] for row in turns]
    grown = together[turns[1].id].grown
    assert grown is not None
    assert (grown.letter, grown.words) == ("R", "bash")
    assert together[turns[0].id].grown is None, "nothing was before the first one"


ITEMS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 9)), max_size=8)


@given(st.lists(ITEMS, max_size=8))
def test_weighing_along_a_session_is_weighing_each_request_alone(requests):
    weigher = Weigher()
    for made in requests:
        manifest = tuple(line(f"{name}{tokens}", Klass.USER, tokens) for name, tokens in made)
        assert weigher.take(manifest).user == sum(tokens for _, tokens in made)


@given(
    st.lists(TOKENS, min_size=6, max_size=6),
    TOKENS,
    TOKENS,
    st.integers(1, 50),
    st.sampled_from([1, 8]),
    st.integers(1, 300_000),
)
def test_heights_sum_up_exactly(bands, height, ghost, rows_, parts, top):
    axis = Axis(mode=Mode.WINDOW, top=top, threshold=None)
    bar = Bar(bands=tuple(bands), height=height, ghost=ghost)
    units = stacked(bar, axis, rows=rows_, parts=parts)
    high = units_of(height, axis, rows=rows_, parts=parts)
    assert sum(units[:-1]) == (high if sum(bands) else 0)
    assert min(units) >= 0
    assert sum(units[:-1]) + units[-1] <= rows_ * parts
    assert (high > 0) is (height > 0)
    cells = cells_of(units, ORDER, rows=rows_, parts=parts)
    assert len(cells) == rows_
    for low, high_letter, fill in cells:
        assert (fill > 0) is bool(low)
        assert fill <= parts
        assert not high_letter or low != high_letter
    drawn = sum(parts if top_letter else fill for _, top_letter, fill in cells)
    assert drawn >= sum(units[:-1]) - parts


def test_two_bands_a_cell_and_the_thinnest_gives_way():
    letters = ORDER
    assert cells_of((8, 0, 1, 3, 4, 0, 0), letters, rows=2, parts=8) == (("S", "", 8), ("A", "R", 4))
    assert cells_of((3, 0, 0, 0, 0, 0, 2), letters, rows=1, parts=8) == (("S", "", 5),)
    assert cells_of((4, 0, 0, 0, 0, 0, 4), letters, rows=1, parts=8) == (("S", ":", 4),)
    assert cells_of((0,) * 7, letters, rows=1, parts=8) == (("", "", 0),)


@given(TOKENS, st.integers(1, 300_000), st.integers(1, 60))
def test_the_threshold_has_one_row_and_grows_with_the_limit(threshold, top, rows_):
    axis = Axis(mode=Mode.WINDOW, top=top, threshold=threshold)
    row = threshold_row(threshold, axis, rows=rows_)
    assert row is not None
    assert 0 <= row < rows_
    higher = threshold_row(threshold + 1, axis, rows=rows_)
    assert higher is not None
    assert higher >= row
    assert threshold_row(None, axis, rows=rows_) is None


def test_the_axis_and_its_ruler():
    axis = axis_of(columns(), Mode.WINDOW)
    assert (axis.top, axis.threshold) == (179_760, 168_000)
    found = ruler(axis, rows=12)
    assert found[11] == "168.0k"
    assert found == {0: "0", 3: "50k", 6: "100k", 11: "168.0k"}
    for height in range(1, 60):
        held = ruler(axis, rows=height)
        assert held[min(height - 1, 168_000 * height // 179_760)] == "168.0k"
        assert len(set(held.values())) == len(held)


def test_the_modes():
    held = columns()[9]
    assert [Mode.WINDOW.next, Mode.TIME.next] == [Mode.COST, Mode.WINDOW]
    assert bar_of(held, Mode.COST).height == 100_000
    assert axis_of(columns(), Mode.COST).figure(1_230_000) == "$1.23"
    cache = bar_of(held, Mode.CACHE)
    assert cache.bands == (held.read, held.new)
    assert cache.threshold == 168_000
    assert bar_of(held, Mode.TIME).height == 0, "an open end is no time"
    for mode in Mode:
        assert len(mode.letters) == len(bar_of(held, mode).bands)
        assert set(mode.letters) <= mode.words.keys()


@pytest.mark.parametrize(("ms", "words"), [(0, "0.0s"), (4_249, "4.2s"), (185_000, "3m05s")])
def test_times_in_words(ms, words):
    assert seconds(ms) == words


def test_a_step_without_usable_or_manifest_is_still_a_column():
    row = strips.row(1, 5_000, usage=Usage(input=4_000, output=1_000))
    verdict = msgspec.structs.replace(row.verdict, usable=None)
    times = Times(queued=1, sent=2, first_token=502, end=2_502)
    row = msgspec.structs.replace(row, verdict=verdict, times=times)
    (column,) = columns_of([row], {}, [], {})
    assert column.bands == (0, 0, 0, 0, 0, 5_000)
    assert (column.wait_ms, column.write_ms, column.ms) == (500, 2_000, 2_500)
    axis = axis_of([column], Mode.WINDOW)
    assert (axis.top, axis.threshold) == (5_350, None)
    assert axis_of([], Mode.WINDOW).top == 1


def test_before_and_after_of_a_boundary():
    found = columns()
    place = next(n for n, c in enumerate(found) if c.mark.boundary)
    assert found[place].mark.summary
    before, after = boundary_sizes(found, place)
    assert before == found[27].mark.count
    assert after == found[29].mark.count
