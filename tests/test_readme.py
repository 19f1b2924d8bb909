"""The README is true: its paths, settings and commands exist, and CI runs its tests' command."""

import re
import shlex

import pytest

from qiming_tui.cli.main import TABLE
from qiming_tui.config import ENVIRONMENT, load
from qiming_tui.model.limits import ModelRef
from tests.cli.runner import call
from tests.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(marker: str) -> str:
    """The one command of the code block behind a marker."""
    found = re.search(rf"<!-- {marker} -->\n```sh\n(.+)\n```", README)
    assert found, marker
    return found[1]


def test_every_path_of_the_index_exists() -> None:
    index = README.partition("## Newcomer's index")[2].partition("\n## ")[0]
    paths = re.findall(r"`((?:qiming_tui|styles)[\w/.]*)`", index)
    assert len(paths) > 20
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_settings_of_the_readme_load(tmp_path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(re.search(r"```toml\n(.+?)```", README, re.DOTALL)[1], encoding="utf-8")
    config = load(path, None, {})
    assert config.settings.reserved == 20_000
    assert config.limits(ModelRef("home", "my-model")).context == 32_768
    assert len(config.rules) == 3


def test_every_variable_and_every_command_is_named() -> None:
    assert not [variable.name for variable in ENVIRONMENT if f"`{variable.name}`" not in README]
    assert not [name for name in TABLE if name != "plain" and not re.search(rf"`(qiming )?{name}\b", README)]


@pytest.mark.parametrize("marker", ["start", "tests"])
def test_the_two_commands_use_the_pins_and_everything_they_name_is_there(marker: str) -> None:
    words = shlex.split(block(marker))
    assert words.count(".ci/pins.txt") == 3
    assert (ROOT / ".ci" / "pins.txt").read_text(encoding="utf-8").count("\nuv==") == 1
    assert words[:3] == ["python3", "-m", "pip"]


def test_the_example_is_what_the_program_says() -> None:
    words = shlex.split(re.search(r"`qiming (inspect budget [^`]+)`", README)[1])
    assert call(*words, "--json").json["usable"] == 191_808


def test_ci_takes_the_tests_command_from_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- tests -->" in script
    assert "pytest" not in re.sub(r"pytest\.log", "", script)
    assert block("tests").endswith(".venv/bin/python -m pytest -n auto --dist worksteal")
