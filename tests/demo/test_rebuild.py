"""The rebuild proof of `data.md` 2: from the ledger alone, in a new process, after the world has changed."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from qiming_tui.model.codec import decode, digest
from tests.demo.played import NAMES, played
from tests.source import ROOT


@cache
def rebuilt():
    """What a process of its own makes of all the stores, by scenario."""
    jobs = []
    for name in NAMES:
        run = played(name)
        (run.project / "AGENTS.md").write_text("Everything is different now.\n")
        (run.folder / "user").mkdir()
        (run.folder / "user" / "AGENTS.md").write_text("Always answer in verse.\n")
        jobs.append({"store": str(run.store), "session": run.session})
    command = [sys.executable, "-m", "tests.demo.rebuilder", json.dumps(jobs)]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(zip(NAMES, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_request_is_rebuilt_byte_for_byte(name):
    log, rows = played(name).log, rebuilt()[name]["rows"]
    assert [row["kind"] for row in rows] == [entry.kind.value for entry in log]
    for row, entry in zip(rows, log, strict=True):
        assert bytes.fromhex(row["body"]) == entry.body
        assert row["hash"] == entry.hash == digest(entry.body)


@pytest.mark.parametrize("name", NAMES)
def test_and_the_world_had_changed(name):
    last = next(entry for entry in reversed(played(name).log) if entry.kind.value == "turn")
    before, now = decode(last.body), decode(bytes.fromhex(rebuilt()[name]["now"]))
    assert "verse" in str(now["messages"][0])
    assert "different now" in str(now["messages"][0])
    assert "2031" in str(now["messages"][0])
    assert now["messages"][0] != before["messages"][0]
    assert len(now["tools"]) == len(before["tools"]) - 3


def test_titles_and_summaries_are_among_them():
    kinds = Counter(row["kind"] for name in NAMES for row in rebuilt()[name]["rows"])
    assert kinds["title"] == len(NAMES)
    assert kinds["summary"] >= 6
    assert kinds["turn"] > 50
