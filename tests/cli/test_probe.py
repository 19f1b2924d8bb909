"""What a terminal answers, and what it does not (`ux.md` 4)."""

import os
import pty
import termios

import pytest

from qiming_tui.cli import probe
from qiming_tui.cli.probe import Found, Probe, dark_by_name, read


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (b"", Found()),
        (b"\x1b[?62;22c", Found()),
        (b"\x1b[7;2R\x1b]11;rgb:0f0f/1212/1818\x1b\\\x1b[?62c", Found("full", True)),
        (b"\x1b[7;3R\x1b]11;rgb:ff/fa/f0\x07\x1b[?62c", Found("safe", False)),
        (b"\x1b[1;4R\x1b]11;rgba:ffff/ffff/ffff/8000\x1b\\", Found("ascii", False)),
        (b"he\x1b[1;2Rllo \xc3\xa9\r\x1b[?1;2c\x1b[A\x7f", Found("full", None, "hello é\r")),
        (b"\x1b[1;2R\x1b]11;rgb:zz", Found("full")),
    ],
)
def test_answers_are_told_from_what_is_typed(seen, found):
    assert read(seen) == found


@pytest.mark.parametrize(
    ("value", "dark"), [("", None), ("15;0", True), ("0;15", False), ("0;default;7", False), ("x", None)]
)
def test_the_variable_of_older_terminals(value, dark):
    assert dark_by_name({"COLORFGBG": value}) is dark


@pytest.mark.parametrize(
    ("answer", "found"),
    [(b"\x1b[1;3Rhi\x1b[?62c", Found("safe", None, "hi")), (b"hi\r", Found(typed="hi\r"))],
)
def test_a_terminal_is_asked_and_left_as_it_was(monkeypatch, answer, found):
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    monkeypatch.setattr(probe, "IN", theirs)
    monkeypatch.setattr(probe, "OUT", theirs)
    try:
        with Probe(width=True, colour=True, wait_s=0.2) as asked:
            assert b"\x1b]11;?" in os.read(ours, 200)
            assert not termios.tcgetattr(theirs)[3] & termios.ECHO
            os.write(ours, answer)
            assert asked.found() == found
        assert termios.tcgetattr(theirs) == before
        with Probe(width=False, colour=False) as nobody:
            assert nobody.found() == Found()
    finally:
        os.close(ours)
        os.close(theirs)
