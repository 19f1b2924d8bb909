"""`qiming context` and `qiming inspect why` on a session of the store."""

from collections.abc import Iterator

import pytest

from tests.cli.runner import call


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The id of a demo session that was kept in a store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        assert call("demo", "prune", "--headless", "--keep", "--speed", "0").code == 0
        yield call("sessions", "--json").json[0]["id"]


@pytest.fixture(autouse=True)
def _same_store(kept: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    place = next(path for path in tmp_path_factory.getbasetemp().glob("data*/qiming-tui"))
    monkeypatch.setenv("XDG_DATA_HOME", str(place.parent))


def test_the_context_of_a_step_is_that_of_its_request(kept: str) -> None:
    request = call("inspect", "request", "--session", kept, "--step", "3", "--json").json
    found = call("context", kept, "--step", "3", "--json").json
    assert (found["type"], found["session"], found["step"]) == ("context", kept, 3)
    assert found["items"] == request["items"]
    assert (found["hash"], found["total"]) == (request["hash"], request["tokens"])
    assert sum(part["tokens"] for part in found["segments"]) == found["total"]
    assert sum(part["items"] for part in found["segments"]) == len(found["items"])
    assert found["count"] > 0
    assert found["usable"] > found["count"]
    assert str(f"{found['usable']:,}") in found["arithmetic"]
    text = call("context", kept, "--step", "3").out
    assert f"{found['count']:,} of {found['usable']:,} usable" in text
    assert f"{kept} step 3" in text


def test_without_a_step_it_is_the_window_as_it_stands(kept: str) -> None:
    (line,) = call("sessions", "--json").json
    found = call("context", kept, "--json").json
    text = call("context", kept[:20]).out
    assert found["hash"]
    assert "system prompt" in text
    if found["step"] is not None:
        assert (found["count"], found["basis"]) == (line["count"], line["basis"])


def test_why_says_what_decided_and_what_did_not_happen(kept: str) -> None:
    steps, fates, pruned = 0, [], []
    while (result := call("inspect", "why", kept, "--step", str(steps + 1), "--json")).code == 0:
        steps += 1
        found = result.json
        assert found["step"] == steps
        assert set(found["answers"]) == {"send", "compact", "prune", "cache"}
        decided = found["after"] or found["before"]
        assert decided["arithmetic"] in found["answers"]["compact"]["words"].replace("FALSE", "false")
        assert found["answers"]["compact"]["answer"] is False
        fates += [part["id"] for part in found["parts"]]
        if found["answers"]["prune"]["answer"]:
            pruned.append(steps)
    assert result.code == 2
    assert steps > 3
    assert len(set(fates)) > 1, "every result has its fate, by the settings of today"
    assert pruned, "a step after whose answer results were cleared"
    plan = call("inspect", "prune", "--session", kept, "--step", str(pruned[0]), "--json").json
    assert plan["cleared"]
    assert plan["tokens"] > 0
    none = call("inspect", "prune", "--session", kept, "--step", "1")
    assert (none.code, "nothing was cleared after step 1" in none.err) == (2, True)
    newest = call("inspect", "why", kept).out
    assert newest.startswith(f"step {steps}: a turn's request to scripted/prune, answered")
    assert " FALSE, " in newest


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("context", "ses_nothing"), "not found"),
        (("context",), "no session in this folder"),
        (("inspect", "why"), "Missing argument"),
        (("inspect", "why", "ses_nothing"), "not found"),
    ],
)
def test_bad_input(args: tuple[str, ...], words: str) -> None:
    result = call(*args)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
