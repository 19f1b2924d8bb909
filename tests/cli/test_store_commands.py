"""sessions, export, import and inspect --session over a store that the real program has written."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.runner import call
from tests.importers.samples import NAMES, sample


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "store" / "s.db"
    monkeypatch.setenv("QIMING_STORE", str(path))
    return path


def play(folder: Path, scenario: str) -> Path:
    """A store in which a scenario was played by the real worker."""
    path = folder / "s.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QIMING_STORE", str(path))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        assert call("demo", scenario, "--headless", "--keep", "--json").code == 0
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scenario `grow`: a compaction, a ledger."""
    return play(tmp_path_factory.mktemp("played"), "grow")


def the_session(path: Path) -> str:
    (line,) = call("sessions", "--json", "--store", str(path)).json
    return line["id"]


def put(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "in.json"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("name", NAMES)
def test_an_opencode_export_comes_back_equal_through_the_store(
    store: Path, tmp_path: Path, name: str
) -> None:
    data = sample(name)
    answer = call("import", put(tmp_path, data), "--json").json
    raw = msgspec.json.decode(data)
    assert answer["session"] == raw["info"]["id"]
    assert answer["messages"] == len(raw["messages"])
    out = tmp_path / "out.json"
    assert call("export", answer["session"], "--output", str(out)).code == 0
    assert msgspec.json.decode(out.read_bytes()) == raw
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert msgspec.json.decode(call("export", answer["session"][:12]).out) == raw


def test_import_says_what_it_found_and_refuses_a_second_time(store: Path, tmp_path: Path) -> None:
    raw = msgspec.json.decode(sample("pruned-1.2.20"))
    path = put(tmp_path, sample("pruned-1.2.20"))
    assert call("import", path, "--json").json == {
        "session": "ses_336ebe11bffePlPIwBobiYzDoC",
        "messages": 53,
        "parts": sum(len(message["parts"]) for message in raw["messages"]),
        "prunes": 1,
        "cleared": 29,
        "compactions": 0,
        "notes": [],
    }
    again = call("import", path, "--json")
    assert (again.code, again.out) == (2, "")
    assert "--new-ids" in again.err
    copy = call("import", path, "--new-ids", "--json").json
    assert copy["session"] != "ses_336ebe11bffePlPIwBobiYzDoC"
    assert {line["id"] for line in call("sessions", "--json").json} >= {copy["session"]}


@pytest.mark.parametrize("question", ["window", "prune", "request"])
def test_an_imported_session_is_answered_as_its_file_is(store: Path, tmp_path: Path, question: str) -> None:
    path = put(tmp_path, sample("pruned-1.2.20"))
    session = call("import", path, "--json").json["session"]
    from_store = call("inspect", question, "--session", session, "--json").json
    assert from_store == call("inspect", question, path, "--json").json


def test_every_step_of_the_ledger_is_rebuilt_and_its_hash_holds(played: Path) -> None:
    session = the_session(played)
    newest = call("inspect", "request", "--session", session, "--store", str(played), "--json").json
    hashes = []
    step = 0
    while True:
        step += 1
        args = ("--session", session, "--step", str(step), "--store", str(played))
        result = call("inspect", "request", *args, "--json")
        if result.code:
            assert (result.code, result.out) == (2, "")
            break
        answer = result.json
        hashes.append(answer["hash"])
        assert answer["tokens"] == sum(item["tokens"] for item in answer["items"])
        assert call("inspect", "window", *args, "--json").json["live"] == list(
            dict.fromkeys(item["message_id"] for item in answer["items"] if item["message_id"])
        )
    assert len(hashes) > 10
    assert hashes[-1] == newest["hash"]
    assert len(set(hashes)) == len(hashes)


def test_a_request_that_cannot_be_verified_is_a_failure(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = the_session(played)
    monkeypatch.setattr("qiming_tui.context.past_request.view_hash", lambda body: "0" * 64)
    result = call("inspect", "request", "--session", session, "--store", str(played), "--json")
    assert (result.code, result.out) == (1, "")
    assert "the rebuilt request has hash 0000" in result.err


@pytest.mark.parametrize(("scenario", "kind"), [("grow", "compact"), ("prune", "clear")])
def test_our_own_session_comes_back_exactly_from_another_store(
    store: Path, tmp_path: Path, scenario: str, kind: str
) -> None:
    first_store = play(tmp_path, scenario)
    session = the_session(first_store)
    first = call("export", session, "--store", str(first_store)).out
    raw = json.loads(first)
    assert kind in {edit["kind"] for edit in raw["qiming"]["edits"]}
    assert not [key for key in raw["info"] if key.startswith("qiming")]
    assert call("import", put(tmp_path, first.encode())).code == 0
    assert json.loads(call("export", session).out) == raw
    for question in ("window", "prune"):
        args = ("inspect", question, "--session", session, "--json")
        assert call(*args).json == call(*args, "--store", str(first_store)).json


def test_the_list_names_what_a_person_looks_for(played: Path) -> None:
    (line,) = call("sessions", "--json", "--store", str(played)).json
    assert line["messages"] > 20
    assert line["requests"] > 10
    assert line["boundaries"] >= 1
    text = call("sessions", "--store", str(played)).out
    assert line["id"] in text
    assert text.splitlines()[0].split() == [
        "id", "changed", "messages", "summaries", "context", "title", "folder",
    ]  # fmt: skip
    assert call("sessions", "--here", "--json", "--store", str(played)).json == []


def test_reading_commands_make_no_store_and_change_none(store: Path, played: Path) -> None:
    assert call("sessions", "--json").json == []
    assert call("export", "ses_x").code == 2
    assert not store.parent.exists()
    before = played.read_bytes()
    call("sessions", "--store", str(played))
    call("export", the_session(played), "--store", str(played))
    assert played.read_bytes() == before


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("export",), 2, "Missing argument"),
        (("export", "ses_nothing"), 2, "not found"),
        (("import", "no-such-file"), 2, "No such file"),
        (("sessions", "--limit", "0"), 2, "--limit"),
        (("sessions", "--store", "mysql://x"), 2, "sqlite:///"),
    ],
)
def test_errors(played: Path, args: tuple[str, ...], code: int, words: str) -> None:
    more = () if "--store" in args or args == ("export",) else ("--store", str(played))
    result = call(*args, *more)
    assert (result.code, result.out) == (code, "")
    assert words.lower() in result.err.lower()


def test_a_bad_file_leaves_no_trace_in_the_store(store: Path, tmp_path: Path) -> None:
    result = call("import", put(tmp_path, b'{"info":{},"messages":[{"info":{"role":"x"}}]}'))
    assert (result.code, result.out) == (2, "")
    assert not store.exists()


@pytest.mark.parametrize("more", [("--help",), ("models",), ("inspect",)])
def test_a_reader_that_goes_away_is_no_crash(more: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "qiming_tui", *more]
    child = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writing)
    assert "Traceback" not in child.stderr
    assert "BrokenPipe" not in child.stderr
