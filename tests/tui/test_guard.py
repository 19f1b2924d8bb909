"""The terminal after every kind of end, in a real pseudo-terminal, every mode checked (cases C-120)."""

import os
import re
import signal
import sys
import termios
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]
KEYS = {
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "f8": "\x1b[19~",
    "f9": "\x1b[20~",
    "f10": "\x1b[21~",
}
WAIT_S = 30


class Terminal:
    """A pseudo-terminal with a program in it, and every mode that the program set."""

    def __init__(self, kind):
        env = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "tests.tui.guarded", kind], env=env, cwd=str(ROOT), timeout=WAIT_S
        )
        self.child.delaybeforesend = None
        self.before = termios.tcgetattr(self.child.child_fd)
        self.seen = b""
        self.until(b"READY TO DIE")
        assert {1000, 1049, 2004} <= self.modes(), "the screen is up"

    def until(self, what):
        self.child.expect_exact(what)
        self.seen += self.child.before + self.child.after

    def press(self, key):
        self.child.send(KEYS[key])

    def end(self):
        """Everything until nobody holds the terminal any more; the exit status, negative for a signal."""
        self.child.expect(pexpect.EOF)
        self.seen += self.child.before
        self.child.wait()
        status = self.child.exitstatus
        return -self.child.signalstatus if status is None else status

    def modes(self):
        """Private modes that are on."""
        on = set()
        for numbers, final in re.findall(rb"\x1b\[\?([\d;]+)([hl])", self.seen):
            for number in map(int, numbers.split(b";")):
                (on.add if final == b"h" else on.discard)(number)
        return on

    def kitty(self):
        """Keyboard modes that were pushed and not popped."""
        return len(re.findall(rb"\x1b\[>\d+u", self.seen)) - len(re.findall(rb"\x1b\[<u", self.seen))

    def restored(self):
        """The normal screen with a cursor, line wrap or nothing else, the line discipline as it was."""
        return (
            self.modes() <= {7, 25}
            and 25 in self.modes()
            and self.kitty() == 0
            and termios.tcgetattr(self.child.child_fd) == self.before
        )


@pytest.fixture
def terminal():
    held = []

    def start(kind="guard"):
        held.append(Terminal(kind))
        return held[-1]

    yield start
    for each in held:
        each.child.close(force=True)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_c_120_a_signal_leaves_and_says_which(terminal, name):
    held = terminal()
    number = getattr(signal, name)
    held.child.kill(number)
    assert held.end() == 128 + number
    assert held.restored()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGABRT", "SIGSEGV"])
def test_c_120_a_death_without_a_word_is_cleaned_up_by_the_watcher(terminal, name):
    held = terminal()
    number = getattr(signal, name)
    held.child.kill(number)
    assert held.end() == -number
    assert held.restored()


@pytest.mark.parametrize(("key", "code"), [("f5", 0), ("f6", 1), ("f7", 3), ("f8", 1)])
def test_c_120_an_exit_an_exception_and_a_hard_exit(terminal, key, code):
    held = terminal()
    held.press(key)
    assert held.end() == code
    assert held.restored()


@pytest.mark.parametrize("key", ["f9", "f10"])
def test_c_120_a_loop_that_does_not_answer_is_ended_by_the_watchdog(terminal, key):
    held = terminal()
    held.press(key)
    held.until(b"\x1b]0;busy\x07")
    held.child.kill(signal.SIGTERM)
    assert held.end() == 128 + signal.SIGTERM
    assert held.restored()


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
    held.child.kill(getattr(signal, name))
    held.end()
    assert not held.restored(), "or these tests prove nothing"
