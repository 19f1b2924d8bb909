"""bash: capped while reading, ended as a group, without keys (`data.md` 5, facts 159 and 164)."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from qiming_tui.config import ToolSettings
from qiming_tui.tools import shell
from qiming_tui.tools.base import Refused, ToolError
from qiming_tui.tools.shell import Bash, Spool

WAIT_S = 10


async def bash(context, command, **more):
    return await Bash().run({"command": command, **more}, context)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(*pids):
    """Wait until processes have ended."""
    async with asyncio.timeout(WAIT_S):
        for pid in pids:
            while alive(pid):
                await asyncio.to_thread(ended, pid)


def ended(pid):
    """Wait for the end of a process, half a second at most."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [], 0.5)
        finally:
            os.close(descriptor)


async def written(path, task=None):
    """Wait until a file holds something; its words."""
    async with asyncio.timeout(WAIT_S):
        while not path.exists() or not path.read_text().endswith("\n"):
            waiting = task or asyncio.get_running_loop().create_future()
            await asyncio.wait({waiting}, timeout=0.02)
    return path.read_text().split()


async def test_output_is_merged_in_order(context):
    result = await bash(context, "echo one; echo two >&2; echo three")
    assert result.output == "one\ntwo\nthree"
    assert result.metadata == {"exit": 0, "timed_out": False, "removed": 0}
    assert (await bash(context, "true")).output == "(no output)"
    assert (await bash(context, "echo a; exit 3")).output == "a\n(exit code 3)"
    assert (await bash(context, "kill -9 $$")).output == "(no output)\n(ended by signal SIGKILL)"


async def test_it_runs_in_the_project_or_the_workdir(project, context):
    (project / "sub").mkdir()
    assert (await bash(context, "pwd")).output == str(project)
    assert (await bash(context, "pwd", workdir="sub")).output == str(project / "sub")
    with pytest.raises(ToolError, match="no folder none"):
        await bash(context, "pwd", workdir="none")


async def test_it_asks_first(context, gate, project):
    gate.say = False
    with pytest.raises(Refused):
        await bash(context, "touch made")
    assert os.listdir(project) == []
    assert gate.people[0].tool == "bash"


async def test_there_is_no_input_and_no_terminal(context):
    assert (await bash(context, "cat; tty; echo $TERM")).output.splitlines() == ["not a tty", "dumb"]


async def test_keys_are_not_handed_on(context):
    env = {**context.env, "OPENAI_API_KEY": "s3cret", "MY_LLM": "s3cret", "GH_TOKEN": "wanted"}
    limits = ToolSettings(env_allow=("GH_TOKEN",))
    context = replace(context, env=env, hidden=frozenset({"MY_LLM"}), limits=limits)
    output = (await bash(context, "env")).output
    assert "s3cret" not in output
    assert "GH_TOKEN=wanted" in output


async def test_c_131_control_sequences_are_taken_out_and_counted(context):
    result = await bash(context, r"printf '\033[31mred\033[0m\a\n'")
    assert (result.output, result.metadata["removed"]) == ("red", 3)


async def test_fact_164_long_output_is_cut_in_the_middle_and_kept(context):
    result = await bash(context, "seq 5000")
    lines = result.output.splitlines()
    assert (lines[0], lines[-1]) == ("1", "5000")
    assert "...3000 lines truncated..." in lines
    assert result.metadata["full_output"].splitlines() == [str(number) for number in range(1, 5001)]


async def test_output_beyond_the_bound_is_dropped_and_said(context, monkeypatch):
    monkeypatch.setattr(shell, "KEPT_BYTES", 100_000)
    result = await bash(context, "head -c 400000 /dev/zero | tr '\\0' a; echo end")
    full = result.metadata["full_output"]
    assert f"\n...{400_004 - 100_000 - 65_536} bytes were not kept...\n" in full
    assert full.endswith("aend")
    assert len(full) < 170_000


async def test_a_flood_is_stopped(context, monkeypatch):
    monkeypatch.setattr(shell, "ENOUGH_BYTES", 2 * 2**20)
    result = await bash(context, "yes")
    assert result.output.endswith("(stopped: it printed more than 2 MiB)")


def test_the_spool_is_bounded():
    spool = Spool()
    for _ in range(200):
        spool.write(b"x" * 65_536)
    assert spool.total == 200 * 65_536
    assert spool._tail_bytes <= 2 * 65_536
    assert len(spool.text()) < shell.KEPT_BYTES + 2 * 65_536
    spool.close()


async def test_a_time_limit_keeps_what_was_printed(context):
    result = await bash(context, "echo begun; exec sleep 60", timeout=300)
    assert result.output.startswith("begun\n(stopped: the time limit was reached")
    assert result.metadata["timed_out"] is True


async def test_the_default_time_limit_is_two_minutes_and_a_setting():
    assert ToolSettings().bash_timeout_s == 120


async def test_a_background_process_does_not_hold_the_call_up_and_is_ended(context):
    result = await bash(context, "sleep 60 & echo $!")
    pid = int(result.output.splitlines()[0])
    assert result.output.endswith("(processes that it left running were stopped)")
    await gone(pid)


async def test_nice_10_for_everything_in_the_group(context):
    result = await bash(context, "sh -c nice")
    assert int(result.output) == max(os.nice(0), 10)


async def test_progress_is_the_newest_clean_end(context):
    told = []
    context = replace(context, progress=told.append)
    await bash(context, r"for i in 1 2 3 4 5 6; do printf '\033[1m%s\n' $i; sleep 0.1; done")
    assert told
    assert "\x1b" not in "".join(told)
    assert told[-1].startswith("1\n2\n")


async def test_a_cancel_ends_the_whole_group_within_a_quarter_second_and_re_raises(context, project):
    command = "trap '' TERM; sleep 60 & echo $$ $! > pids; wait; sleep 60"
    task = asyncio.create_task(bash(context, command))
    pids = await written(project / "pids", task)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.time() - begin < 0.6  # 0.25 s on a quiet machine
    await gone(*map(int, pids))


async def test_a_second_cancel_kills_at_once(context, project):
    task = asyncio.create_task(bash(context, "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"))
    (pid,) = await written(project / "pid", task)
    task.cancel()
    await asyncio.wait({task}, timeout=0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(int(pid))


PARENT = """
import asyncio, sys
from pathlib import Path
from qiming_tui.tools.base import ToolContext
from qiming_tui.tools.shell import Bash

async def ask(_): return None

context = ToolContext(directory=Path(sys.argv[1]), ask=ask, env={"PATH": "/usr/bin:/bin"})
command = "trap '' TERM HUP; sleep 60 & echo $$ $! > pids; echo up; sleep 60"
asyncio.run(Bash().run({"command": command}, context))
"""


async def test_a_parent_that_is_killed_leaves_nothing_behind(project):
    root = Path(__file__).resolve().parent.parent.parent
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(project)], cwd=root, env={"PYTHONPATH": str(root)}
    )
    try:
        pids = [int(pid) for pid in await written(project / "pids")]
        assert all(alive(pid) for pid in pids)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait(WAIT_S)
    await gone(*pids)


async def test_what_cannot_be_started_is_said(context):
    with pytest.raises(ToolError, match="NUL"):
        await bash(context, "echo \x00")
    with pytest.raises(ToolError, match="could not start"):
        await bash(context, "echo " + "x" * 3_000_000)
