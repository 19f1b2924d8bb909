"""Text to the clipboard: a tool of the machine where we sit at it, OSC 52 through the terminal otherwise.

Terminals take at most 100,000 bytes of OSC 52, which is 74,994 bytes of text; tmux wants the sequence
wrapped (cases C-125). What happened is said, because nobody can see a clipboard.
"""

import asyncio
import base64
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

LIMIT_BYTES: Final = 74_994
TOOL_TIMEOUT_S: Final = 2.0

_TOOLS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
"""The variable without which a tool is useless, and its command."""

Run = Callable[[Sequence[str], bytes], Awaitable[bool]]
"""Runs a command with a text as its input; whether it went well."""


def native_tool(
    env: Mapping[str, str], *, which: Callable[[str], str | None] = shutil.which
) -> tuple[str, ...] | None:
    """The command that fills this machine's clipboard; None over SSH, where it would be the wrong one."""
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return None
    for variable, command in _TOOLS:
        if (not variable or env.get(variable)) and which(command[0]):
            return command
    return None


def fitting(text: str, *, limit: int = LIMIT_BYTES) -> str:
    """The beginning of a text that is at most `limit` bytes of UTF-8, cut between two characters."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    return data[:limit].decode("utf-8", "ignore")


def osc52(text: str, *, tmux: bool) -> str:
    """The sequence that asks a terminal to fill its clipboard.

    In tmux it is sent twice: as it is, for `set-clipboard on`, and wrapped, for `allow-passthrough on`.
    """
    data = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{data}\x07"
    if not tmux:
        return sequence
    return f"{sequence}\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\"


async def run_tool(command: Sequence[str], data: bytes) -> bool:
    """Give a text to a command. Some (xclip) stay behind to serve it: we wait for their input to be taken,
    not for their end."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(TOOL_TIMEOUT_S):
            await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0


async def copy(
    text: str,
    *,
    env: Mapping[str, str],
    write: Callable[[str], object],
    run: Run = run_tool,
    which: Callable[[str], str | None] = shutil.which,
) -> str:
    """Copy a text; what happened, in words. `write` sends to the terminal."""
    size = f"{len(text):,} character{'s' * (len(text) != 1)}"
    command = native_tool(env, which=which)
    if command is not None and await run(command, text.encode("utf-8", "replace")):
        return f"copied {size} ({command[0]})"
    held = fitting(text)
    write(osc52(held, tmux=bool(env.get("TMUX"))))
    if len(held) < len(text):
        return f"copied the first {len(held):,} of {size}: a terminal takes no more"
    return f"copied {size} through the terminal"
