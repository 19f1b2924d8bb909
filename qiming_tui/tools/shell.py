"""bash: run a command, asked about first, capped, stoppable, without our keys (`design.md` 8, fact 164)."""

import asyncio
import codecs
import signal
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from qiming_tui.config import ToolSettings
from qiming_tui.model.codec import JSON
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tools.ask_command import ask_for
from qiming_tui.tools.base import ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.environ import tool_environment
from qiming_tui.tools.group import READ_BYTES, Group, shell, start
from qiming_tui.tools.paths import locate
from qiming_tui.tools.truncate import truncate

MAX_TIMEOUT_MS: Final = 600_000
KEPT_BYTES: Final = 8 * 1024 * 1024
"""Of a longer output the head and the newest `TAIL_BYTES` are kept."""
IN_MEMORY_BYTES: Final = 256 * 1024
TAIL_BYTES: Final = 65_536
ENOUGH_BYTES: Final = 64 * 1024 * 1024
"""A command that prints more is stopped."""
IDLE_S: Final = 0.2
"""How long the pipe may stay silent after the command has ended, while something else holds it open."""
PROGRESS_S: Final = 0.1
PROGRESS_CHARS: Final = 2_000


class Spool:
    """The output of a command, bounded: the head on a temporary file beyond 256 KiB, and the newest end."""

    def __init__(self) -> None:
        self._head = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 (closed by `close`)
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total = 0

    def write(self, data: bytes) -> None:
        """Keep a piece of output."""
        room = KEPT_BYTES - min(self.total, KEPT_BYTES)
        self._head.write(data[:room])
        self.total += len(data)
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
            self._tail_bytes -= len(self._tail.popleft())

    def newest(self) -> str:
        """The end of the output so far, clean."""
        text = b"".join(self._tail)[-4 * PROGRESS_CHARS :].decode("utf-8", "replace")
        return clean(text)[0][-PROGRESS_CHARS:]

    def text(self) -> str:
        """All of it; of an output beyond the bound the head, a line that says so, and the end."""
        self._head.seek(0)
        head = codecs.decode(self._head.read(), "utf-8", "replace")
        if self.total <= KEPT_BYTES:
            return head
        over = b"".join(self._tail)[-min(TAIL_BYTES, self.total - KEPT_BYTES) :]
        lost = self.total - KEPT_BYTES - len(over)
        return f"{head}\n...{lost} bytes were not kept...\n{over.decode('utf-8', 'replace')}"

    def close(self) -> None:
        """Let go of the temporary file."""
        self._head.close()


class Bash:
    """Runs a shell command in a process group of its own."""

    name = "bash"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line"},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_TIMEOUT_MS,
                "description": "Time limit in milliseconds",
            },
            "workdir": {"type": "string", "description": "Folder to run in; default: the project folder"},
            "description": {"type": "string", "description": "What it does, in 5 to 10 words"},
        },
        "required": ["command"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("bash")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Run it. Cancelling ends the whole process group, then re-raises."""
        command: str = arguments["command"]
        limit_s = (arguments.get("timeout") or context.limits.bash_timeout_s * 1000) / 1000
        env = tool_environment(context.env, allow=context.limits.env_allow, hidden=context.hidden)
        place = locate(context.directory, arguments.get("workdir") or ".", home=env.get("HOME"))
        await context.ask(ask_for(command, place, env))
        if not place.real.is_dir():
            raise ToolError(f"workdir: there is no folder {place.name}")
        if "\x00" in command:
            raise ToolError("the command holds a NUL character")
        spool = Spool()
        try:
            ending = await _execute(command, place.real, env, spool, limit_s, context.progress)
            return _result(command, spool, ending, context.limits)
        finally:
            spool.close()


class _Ending:
    """How a command ended; `notes` are sentences for the model."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.timed_out = False
        self.notes: list[str] = []


async def _execute(
    command: str,
    directory: Path,
    env: dict[str, str],
    spool: Spool,
    limit_s: float,
    progress: Callable[[str], None],
) -> _Ending:
    ending = _Ending()
    group = await start([*shell(), command], directory=directory, env=env)
    reader = asyncio.create_task(_drain(group, spool, progress))
    try:
        either: set[asyncio.Future[Any]] = {group.exited, reader}
        await asyncio.wait(either, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if spool.total > ENOUGH_BYTES:
            ending.notes.append(f"stopped: it printed more than {ENOUGH_BYTES // 2**20} MiB")
        elif not group.exited.done() and reader.done():
            await asyncio.wait({group.exited}, timeout=limit_s)
        ending.timed_out = not group.exited.done() and not ending.notes
        if group.exited.done() and not await _settled(reader, spool):
            ending.notes.append("processes that it left running were stopped")
        await group.end()
        await _settled(reader, spool)
        ending.status = group.exited.result()
    finally:
        reader.cancel()
        await group.end()
    return ending


async def _drain(group: Group, spool: Spool, progress: Callable[[str], None]) -> None:
    """Read until the end, or until it is enough."""
    loop = asyncio.get_running_loop()
    told = loop.time()
    while data := await group.output.read(READ_BYTES):
        spool.write(data)
        if spool.total > ENOUGH_BYTES:
            return
        if loop.time() - told >= PROGRESS_S:
            told = loop.time()
            progress(spool.newest())


async def _settled(reader: "asyncio.Task[None]", spool: Spool) -> bool:
    """Wait for the reader while something arrives; False if it is still held up."""
    seen = -1
    while not reader.done() and seen != spool.total:
        seen = spool.total
        await asyncio.wait({reader}, timeout=IDLE_S)
    return reader.done()


def _result(command: str, spool: Spool, ending: _Ending, limits: ToolSettings) -> ToolResult:
    text, removed = clean(spool.text())
    text = text.rstrip("\n")
    cut = truncate(text, max_lines=limits.max_lines, max_bytes=limits.max_bytes, keep="both")
    notes = list(ending.notes)
    if ending.timed_out:
        notes.append("stopped: the time limit was reached; set a larger timeout if it needs longer")
    elif ending.status and ending.status < 0 and not notes:
        notes.append(f"ended by signal {_signal_name(-ending.status)}")
    elif ending.status and not notes:
        notes.append(f"exit code {ending.status}")
    body = cut.text or "(no output)"
    metadata: dict[str, JSON] = {"exit": ending.status, "timed_out": ending.timed_out, "removed": removed}
    if cut.full is not None:
        metadata["full_output"] = cut.full
    return ToolResult(
        output=body + "".join(f"\n({note})" for note in notes),
        title=one_line(command, limit=120),
        metadata=metadata,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
