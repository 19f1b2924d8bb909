"""What counts of a usage, and whether it is believed: data.md 4, cases C-014 and C-075."""

import pytest

from qiming_tui.context.budget import count_usage, count_words, input_side, oddity
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import Preset
from tests.context.short import M

OC, QM, GD = Preset.OPENCODE, Preset.QIMING, Preset.GUARDED


def used(input, output, read=0, write=0, total=None, reasoning=0):
    return Usage(
        input=input, output=output, reasoning=reasoning, cache_read=read, cache_write=write, total=total
    )


@pytest.mark.parametrize(
    ("usage", "opencode", "qiming"),
    [
        (used(1_000, 200, 300, 400), 1_900, 1_500),
        (used(1_000, 200, 300, 400, total=2_050, reasoning=150), 2_050, 1_500),
        (used(0, 0, total=7_000), 7_000, 7_000),
        (used(0, 0, total=0), 0, 0),
        (Usage(), 0, 0),
        (used(1_000, 200, reasoning=500), 1_200, 1_200),
        (used(0, 0, write=400), 400, 0),
    ],
)
def test_count_of_the_table_of_data_4(usage, opencode, qiming):
    assert count_usage(OC, usage) == count_usage(GD, usage) == opencode
    assert count_usage(QM, usage) == qiming
    assert f"{opencode:,}" in count_words(OC, usage)
    assert f"{qiming:,}" in count_words(QM, usage)


def test_count_words_name_every_number():
    usage = used(1_000, 200, 300, 400)
    assert count_words(OC, usage) == "1,000 input + 200 output + 300 cache read + 400 cache write = 1,900"
    assert count_words(QM, usage) == "1,000 input + 200 output + 300 cache read = 1,500"
    assert count_words(GD, used(0, 0, total=7_000)) == "7,000 total as reported"


@pytest.mark.parametrize(
    ("usage", "limits", "estimate", "believed"),
    [
        pytest.param(used(1_000, 10), M(2_000, 100), 900, True, id="plain"),
        pytest.param(used(2_001, 10), M(2_000, 100), 2_000, False, id="above-the-window"),
        pytest.param(used(2_000, 10), M(2_000, 100), 2_000, True, id="as-large-as-the-window"),
        pytest.param(used(1_000, 10, 600, 500), M(2_000, 100), 2_000, False, id="with-cache"),
        pytest.param(used(1_000, 9_999), M(2_000, 100), 900, True, id="output-is-not-input"),
        pytest.param(used(3_000, 1), M(9_000, 100, 2_999), 2_900, False, id="above-the-input-limit"),
        pytest.param(used(6_001, 1), M(0, 0), 1_000, False, id="above-twice-the-estimate"),
        pytest.param(used(6_000, 1), M(0, 0), 1_000, True, id="twice-the-estimate-and-4000"),
        pytest.param(used(6_001, 1), M(0, 0), None, True, id="no-estimate"),
        pytest.param(used(0, 0), M(9_000, 100), 10, False, id="nothing"),
        pytest.param(used(0, 512, total=512), M(9_000, 100), 15_000, False, id="C-075-output-only"),
        pytest.param(used(0, 512, total=1_512), M(9_000, 100), 1_000, True, id="input-in-the-total"),
        pytest.param(used(0, 0, total=9_001), M(9_000, 100), 9_000, False, id="total-above-the-window"),
    ],
)
def test_c_014_usage_that_is_not_believed_says_why(usage, limits, estimate, believed):
    why = oddity(usage, limits=limits, estimate=estimate)
    assert (why is None) is believed
    assert believed or "the estimate counts" in why


def test_input_side_comes_from_the_total_where_the_parts_name_none():
    assert input_side(used(100, 10, 20, 30)) == 150
    assert input_side(used(0, 10, total=110)) == 100
    assert input_side(used(0, 10, total=5)) == 0
