"""The full screen inside tmux, which keeps its own account of what a program left on."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WAIT_S = 60
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """A server of its own with one window."""

    def __init__(self, folder, command):
        self._base = ["tmux", "-S", str(folder / "tmux.sock"), "-f", os.devnull]
        self.run("new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder), command)

    def run(self, *args):
        done = subprocess.run([*self._base, *args], capture_output=True, text=True, timeout=20, check=True)
        return done.stdout

    @property
    def text(self):
        return self.run("capture-pane", "-p")

    @property
    def flags(self):
        """Alternate screen, mouse, cursor: as tmux knows them of the program."""
        return self.run("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()

    def until(self, holds):
        end = time.monotonic() + WAIT_S
        while not holds(self.text):
            assert time.monotonic() < end, self.text
            time.sleep(0.1)

    def program(self):
        """The process that the window's shell has started."""
        shell = self.run("display", "-p", "#{pane_pid}").strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])

    def close(self):
        self.run("kill-server")


@pytest.fixture
def demo(tmp_path):
    env = {
        "XDG_DATA_HOME": tmp_path / "data",
        "XDG_CONFIG_HOME": tmp_path,
        "PYTHONPATH": Path(__file__).parents[2],
    }
    sets = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in env.items())
    program = (
        f"env -u COLUMNS -u LINES {sets} {shlex.quote(sys.executable)} -m qiming_tui demo grow --speed 0"
    )
    held = Tmux(tmp_path, f"sh -c {shlex.quote(f'{program}; echo ended $?; exec cat')}")
    yield held
    held.close()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_c_120_tmux_has_its_window_back(demo, name):
    demo.until(lambda text: "ctx/10" in text)
    assert demo.flags == "1 1 0", "the screen is up"
    number = getattr(signal, name)
    os.kill(demo.program(), number)
    end = time.monotonic() + 10
    while demo.flags != "0 0 1":
        assert time.monotonic() < end, demo.flags
        time.sleep(0.1)
    if name != "SIGKILL":  # there the shell writes before the watcher has left the other screen
        demo.until(lambda text: f"ended {128 + number}" in text)


def test_keys_and_a_resize_through_tmux(demo):
    demo.until(lambda text: "1 compaction" in text and "CHANGES.md has both entries" in text)
    demo.run("send-keys", "C-t")
    demo.until(lambda text: "[ ] event  enter jump" in text)
    demo.run("send-keys", "[")
    demo.until(lambda text: "summary request" in text)
    demo.run("resize-window", "-x", "60", "-y", "20")
    demo.until(lambda text: max(map(len, text.split("\n"))) <= 60 and "ctx/10" in text)
    demo.run("send-keys", "C-q")
    demo.until(lambda text: "a session of your own: qiming" in text and "ended 0" in text)
