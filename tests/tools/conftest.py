"""A project folder, and a gate that remembers what it was asked."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qiming_tui.config import ToolSettings
from qiming_tui.tools.base import Ask, Refused, ToolContext
from qiming_tui.tools.permissions import DEFAULT_RULES, Action, Rule, decide


@dataclass
class Gate:
    """Answers asks by rules; what the rules leave open is answered with `say`."""

    say: bool = True
    rules: tuple[Rule, ...] = DEFAULT_RULES
    seen: list[Ask] = field(default_factory=list)
    """Every ask."""
    people: list[Ask] = field(default_factory=list)
    """Those that a person had to answer."""
    before: object = None
    """Called while the question stands."""

    async def ask(self, ask: Ask) -> None:
        self.seen.append(ask)
        action = decide(self.rules, ask.wanted)
        if action is Action.ALLOW:
            return
        if action is Action.DENY:
            raise Refused("a rule forbids it")
        self.people.append(ask)
        if callable(self.before):
            self.before()
        if not self.say:
            raise Refused("not now")


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("hidden\n")
    return folder


@pytest.fixture
def context(project: Path, gate: Gate, tmp_path: Path) -> ToolContext:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    return ToolContext(directory=project, ask=gate.ask, env=env, limits=ToolSettings())
