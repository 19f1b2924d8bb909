"""The terminal after every kind of end, in a real pseudo-terminal, every mode checked (cases C-120)."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal, modes

ROOT = Path(__file__).parents[2]
KEYS = {
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "f8": "\x1b[19~",
    "f9": "\x1b[20~",
    "f10": "\x1b[21~",
}


class Victim(Terminal):
    """The small screen of `guarded`, up and running."""

    def __init__(self, kind):
        super().__init__(kind, module="tests.tui.guarded", cwd=ROOT)
        self.until("READY TO DIE")
        assert {1000, 1049, 2004} <= modes(self.seen), "the screen is up"

    def press(self, key):
        self.send(KEYS[key])


@pytest.fixture
def terminal():
    held = []

    def start(kind="guard"):
        held.append(Victim(kind))
        return held[-1]

    yield start
    for each in held:
        each.close()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_c_120_a_signal_leaves_and_says_which(terminal, name):
    held = terminal()
    number = getattr(signal, name)
    held.kill(number)
    assert held.end() == 128 + number
    assert held.restored


@pytest.mark.parametrize("name", ["SIGKILL", "SIGABRT", "SIGSEGV"])
def test_c_120_a_death_without_a_word_is_cleaned_up_by_the_watcher(terminal, name):
    held = terminal()
    number = getattr(signal, name)
    held.kill(number)
    assert held.end() == -number
    assert held.restored


@pytest.mark.parametrize(("key", "code"), [("f5", 0), ("f6", 1), ("f7", 3), ("f8", 1)])
def test_c_120_an_exit_an_exception_and_a_hard_exit(terminal, key, code):
    held = terminal()
    held.press(key)
    assert held.end() == code
    assert held.restored


@pytest.mark.parametrize("key", ["f9", "f10"])
def test_c_120_a_loop_that_does_not_answer_is_ended_by_the_watchdog(terminal, key):
    held = terminal()
    held.press(key)
    while b"\x1b]0;busy\x07" not in held.seen:
        assert held.read(1)
    held.kill(signal.SIGTERM)
    assert held.end() == 128 + signal.SIGTERM
    assert held.restored


def test_c_120_a_terminal_that_goes_away_ends_the_program(terminal):
    held = terminal()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, held.child.child_fd)  # closes our end of the terminal
    os.close(nothing)
    held.child.wait()
    assert held.child.exitstatus == 128 + signal.SIGHUP


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_without_the_guard_the_modes_stay_on(terminal, name):
    held = terminal("plain")
    held.kill(getattr(signal, name))
    held.end()
    assert not held.restored, "or these tests prove nothing"
