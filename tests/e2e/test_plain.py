"""A conversation in a pseudo-terminal, over real HTTP, with the real provider child and a real store."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pexpect
import pytest

from tests.loopback.mock_openai import serve

SUMMARY = "## Goal\nCount the files.\n## Accomplished\nCounted them.\n"
READY_S = 60


@pytest.fixture
def place(tmp_path):
    """A home of its own: settings, data and project folder."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("remember the milk\n")
    return tmp_path


@pytest.fixture
def server(place):
    """Starts the scripted server on loopback; the test gives it a script."""
    running = []

    def start(script):
        log = place / "requests.jsonl"
        httpd = serve(script, str(log))
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        running.append(httpd)
        url = f"http://127.0.0.1:{httpd.server_address[1]}/v1"
        lines = (
            'model = "mock/mock-model"',
            "[providers.mock]",
            f'base_url = "{url}"',
            'wire = "openai"',
            'key_env = ""',
            '[providers.mock.models."mock-model".limits]',
            "context = 12000",
            "output = 1000",
        )
        (place / "config.toml").write_text("\n".join(lines))
        return log

    yield start
    for httpd in running:
        httpd.shutdown()
        httpd.server_close()


def spawn(place: Path, *args: str) -> pexpect.spawn:
    env = {
        **os.environ,
        "QIMING_CONFIG": str(place / "config.toml"),
        "XDG_DATA_HOME": str(place / "data"),
        "XDG_CONFIG_HOME": str(place / "config"),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "qiming_tui", "--plain", *args]
    child = pexpect.spawn(
        command[0], command[1:], cwd=str(place / "project"), env=env, encoding="utf-8", timeout=READY_S
    )
    child.setwinsize(40, 120)
    return child


def bodies(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()]


REFUSAL = {
    "status": 400,
    "code": "context_length_exceeded",
    "type": "invalid_request_error",
    "message": "This model's maximum context length is 12000 tokens. "
    "However, your messages resulted in 12500 tokens.",
}
SCRIPT = {
    "model": "mock-model",
    "rules": [
        {
            "name": "title",
            "when": {"system_contains": "Generate a title"},
            "reply": {"text": "Counting"},
        },
        {
            "name": "summary",
            "when": {"last_user_contains": "Write short bullets"},
            "reply": {"text": SUMMARY},
        },
    ],
    "steps": [
        {"tool_calls": [{"name": "bash", "arguments": {"command": "echo counted; ls"}}]},
        {"error": {"status": 429, "message": "slow down", "headers": {"retry-after-ms": "200"}}},
        {"text": "There is one file. \u001b]52;c;aGk=\u0007"},
        {"error": REFUSAL},
        {"text": "Still one file."},
    ],
}
SLOW = {"chunk": 5, "chunk_ms": 50}
ANSWERED = ["step:0", "step:1", "step:2", "rule:title", "step:3", "rule:summary", "step:4"]


def leave(child: pexpect.spawn) -> str:
    """Quit; the id of the session as the farewell names it."""
    child.sendline("/quit")
    child.expect("go on with: qiming --plain --session (ses_\\w+)")
    session_id = child.match.group(1)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    return session_id


