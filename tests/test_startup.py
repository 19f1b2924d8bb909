"""What a start costs: the slow libraries are not imported by the command line."""

import json
import subprocess
import sys

import pytest

from qiming_tui import __version__

HEAVY = ("litellm", "tiktoken", "textual", "peewee", "openai", "httpx", "asyncio")

IMPORT = "import qiming_tui.cli.main"
VERSION = """
import qiming_tui.cli.main as m
try:
    m.main(["--version"])
except SystemExit as end:
    assert end.code in (0, None), end.code
"""
HELP = VERSION.replace("--version", "--help")


def loaded(code: str) -> tuple[set[str], str]:
    """Top-level modules after running `code` in a new interpreter, and what it printed before."""
    report = "\nimport json, sys\nprint()\nprint(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + report], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    text, _, modules = run.stdout.rstrip().rpartition("\n")
    return set(json.loads(modules)), text


@pytest.mark.parametrize("code", [IMPORT, VERSION, HELP], ids=["import", "version", "help"])
def test_the_command_line_starts_light(code: str) -> None:
    modules, _ = loaded(code)
    assert not modules & set(HEAVY)


def test_the_version_is_the_packages() -> None:
    _, text = loaded(VERSION)
    assert __version__ in text


def test_the_package_runs_as_a_module() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "qiming_tui", "--version"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0
    assert __version__ in run.stdout


FIRST_FRAME = "import qiming_tui.cli.screen, qiming_tui.cli.screen_run"
LATER = (
    "peewee",
    "playhouse",
    "markdown_it",
    "pygments",
    "litellm",
    "tiktoken",
    "pathspec",
    "sqlite3",
    "httpx",
)
"""Imported once the first frame is there: what the session, the conversation's engine and commands need."""


def test_before_the_first_frame_nothing_heavy_is_imported() -> None:
    modules, _ = loaded(FIRST_FRAME)
    assert not modules & set(LATER)
    assert "textual" in modules


def test_the_first_frame_needs_no_command_and_no_session() -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"{FIRST_FRAME}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    ours = {name for name in run.stdout.split() if name.startswith("qiming_tui.")}
    later = ("store", "provider", "session", "runtime", "demo", "tools", "importers", "tui.acts")
    assert not {name for name in ours if name.startswith(tuple(f"qiming_tui.{each}" for each in later))}
    assert len(ours) < 140
