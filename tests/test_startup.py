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
