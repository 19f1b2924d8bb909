"""The scenarios as data: what their model says is possible, and true."""

import os
import re
import shutil
import stat
import subprocess

import pytest

from qiming_tui.config import RuleOrigin
from qiming_tui.demo import chinese, ferry, trouble
from qiming_tui.demo.calls import prose
from qiming_tui.demo.place import demo_folder
from qiming_tui.demo.play import write_files
from qiming_tui.demo.scenarios import BUILDERS, listing, scenario
from qiming_tui.model.errors import InputError
from qiming_tui.provider.scenario import Call
from qiming_tui.tools.permissions import parse_rule
from qiming_tui.tools.registry import check_arguments, default_tools

NAMES = [
    *("grow", "prune", "overflow", "input-limit", "huge-result", "failed-summary", "storm"),
    *("undo", "pins", "bad-estimate", "model-switch", "zh"),
]
TOOLS = {tool.name: tool for tool in default_tools()}


def calls(found):
    return [call for turn in found.turns for reply in turn.replies for call in reply.calls]


def run_check(folder):
    command = ["python3", "-B", "check.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)


def test_the_scenarios_of_the_issue_are_there_each_with_a_sentence():
    assert list(BUILDERS) == NAMES
    assert [name for name, _ in listing()] == NAMES
    for name, sentence in listing():
        assert scenario(name).name == name
        assert 20 < len(sentence) <= 100


def test_an_unknown_scenario_is_answered_with_the_names():
    with pytest.raises(InputError, match="'gorw'") as fault:
        scenario("gorw")
    assert "grow" in fault.value.hint


@pytest.mark.parametrize("name", NAMES)
def test_every_call_fits_the_tools_schema_and_every_rule_can_be_read(name):
    found = scenario(name)
    for call in calls(found):
        assert check_arguments(TOOLS[call.tool], call.arguments) == call.arguments
    for rule in found.allow:
        parse_rule(rule, origin=RuleOrigin.FLAG)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_is_read_exists_and_every_edit_finds_its_passage_once(name):
    found = scenario(name)
    files = dict(found.files)
    for call in calls(found):
        path = call.arguments.get("filePath")
        if call.tool == "read":
            assert path in files
        elif call.tool == "edit":
            assert files[path].count(call.arguments["oldString"]) == 1
            files[path] = files[path].replace(call.arguments["oldString"], call.arguments["newString"])
        elif call.tool == "write":
            files[path] = call.arguments["content"]


@pytest.mark.parametrize("name", ["grow", "zh"])
@pytest.mark.skipif(shutil.which("python3") is None, reason="the demo project is checked by python3")
def test_the_projects_own_checks_pass_after_the_edits(name, tmp_path):
    found = scenario(name)
    write_files(found, tmp_path)
    for call in calls(found):
        if call.tool == "edit":
            path = tmp_path / call.arguments["filePath"]
            text = path.read_text(encoding="utf-8")
            path.write_text(
                text.replace(call.arguments["oldString"], call.arguments["newString"]), encoding="utf-8"
            )
    done = subprocess.run(
        ["python3", "-B", "check.py"], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout.decode()
    assert done.stdout.decode().splitlines()[-1] in ("all good", "全部正确")


def test_before_the_edit_the_check_finds_the_night_boats(tmp_path):
    write_files(scenario("grow"), tmp_path)
    done = subprocess.run(
        ["python3", "-B", "check.py"], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert b"got 14, wanted 0" in done.stdout


@pytest.mark.parametrize("week", [1, 2, 3, 4])
def test_what_the_model_says_of_a_week_is_what_its_log_says(week):
    late = [int(found) for found in re.findall(r"late (\d+) min", ferry.week_log(week))]
    assert ferry.late_count(week) == sum(minutes > 15 for minutes in late)
    assert ferry.worst(week).late == max(late)
    warned = ferry.week_log(week).count("passengers were told")
    assert warned == sum(minutes > 25 for minutes in late) > 0
    zh = [int(found) for found in re.findall(r"晚点 (\d+) 分钟", chinese.week_log(week))]
    assert zh == late


def test_the_telemetry_is_1_7_mb_with_the_failures_that_are_reported():
    text = trouble.telemetry()
    assert 1_700_000 <= len(text.encode()) < 1_701_000
    lines = text.splitlines()
    assert [number for number, line in enumerate(lines, 1) if "ERROR" in line] == list(trouble.FAILURES)


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_is_built_the_same_every_time_and_types_no_token_counts(name):
    assert scenario(name) == scenario(name)
    assert not re.search(r"\d tokens", repr(scenario(name).turns) + repr(scenario(name).summaries))


def test_prose_is_one_line_however_the_source_is_broken():
    assert prose(" one\n   two  three ") == "one two three"
    assert Call("list").arguments == {}


def test_the_demo_folder_has_the_same_name_every_time_is_private_and_goes_away(tmp_path):
    with demo_folder("grow", base=tmp_path) as first:
        assert first == tmp_path / "qiming-demo-grow"
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
        with demo_folder("grow", base=tmp_path) as second:
            assert second == tmp_path / "qiming-demo-grow-2"
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_already_is_never_used(tmp_path):
    os.symlink("/etc", tmp_path / "qiming-demo-x")
    for number in range(2, 10):
        (tmp_path / f"qiming-demo-x-{number}").mkdir()
    with demo_folder("x", base=tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith("qiming-demo-x-")
        assert not list(folder.iterdir())
    assert (tmp_path / "qiming-demo-x").is_symlink()
