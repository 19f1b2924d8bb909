"""Cases C-131: nothing from outside drives the terminal, nothing hides in it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model.sanitize import Cleaner, clean, one_line

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def test_c_131_the_example_of_the_case():
    text = "a\x1b]52;c;aGk=\x07b\x9b31mc\x1b]unterminated"
    assert clean(text) == ("abcunterminated", 3)


@pytest.mark.parametrize(
    ("text", "expected", "removed"),
    [
        ("plain\ttext\nand 漢字 é", "plain\ttext\nand 漢字 é", 0),
        ("one\r\ntwo\rthree\r\r\nfour", "one\ntwo\nthree\nfour", 0),
        ("\x1b[1;31mred\x1b[0m", "red", 2),
        ("\x1b]0;title\x1b\\x", "x", 1),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link", 2),
        ("\x9d0;title\x9cx", "x", 1),
        ("\x90q#0\x1b\\x\x1bPq\x9cy", "xy", 2),
        ("\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\z", "z", 3),
        ("\x1bcreset\x1b(Bset\x1b7save", "resetsetsave", 3),
        ("ask\x1b[6nme", "askme", 1),
        ("lone \x1b", "lone ", 1),
        ("broken \x1b[12", "broken 12", 1),
        ("bell\x07 null\x00 back\x08 del\x7f nel\x85", "bell null back del nel", 5),
        ("unfinished \x1b]0;no end\nnext line\x07", "unfinished 0;no end\nnext line", 2),
        ("rm \u202etxt.exe", "rm txt.exe", 1),
        ("half \ud83d pair", "half \ufffd pair", 0),
    ],
)
def test_c_131_sequences(text, expected, removed):
    assert clean(text) == (expected, removed)


@given(
    st.text(
        alphabet=st.one_of(
            st.sampled_from("\x1b]P[\x07\x9b\x9c\x9d\\;0m\r\n\t\u202e\ud800ab"), st.characters()
        )
    )
)
def test_nothing_harmful_survives_and_cleaning_is_stable(text):
    done, _ = clean(text)
    assert not FORBIDDEN.search(done)
    assert clean(done) == (done, 0)


def test_a_flood_of_unfinished_sequences_costs_linear_time():
    text = "\x1b]" * 200_000 + "x" * 200_000
    assert clean(text) == ("x" * 200_000, 200_000)


def test_one_line_for_titles():
    assert one_line("a\x1b]0;x\x07\n b\tc") == "a b c"
    assert one_line("x" * 300, limit=10) == "x" * 9 + "…"


PIECES = (
    *("a", "b;c", "\x1b", "[", "]", "P", "52;", "31", "m", "\x07"),
    *("\\", "\x9b", "\x9d", "\x9c", "\n", "\r", " ", "#", "é"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_c_131_a_text_in_pieces_is_cleaned_as_the_whole_is(pieces):
    whole = "".join(pieces)
    cleaner = Cleaner()
    shown = ""
    for piece in pieces:
        shown += cleaner.feed(piece)
        assert not FORBIDDEN.search(shown)
    assert shown + cleaner.end() == clean(whole)[0]
    assert cleaner.removed == clean(whole)[1]


def test_c_131_what_is_never_ended_is_not_waited_for():
    cleaner = Cleaner()
    assert cleaner.feed("a\x1b]52;") == "a"
    assert cleaner.feed("c;aGk=\nb") == "52;c;aGk=\nb"
    assert cleaner.feed("\x1b]" + "x" * 5_000) == "x" * 5_000
    assert cleaner.feed("end") == "end"