def test_a_tool_a_permission_a_429_and_a_refusal_that_leads_to_a_compaction(place, server):
    log = server(SCRIPT)
    child = spawn(place, "how many files are here?")
    child.expect("context: .* of .* usable")
    child.expect("permission: bash")
    child.expect("1 once  2 this session  3 always")
    child.sendline("1")
    child.expect("tool: bash")
    child.expect("counted")
    child.expect("retry: .*attempt 1")
    child.expect("agent: There is one file.")
    child.expect(r"context: [\d,]+ of [\d,]+ usable \(\d+ %, ok, measured\)")
    assert "\x1b]52" not in child.before
    child.expect("you: ")
    child.sendline("and now?")
    child.expect("compaction: started by itself")
    child.expect("compaction: finished")
    child.expect("agent: Still one file.")
    child.expect("you: ")
    child.sendline("/context")
    child.expect("the next request")
    child.sendline("/why")
    child.expect("compact  NO")
    session_id = leave(child)
    sent = bodies(log)
    assert [row["answered_by"] for row in sent] == ANSWERED
    assert "counted" in json.dumps(sent[2]["body"]["messages"])
    assert sent[-1]["body"]["messages"][-1] == {"role": "user", "content": "and now?"}
    assert "Count the files." in json.dumps(sent[-1]["body"]["messages"])

    again = spawn(place, "--session", session_id)
    again.expect("context: ")
    again.expect("you: ")
    again.sendline("thanks")
    again.expect("agent: OK.")
    again.expect("you: ")
    leave(again)
    assert "Count the files." in json.dumps(bodies(log)[-1]["body"]["messages"])


def test_a_folder_is_trusted_once_and_ctrl_c_twice_stops_the_turn_and_then_leaves(place, server):
    log = server(
        {
            "rules": [
                {"when": {"last_user_contains": "talk"}, "reply": {"text_repeat": ["word ", 400], **SLOW}},
            ],
            "default": {"text": "Hello."},
        }
    )
    (place / "project" / "AGENTS.md").write_text("Always say please.\n")
    child = spawn(place)
    child.expect("trust: AGENTS.md: read it and follow it in this folder")
    child.sendline("1")
    child.expect("you: ")
    child.sendline("hi")
    child.expect("agent: Hello.")
    child.expect("you: ")
    assert "Always say please." in json.dumps(bodies(log)[0]["body"]["messages"][0])
    child.sendline("talk")
    child.expect("agent: word")
    child.sendintr()
    child.expect("Ctrl-C again stops the turn")
    child.sendintr()
    child.expect("stopped; what came so far is kept")
    child.expect("you: ")
    child.sendintr()
    child.expect("Ctrl-C again leaves the program")
    child.sendintr()
    child.expect("go on with: qiming --plain --session")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    again = spawn(place)
    again.expect("session: ses_")
    assert "trust:" not in again.before
    again.expect("you: ")
    again.sendline("/quit")
    again.expect(pexpect.EOF)
    assert "go on with" not in again.before, "nothing was said in it: it is not kept"


def test_a_pipe_answers_a_question_and_at_its_end_nobody_does(place, server):
    calls = [{"name": "bash", "arguments": {"command": "touch made-by-bash"}}]
    log = server(
        {
            "rules": [{"when": {"system_contains": "Generate a title"}, "reply": {"text": "T"}}],
            "steps": [{"tool_calls": calls}, {"text": "one"}, {"tool_calls": calls}, {"text": "two\nyou: x"}],
        }
    )
    done = piped(place, "do it\n5 not now\nagain\n")
    assert done.returncode == 0, done.stderr
    assert "tool: bash failed: The user refused this call: not now" in done.stdout
    assert "refused this call: nobody can answer: the input has ended" in done.stdout
    assert "agent: two\n       you: x\n" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("you:")] == [
        "you: do it",
        "you: again",
    ]
    assert not (place / "project" / "made-by-bash").exists()
    assert len([row for row in bodies(log) if row["answered_by"].startswith("step")]) == 4


def piped(place: Path, text: str) -> subprocess.CompletedProcess[str]:
    """The conversation of a pipe, to its end."""
    env = {
        **os.environ,
        "QIMING_CONFIG": str(place / "config.toml"),
        "XDG_DATA_HOME": str(place / "data"),
        "XDG_CONFIG_HOME": str(place / "config"),
    }
    return subprocess.run(
        [sys.executable, "-m", "qiming_tui", "--plain"],
        input=text,
        cwd=place / "project",
        env=env,
        text=True,
        capture_output=True,
        timeout=READY_S,
        check=False,
    )
