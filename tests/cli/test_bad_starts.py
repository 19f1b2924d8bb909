"""What cannot be meant is refused before a turn begins: exit code 2, nothing stored, the way out named."""

from pathlib import Path

import pytest

from tests.cli.runner import call

SETTINGS = """
[providers.home]
base_url = "http://127.0.0.1:9/v1"
key_env = ""
[providers.home.models.small.limits]
context = 32768
output = 4096
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file with a model of 32,768 tokens at an address where nobody answers."""
    path = tmp_path / "config.toml"
    path.write_text(SETTINGS)
    monkeypatch.setenv("QIMING_CONFIG", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--reserved", "40000"), ("reserved", "40,000", "32,768")),
        (("--allow", "foo"), ("'foo'", "flag", "bash, edit, external_directory, glob")),
        (("--allow", "bsh:git *"), ("'bsh'",)),
        (("--model", "nope"), ("'nope'", "PROVIDER/MODEL", "qiming models")),
        (("--session", "ses_nothing"), ("not found", "qiming sessions")),
        (("--continue",), ("no session in this folder", "without --continue")),
        (("--session", "ses_1", "--continue"), ("two sessions",)),
    ],
)
def test_bad_input_is_refused_at_the_start(home: Path, args: tuple[str, ...], words: tuple[str, ...]) -> None:
    model = () if "--model" in args else ("--model", "home/small")
    result = call("run", "hello", *model, *args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert [word for word in words if word not in result.err] == [], result.err
    assert call("sessions", "--json").json == [], "nothing was stored"


@pytest.mark.parametrize(("rule", "words"), [('bsh = "deny"', "'bsh'"), ('"foo*" = "allow"', "'foo*'")])
def test_a_rule_of_the_settings_for_no_tool_is_refused(home: Path, rule: str, words: str) -> None:
    """`bsh = "deny"` would be a lock on no door."""
    home.write_text(f"{SETTINGS}\n[permission]\n{rule}\n")
    result = call("run", "hello", "--model", "home/small")
    assert result.code == 2
    assert words in result.err
    assert "user" in result.err


def test_click_and_we_say_error_alike() -> None:
    result = call("run", "hello", "--nope")
    assert result.code == 2
    assert result.err.splitlines() == [
        "error: No such option '--nope'. (Did you mean one of: '--model', '--store'?)",
        "hint: qiming run --help says how it is called",
    ]
