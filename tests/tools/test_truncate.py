"""Fact 164: what is cut says how much, and the whole text is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.config import ToolSettings
from qiming_tui.tools.truncate import HINT, cut_bytes, size, truncate


def numbered(count):
    return "\n".join(f"line {number}" for number in range(1, count + 1))


def test_fact_164_defaults():
    assert (ToolSettings().max_lines, ToolSettings().max_bytes) == (2000, 51200)
    assert "grep" in HINT


def test_fact_164_under_the_limits_nothing_changes():
    text = numbered(2000)
    cut = truncate(text, max_lines=2000, max_bytes=51200)
    assert (cut.text, cut.full) == (text, None)


def test_fact_164_head_keeps_the_first_lines():
    text = numbered(100)
    cut = truncate(text, max_lines=10, max_bytes=51200)
    assert cut.text == f"{numbered(10)}\n\n...90 lines truncated...\n\n{HINT}"
    assert cut.full == text


def test_fact_164_tail_keeps_the_last_lines():
    cut = truncate(numbered(100), max_lines=10, max_bytes=51200, keep="tail")
    assert cut.text.startswith(f"...90 lines truncated...\n\n{HINT}\n\nline 91\n")
    assert cut.text.endswith("line 100")


def test_fact_164_both_ends():
    cut = truncate(numbered(100), max_lines=10, max_bytes=51200, keep="both")
    assert cut.text.startswith("line 1\nline 2\nline 3\nline 4\nline 5\n\n...90 lines truncated...")
    assert cut.text.endswith("line 96\nline 97\nline 98\nline 99\nline 100")


def test_fact_164_bytes():
    cut = truncate("a" * 300, max_lines=10, max_bytes=100)
    assert cut.text == f"{'a' * 100}\n\n...200 bytes truncated...\n\n{HINT}"
    assert cut.full == "a" * 300


@pytest.mark.parametrize("end", [False, True])
def test_no_half_characters(end):
    assert cut_bytes("漢字漢字", 7, end=end) == ("字漢字"[1:] if end else "漢字")


@given(
    st.text(max_size=200), st.integers(2, 20), st.integers(16, 80), st.sampled_from(["head", "tail", "both"])
)
def test_what_is_kept_stays_within_the_caps(text, max_lines, max_bytes, keep):
    cut = truncate(text, max_lines=max_lines, max_bytes=max_bytes, keep=keep, hint="")
    if cut.full is None:
        assert cut.text == text
        assert text.count("\n") < max_lines
        assert size(text) <= max_bytes
    else:
        assert cut.full == text
        assert size(cut.text) <= max_bytes + 60
        assert "truncated..." in cut.text
