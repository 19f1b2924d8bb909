"""The real thing: llama.cpp's server with SmolLM2, a window of 2,048 tokens that a conversation outgrows."""

import json
import os
import re
import subprocess
import sys

from qiming_tui.provider import local

KEEPERS = ("Ada", "Bram", "Cora", "Dirk", "Elin", "Finn", "Greta", "Hugo")
DAYS = 48
"""On a page: two of them fill the window. Each turn reads all of it anew, by a server of its own."""
PROMPTS = tuple(
    f"This is page {page} of the log of the lighthouse. "
    + " ".join(
        f"On day {page * DAYS + day} {KEEPERS[(page + day) % 8]} saw {day + 2} ships and lit the lamp."
        for day in range(DAYS)
    )
    + " Say in one short sentence who wrote this."
    for page in range(8)
)
ATTEMPTS = 3
TURN_S = 240


def qiming(place, *args):
    """Run the command; its NDJSON events."""
    env = {
        **os.environ,
        "XDG_DATA_HOME": str(place / "data"),
        "XDG_CONFIG_HOME": str(place / "config"),
        local.CONTEXT_ENV: "2048",
    }
    command = [sys.executable, "-m", "qiming_tui", *args]
    done = subprocess.run(
        command, cwd=place, env=env, capture_output=True, text=True, timeout=TURN_S, check=False
    )
    assert not re.search(r"Traceback", done.stderr), done.stderr
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def test_a_conversation_outgrows_its_window_and_goes_on(tmp_path):
    """Within three compactions there is a valid boundary and a smaller window, or the refusal in words."""
    session, ends, answers = None, [], []
    for prompt in PROMPTS:
        known = ("--session", session) if session else ()
        done, events = qiming(tmp_path, "run", prompt, "--model", "local/smollm2", "--json", *known)
        session = events[0]["session"]
        contexts = [event for event in events if event["type"] == "context"]
        assert contexts, done.stderr
        assert all(event["usable"] == 2048 - 512 for event in contexts)
        answers += [e["text"] for e in events if e["type"] == "text" and e["phase"] == "finished"]
        ends += [e for e in events if e["type"] == "compaction" and e["phase"] != "started"]
        if any(end["phase"] == "finished" for end in ends) or len(ends) >= ATTEMPTS:
            break
    assert ends, "the conversation never outgrew the window"
    finished = [end for end in ends if end["phase"] == "finished"]
    for end in ends:
        assert end["words"]
    if not finished:
        assert len(ends) >= ATTEMPTS
        return
    end = finished[-1]
    assert end["after"] < end["before"]
    done, _ = qiming(tmp_path, "inspect", "window", "--session", session, "--json")
    window = json.loads(done.stdout)
    assert window["boundary"]
    assert window["archived"]
    done, events = qiming(tmp_path, "run", "Are you still there?", "--session", session, "--json")
    assert [event for event in events if event["type"] == "text" and event["phase"] == "finished"], (
        done.stderr
    )
    done, _ = qiming(tmp_path, "inspect", "request", "--session", session, "--json")
    request = json.loads(done.stdout)
    assert request["hash"]
    assert window["boundary"]["summary"]
