"""`inspect window|prune|request FILE`: the engine's answer about recorded sessions; nothing is written."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from qiming_tui.context.tokens import estimate
from tests.cli.runner import call
from tests.importers.samples import assistant, export, sample, text, user


@pytest.fixture
def file(tmp_path: Path):
    """Writes an export and gives its path."""

    def write(*messages: dict[str, object], data: bytes | None = None) -> str:
        path = tmp_path / "session.json"
        path.write_bytes(export(*messages) if data is None else data)
        return str(path)

    return write


def tool(id: str, output: str, *, name: str = "read", compacted: int | None = None) -> dict[str, object]:
    time = {"start": 1, "end": 2} | ({"compacted": compacted} if compacted else {})
    state = {"status": "completed", "input": {}, "output": output, "title": "", "metadata": {}, "time": time}
    return {"id": id, "type": "tool", "callID": f"call_{id}", "tool": name, "state": state}


def history(*, tail: str | None = None, continues: bool = True) -> list[dict[str, object]]:
    """U1 A1 U2 A2 UC S K A3 of `data.md` 3."""
    boundary = {"id": "pc", "type": "compaction", "auto": True} | ({"tail_start_id": tail} if tail else {})
    more = {"metadata": {"compaction_continue": True}}
    follow = user("K", 7, text("pk", "Continue if you have next steps", synthetic=True, **more))
    return [
        user("U1", 1, text("p1", "one")),
        assistant("A1", 2, "U1", text("p2", "first")),
        user("U2", 3, text("p3", "two")),
        assistant("A2", 4, "U2", text("p4", "second")),
        user("UC", 5, boundary),
        assistant("S", 6, "UC", text("ps", "the summary"), summary=True),
        *([follow] if continues else []),
        assistant("A3", 8, "K" if continues else "UC", text("p5", "third")),
    ]


def window(path: str, *more: str) -> dict[str, object]:
    return call("inspect", "window", path, "--json", *more).json


def test_a_boundary_cuts_the_window(file) -> None:
    assert window(file(*history())) == {
        "live": ["UC", "S", "K", "A3"],
        "archived": ["U1", "A1", "U2", "A2"],
        "boundary": {"message": "UC", "summary": "S", "tail_start": None},
    }


def test_the_tail_stands_behind_the_summary(file) -> None:
    answer = window(file(*history(tail="U2")))
    assert answer["live"] == ["UC", "S", "U2", "A2", "K", "A3"]
    assert answer["archived"] == ["U1", "A1"]
    assert answer["boundary"]["tail_start"] == "U2"


def test_without_a_boundary_everything_is_live(file) -> None:
    assert window(file(*history()[:4])) == {
        "live": ["U1", "A1", "U2", "A2"],
        "archived": [],
        "boundary": None,
    }
    assert window(file()) == {"live": [], "archived": [], "boundary": None}


def test_a_blank_or_cut_summary_is_a_boundary_for_the_articles_only(file) -> None:
    messages = history()
    messages[5] = assistant("S", 6, "UC", text("ps", " "), summary=True)
    path = file(*messages)
    assert window(path)["boundary"] is None
    assert window(path, "--preset", "opencode")["boundary"] is not None


def test_the_real_compaction_cuts_where_opencode_did(file) -> None:
    data = sample("compaction-1.4.3")
    ids = [message["info"]["id"] for message in msgspec.json.decode(data)["messages"]]
    answer = window(file(data=data))
    assert (answer["archived"], answer["live"]) == (ids[:44], ids[44:])
    assert answer["boundary"] == {"message": ids[44], "summary": ids[45], "tail_start": None}


def prune_history() -> list[dict[str, object]]:
    """Fact 22's shape: ten results of about 7,860 tokens in turn 1, then turns 2 and 3."""
    parts = [tool(f"r{n}", "word " * 6_288) for n in range(10)]
    return [
        user("U1", 1, text("p1", "read them")),
        *(assistant(f"A{n}", 2 + n, "U1", part) for n, part in enumerate(parts)),
        user("U2", 20, text("p2", "two")),
        assistant("B2", 21, "U2", text("p3", "x")),
        user("U3", 22, text("p4", "three")),
    ]


def test_fact_22_the_five_oldest_are_cleared(file) -> None:
    answer = call("inspect", "prune", file(*prune_history()), "--preset", "opencode", "--json").json
    assert answer["cleared"] == ["r0", "r1", "r2", "r3", "r4"]
    assert [(kept["id"], kept["reason"]) for kept in answer["kept"]] == [
        (f"r{n}", "within_protect") for n in range(5, 10)
    ]
    assert answer["tokens"] == 5 * estimate("word " * 6_288) == 39_300


def test_guarded_counts_with_the_tokenizer(file) -> None:
    answer = call("inspect", "prune", file(*prune_history()), "--json").json
    exact = 6_289
    assert answer["tokens"] == exact * len(answer["cleared"])
    assert len(answer["cleared"]) == 10 - 40_000 // exact


