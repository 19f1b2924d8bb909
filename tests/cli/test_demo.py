"""`qiming demo`: the same run gives the same result, and what is kept stands beside what was kept before."""

from pathlib import Path

from tests.cli.runner import call


def test_two_runs_print_the_same_events():
    one, two = (call("demo", "prune", "--headless", "--json") for _ in range(2))
    assert one.code == 0, one.err
    assert one.out == two.out
    kinds = {line.split('"')[3] for line in one.out.splitlines()}
    assert {"session", "context", "prune", "tool", "idle"} <= kinds


def test_what_is_kept_twice_is_two_sessions_with_their_folders():
    for _ in range(2):
        kept = call("demo", "input-limit", "--headless", "--keep")
        assert kept.code == 0, kept.err
        assert "qiming inspect window --session ses_" in kept.out
    sessions = call("sessions", "--json").json
    assert len(sessions) == 2
    folders = {row["directory"] for row in sessions}
    assert len(folders) == 2
    for folder in folders:
        assert (Path(folder) / "AGENTS.md").is_file()
    shown = call("inspect", "window", "--session", sessions[0]["id"], "--json").json
    assert shown["live"]
