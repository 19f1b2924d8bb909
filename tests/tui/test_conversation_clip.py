"""The way to the clipboard (cases C-125)."""

import base64
import re
import sys

import pytest

from qiming_tui.tui.widgets.conversation.clip import LIMIT_BYTES, copy, fitting, native_tool, osc52, run_tool


def everything(name):
    return f"/usr/bin/{name}"


def nothing(name):
    return None


@pytest.mark.parametrize(
    ("env", "tool"),
    [
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wl-copy"),
        ({"DISPLAY": ":0"}, "xclip"),
        ({}, "pbcopy"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1"}, None),
        ({"SSH_TTY": "/dev/pts/1"}, None),
    ],
)
def test_the_tool_is_that_of_the_machine_the_user_sits_at(env, tool):
    found = native_tool(env, which=everything)
    assert (found[0] if found else None) == tool
    assert native_tool(env, which=nothing) is None


def test_a_long_text_is_cut_between_two_characters():
    text = "a" + "字" * 30_000
    held = fitting(text)
    assert text.startswith(held)
    assert LIMIT_BYTES - 3 < len(held.encode()) <= LIMIT_BYTES
    assert len(osc52(held, tmux=False)) <= 100_000
    assert fitting("short") == "short"


def decoded(sequence):
    found = re.search(r"\x1b\]52;c;([^\x07]*)\x07", sequence)
    assert found is not None
    return base64.b64decode(found[1]).decode()


def test_the_sequence_is_wrapped_in_tmux():
    assert osc52("héllo", tmux=False) == "\x1b]52;c;aMOpbGxv\x07"
    wrapped = osc52("héllo", tmux=True)
    assert wrapped.endswith("\x1bPtmux;\x1b\x1b]52;c;aMOpbGxv\x07\x1b\\")
    assert decoded(wrapped) == "héllo"


async def test_what_happened_is_said():
    sent: list[str] = []

    async def works(command, data):
        sent.append(data.decode())
        return True

    async def fails(command, data):
        return False

    assert (
        await copy("ab", env={}, write=sent.append, run=works, which=everything)
        == "copied 2 characters (pbcopy)"
    )
    assert sent == ["ab"]
    words = await copy("ab", env={}, write=sent.append, run=fails, which=everything)
    assert words == "copied 2 characters through the terminal"
    assert decoded(sent[-1]) == "ab"
    words = await copy("x" * 80_000, env={"TMUX": "1"}, write=sent.append, run=works, which=nothing)
    assert words == "copied the first 74,994 of 80,000 characters: a terminal takes no more"
    assert sent[-1].count("52;c;") == 2


async def test_a_real_command_gets_the_text(tmp_path):
    target = tmp_path / "out"
    script = f"import sys,pathlib; pathlib.Path({str(target)!r}).write_bytes(sys.stdin.buffer.read())"
    assert await run_tool([sys.executable, "-c", script], "字 text".encode())
    assert target.read_text() == "字 text"
    assert not await run_tool([str(tmp_path / "none")], b"")
    assert not await run_tool([sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(3)"], b"x")