def test_what_is_cleared_already_stops_the_articles_walk_only(file) -> None:
    messages = prune_history()
    messages[4]["parts"] = [tool("r3", "word " * 6_288, compacted=99)]
    path = file(*messages)
    articles = call("inspect", "prune", path, "--preset", "opencode", "--json").json
    reasons = {kept["id"]: kept["reason"] for kept in articles["kept"]}
    assert (reasons["r4"], reasons["r3"], reasons["r0"]) == ("below_minimum", *["already_cleared"] * 2)
    guarded = call("inspect", "prune", path, "--json").json
    reasons = {kept["id"]: kept["reason"] for kept in guarded["kept"]}
    assert (reasons["r4"], reasons["r3"], reasons["r0"]) == (
        "within_protect",
        "already_cleared",
        "below_minimum",
    )


def test_too_little_is_not_cleared(file) -> None:
    parts = [tool("a", "x" * 160_000), tool("b", "x" * 80_000)]
    messages = [user("U1", 1, text("p", "q")), assistant("A1", 2, "U1", *parts[::-1])]
    messages += [user("U2", 3, text("p2", "q")), user("U3", 4, text("p3", "q"))]
    answer = call("inspect", "prune", file(*messages), "--preset", "opencode", "--json").json
    assert answer["cleared"] == []
    assert answer["tokens"] == 0
    reasons = {kept["id"]: kept["reason"] for kept in answer["kept"]}
    assert reasons == {"b": "below_minimum", "a": "within_protect"}


def test_the_request_is_made_of_its_items(file) -> None:
    messages = [*history(), user("U4", 9, text("p6", "你好, four"))]
    answer = call("inspect", "request", file(*messages), "--json", "--model-limits", "200000,8192").json
    assert answer["hash"] is None
    assert [(m["role"], m["content"]) for m in answer["messages"]] == [
        ("user", "What did we do so far?"),
        ("assistant", "the summary"),
        ("user", "Continue if you have next steps"),
        ("assistant", "third"),
        ("user", "你好, four"),
    ]
    assert answer["tokens"] == sum(item["tokens"] for item in answer["items"])
    assert [item["klass"] for item in answer["items"]] == ["U", "Z", "U", "A", "U"]
    assert answer["items"][4]["part_id"] == "p6"
    keys = {"key", "blob", "message_id", "part_id", "role", "klass", "state", "pinned", "tokens", "basis"}
    assert set(answer["items"][0]) == {*keys, "source"}


def test_calls_and_results_of_a_real_export_are_legal_and_cleared_ones_say_so(file) -> None:
    answer = call("inspect", "request", file(data=sample("pruned-1.2.20")), "--json").json
    open_calls: list[str] = []
    for message in answer["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
        else:
            assert not open_calls
            open_calls = [call["id"] for call in message.get("tool_calls", [])]
    placeholder = "[Old tool result content cleared]"
    texts = [message["content"] for message in answer["messages"] if message["role"] == "tool"]
    assert texts.count(placeholder) == 29
    assert len(texts) == 108


@pytest.mark.parametrize("question", ["window", "prune", "request"])
@pytest.mark.parametrize("name", ["compaction-1.4.3", "small-1.14.28"])
def test_nothing_is_written_and_people_get_lines(file, question: str, name: str, tmp_path: Path) -> None:
    path = file(data=sample(name))
    before = sorted(tmp_path.rglob("*")), os.stat(path).st_mtime_ns
    result = call("inspect", question, path)
    assert result.code == 0, result.err
    assert len(result.out.splitlines()) > 3
    assert (sorted(tmp_path.rglob("*")), os.stat(path).st_mtime_ns) == before


def test_control_sequences_of_a_file_never_reach_the_terminal(file) -> None:
    bad = "\x1b]0;owned\x07\x1b[31mred\x9b2J"
    path = file(user("U1", 1, text("p1", bad)), assistant("A1", 2, "U1", tool("t", bad, name=bad)))
    for question in ("window", "prune", "request"):
        for flags in ([], ["--json"]):
            result = call("inspect", question, path, *flags)
            assert result.code == 0
            assert not {
                c for c in result.out + result.err if c != "\n" and (c < " " or "\x7f" <= c <= "\x9f")
            }
    assert json.loads(call("inspect", "request", path, "--json").out)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "either a FILE or --session"),
        (("x.json", "--session", "ses_1"), "either a FILE or --session"),
        (("no-such-file.json",), "no-such-file.json: No such file"),
        (("x.json", "--step", "1"), "--step belongs to --session"),
        (("x.json", "--model-limits", "1"), "2 to 3 whole numbers"),
        (("--session", "ses_1"), "there is no store at"),
    ],
)
@pytest.mark.parametrize("question", ["window", "prune", "request"])
def test_bad_input(question: str, args: tuple[str, ...], words: str) -> None:
    result = call("inspect", question, *args, "--json")
    assert result.out == ""
    assert words in result.err
    assert result.code == 2


def test_a_file_that_is_no_session_is_exit_2_and_names_the_place(file) -> None:
    result = call("inspect", "window", file(data=b'{"info":{},"messages":[{"info":{"role":"robot"}}]}'))
    assert (result.code, result.out) == (2, "")
    assert "messages[0].info.role" in result.err
