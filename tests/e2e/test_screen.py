"""The full screen in a real pseudo-terminal, with real processes, a real store and real HTTP."""

import json
import re
import signal
import threading
import time
from itertools import pairwise

import pytest

from tests.e2e.terminal import Terminal
from tests.loopback.mock_openai import serve

TITLE = {"when": {"system_contains": "Generate a title"}, "reply": {"text": "Counting [stage] x"}}
SUMMARY = {
    "when": {"last_user_contains": "Write short bullets"},
    "reply": {"text": "## Goal\nCount the files.\n## Accomplished\nCounted them.\n"},
}
HOSTILE = "One file. \u001b]52;c;aGk=\u0007\u001b[2J[red]not red[/red] [/] done"


@pytest.fixture
def place(tmp_path):
    """A home of its own: settings, data and project folder."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("remember the milk\n")
    return tmp_path


@pytest.fixture
def start(place):
    """Starts a program in a terminal; ends it and the servers afterwards."""
    held, servers = [], []

    def begin(*args, script=None, context=12_000, **fields):
        if script is not None:
            httpd = serve(script, str(place / "requests.jsonl"))
            threading.Thread(target=httpd.serve_forever, daemon=True).start()
            servers.append(httpd)
            _settings(place, httpd.server_address[1], context)
        env = {
            "QIMING_CONFIG": str(place / "config.toml"),
            "XDG_DATA_HOME": str(place / "data"),
            "XDG_CONFIG_HOME": str(place / "config"),
        }
        held.append(Terminal(*args, cwd=place / "project", env=env, **fields))
        return held[-1]

    yield begin
    for each in held:
        each.close()
    for httpd in servers:
        httpd.shutdown()
        httpd.server_close()


def _settings(place, port, context):
    lines = (
        'model = "mock/mock-model"',
        "[providers.mock]",
        f'base_url = "http://127.0.0.1:{port}/v1"',
        'wire = "openai"',
        'key_env = ""',
        '[providers.mock.models."mock-model".limits]',
        f"context = {context}",
        "output = 1000",
    )
    (place / "config.toml").write_text("\n".join(lines))


def script(*steps, **fields):
    return {"model": "mock-model", "rules": [TITLE, SUMMARY], "steps": list(steps), **fields}


def test_a_tool_a_question_a_hostile_answer_a_compaction_and_the_way_out(start, place):
    refusal = {
        "status": 400,
        "code": "context_length_exceeded",
        "type": "invalid_request_error",
        "message": "This model's maximum context length is 12000 tokens. "
        "However, your messages resulted in 12500 tokens.",
    }
    held = start(
        script=script(
            {"tool_calls": [{"name": "bash", "arguments": {"command": "echo counted; ls"}}]},
            {"text": HOSTILE},
            {"error": refusal},
            {"text": "Still one file."},
        )
    )
    held.until("Ask, /command, @file")
    held.send("how many files are here?\r")
    held.until("Allow bash?")
    _press_until(held, "\x19", lambda text: "Allow bash?" not in text)
    held.until("[red]not red[/red] [/] done")
    assert b"\x1b]52;c;aGk=" not in held.seen, "an answer does not reach the clipboard"
    held.until("Counting [stage] x")
    held.until(lambda text: "2345" in text or re.search(r"ctx/10 +\d\d ", text) is not None)
    held.send("and now?\r")
    held.until("Still one file.")
    text = held.until("1 compaction")
    assert re.search(r"── +Z C1 auto", text) or "C1" in text
    assert re.search(r"event +\S*C", text), "the strip marks it"
    held.send("\x11")
    assert held.end() == 0
    assert held.restored
    assert "> and now?" in held.printed
    assert "Still one file." in held.printed
    found = re.search(r"go on with: qiming --session (ses_\w+)", held.printed)
    assert found
    again = start("--session", found[1])
    again.until("Still one file.")
    again.until("1 compaction")
    again.kill(signal.SIGHUP)
    assert again.end() == 128 + signal.SIGHUP
    assert again.restored


def _press_until(held, key, done):
    """A question takes keys only after a moment: press again until it did."""
    end = time.monotonic() + 20
    while not done(held.text):
        assert time.monotonic() < end, held.text
        held.send(key)
        held.read(0.3)


def test_a_prompt_given_at_once_is_sent_a_resize_loses_nothing_and_esc_twice_stops(start, place):
    words = " ".join(f"word{n}" for n in range(6000))  # longer than the slowest machine needs
    held = start(
        "screen",
        "talk at once",
        script=script({"text": words, "chunk_ms": 100, "chunk": 12}, {"text": "after"}),
    )
    held.until("word5 ")
    bodies = [json.loads(line) for line in (place / "requests.jsonl").read_text().splitlines()]
    assert "talk at once" in json.dumps(bodies[0])
    for size in ((60, 20), (80, 24), (200, 50), (100, 30)):
        held.resize(*size)
        first = _last_word(held.text)
        held.until(lambda text, first=first: _last_word(text) > first)
    held.until(_in_order)  # what is seen in the middle of a repaint is not yet the screen
    begun = time.monotonic()
    held.send("\x1b")
    held.until("again")
    held.send("\x1b")
    held.until(
        lambda text: "stopped" in text.lower() or "aborted" in text.lower() or "cut off" in text.lower()
    )
    assert time.monotonic() - begun < 10
    seen = _last_word(held.text)
    held.send("go on\r")
    held.until("after")
    assert _last_word(held.text) <= seen + 2, "nothing of the stopped stream comes later"
    held.kill(signal.SIGTERM)
    assert held.end() == 128 + signal.SIGTERM
    assert held.restored


def _in_order(text):
    """Whether every word is there, none lost, none twice."""
    numbers = [int(number) for number in re.findall(r"word(\d+)", text)]
    return bool(numbers) and all(after == before + 1 for before, after in pairwise(numbers))


def _last_word(text):
    return max((int(number) for number in re.findall(r"word(\d+)", text)), default=-1)


def test_the_demo_plays_and_leaves_the_terminal_as_it_was(start):
    held = start("demo", "grow", "--speed", "0")
    held.until(lambda text: "1 compaction" in text and "CHANGES.md has both entries" in text)
    held.send("\x14")
    held.until("[ ] event  enter jump")
    held.send("[")
    held.until("summary request")
    held.send("g12\r")
    held.until("step 12/")
    held.kill(signal.SIGTERM)
    assert held.end() == 128 + signal.SIGTERM
    assert held.restored


def test_killed_in_the_middle_of_the_demo_it_leaves_the_terminal_as_it_was(start):
    held = start("demo", "grow", "--speed", "0")
    held.until("ctx/10")
    held.kill(signal.SIGKILL)
    assert held.end() == -signal.SIGKILL
    assert held.restored


def test_in_the_smallest_size_and_without_colour(start):
    held = start("demo", "zh", "--speed", "0", size=(40, 12))
    held.until(lambda text: re.search(r"\d+% (ok|near|over|full|last turn)", text) is not None)
    held.send("\x11")
    assert held.end() == 0
    assert held.restored
