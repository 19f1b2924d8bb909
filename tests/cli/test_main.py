"""The command `qiming` itself: where words go, help of everything, exit codes, no control sequences."""

import subprocess
import sys

import pytest

from qiming_tui.cli import inspect, main, output
from tests.cli.runner import call

EVERY = [(name,) for name in main.TABLE] + [("inspect", name) for name in inspect.TABLE]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    result = call(*words, "--help")
    assert result.code == 0, result.err
    assert result.out.startswith(f"Usage: qiming {' '.join(words)}")
    assert len(result.out.splitlines()) > 4


def test_the_top_lists_every_command() -> None:
    out = call("--help").out
    assert all(f"  {name} " in out for name in main.TABLE)
    assert "--plain" in out


@pytest.mark.parametrize(
    "words",
    [
        ("--plain",),
        ("--model", "a/b"),
        ("--session", "ses_1"),
        ("--continue", "--plain"),
        ("hello", "--plain"),
    ],
)
def test_options_of_a_conversation_go_to_plain(words: tuple[str, ...]) -> None:
    result = call(*words, "--help")
    assert result.code == 0, result.err
    assert result.out.startswith("Usage: qiming plain")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("fix", "the", "bug"), "A prompt goes behind --plain or run."),
        (("inspect", "everything"), "No such command 'everything'."),
        (("sessions", "--nonsense"), "No such option"),
    ],
)
def test_a_word_that_is_no_command_is_bad_input(words: tuple[str, ...], hint: str) -> None:
    result = call(*words)
    assert (result.code, result.out) == (2, "")
    assert hint in result.err


def test_printed_text_is_free_of_control_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_error("a\x1b[31mred\x07", "b\x9b2J")
    output.print_lines(["c\x1b]0;x\x07d"])
    output.print_json({"k": "e\x1b\x9b\x7f你好\ud800"})
    shown = capsys.readouterr()
    text = shown.out + shown.err
    assert not {c for c in text if c != "\n" and (c < " " or "\x7f" <= c <= "\x9f")}
    assert '{"k":"e\\u001b\\u009b\\u007f你好\\ud800"}' in shown.out


def test_json_is_utf8_whatever_the_locale_says() -> None:
    code = "from qiming_tui.cli import output as o; o.plain_streams(); o.print_json({'k': '你好'})"
    env = {"PYTHONIOENCODING": "latin-1", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, timeout=60)
    assert run.stdout.decode("utf-8") == '{"k":"你好"}\n', run.stderr


def test_a_table_lines_up_and_keeps_to_one_line_a_row() -> None:
    rows = [("name", "n"), ("long\nname\x1b[1m", "1,234"), ("x", "5")]
    assert output.table(rows, right=frozenset({1})) == [
        "name           n",
        "long name  1,234",
        "x              5",
    ]
    assert output.table([]) == []
