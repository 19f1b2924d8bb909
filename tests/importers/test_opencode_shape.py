"""Odd, hand-made, hostile and foreign files; our own exports (session-formats 1, data.md 1 and 3)."""

import msgspec
import pytest

from qiming_tui.importers import opencode
from qiming_tui.importers.renew import renew
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.edits import Edit, EditKind, Switch
from qiming_tui.model.errors import FormatError
from qiming_tui.model.ids import Ids
from qiming_tui.model.ledger import Attempt
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import CONTINUE_TEXT, Completed, StoredOutput, ToolPart, UnknownPart
from tests.importers.samples import assistant, export, sample, text, user


def record_of(*messages: dict[str, object], **info: object) -> SessionRecord:
    return opencode.read(export(*messages, **info)).record


def tool(id: str, output: str, compacted: int | None = None) -> dict[str, object]:
    time = {"start": 1, "end": 2} | ({"compacted": compacted} if compacted else {})
    state = {"status": "completed", "input": {"a": 1}, "output": output, "title": "t", "time": time}
    return {"id": id, "type": "tool", "callID": f"call_{id}", "tool": "read", "state": state}


def test_fact_100_101_the_order_is_time_then_id() -> None:
    record = record_of(user("b", 5), user("c", 3), user("a", 5))
    assert [entry.id for entry in record.entries] == ["c", "a", "b"]


def test_ids_and_times_that_are_implied_may_be_left_out() -> None:
    record = record_of(
        {"info": {"id": "u", "role": "user"}, "parts": [{"type": "text", "text": "hello"}]},
        {"info": {"id": "a", "role": "assistant", "tokens": {"input": 7, "output": 1}}},
    )
    assert [entry.text for entry in record.entries] == ["hello", ""]
    answer = record.entries[1].info
    assert answer.parent_id == "u"
    assert (answer.tokens.input, answer.tokens.cache.read) == (7, 0)
    assert record.entries[0].parts[0].message_id == "u"


def test_parts_and_fields_we_do_not_know_survive() -> None:
    part = {"id": "p", "type": "hologram", "sessionID": "ses_1", "messageID": "u", "depth": 3.5}
    message = user("u", 1, part, sessionID="ses_1", mood={"x": [1, None]})
    message["beside"] = True
    raw = {
        "info": {"id": "ses_1", "time": {"created": 1, "updated": 1}, "agent": "build"},
        "messages": [message],
        "links": ["a"],
    }
    record = opencode.read(msgspec.json.encode(raw)).record
    assert isinstance(record.entries[0].parts[0], UnknownPart)
    assert msgspec.json.decode(opencode.write(record, program="t")) == raw


def test_prunes_are_told_apart_by_gaps_not_by_equal_stamps() -> None:
    parts = [tool("p1", "x", 1000), tool("p2", "x", 1003), tool("p3", "x", 179_000), tool("p4", "x")]
    record = record_of(user("u", 1), assistant("a", 2, "u", *parts))
    assert [(edit.kind, edit.targets) for edit in record.edits] == [
        (EditKind.CLEAR, ("p1", "p2")),
        (EditKind.CLEAR, ("p3",)),
    ]
    assert len({edit.group for edit in record.edits}) == 2


@pytest.mark.parametrize("broken", [{"finish": None}, {"error": {"name": "X"}}, {"summary": False}])
def test_facts_108_to_110_a_summary_that_failed_is_no_edit(broken: dict[str, object]) -> None:
    info = {"summary": True, **broken}
    uc = user("c", 3, {"id": "p", "type": "compaction", "auto": True})
    assert record_of(user("u", 1), uc, assistant("s", 4, "c", **info)).edits == ()
    assert len(record_of(user("u", 1), uc, assistant("s", 4, "c", summary=True)).edits) == 1


def test_a_replayed_copy_belongs_to_its_compaction() -> None:
    uc = user("c", 3, {"id": "p", "type": "compaction", "auto": True, "overflow": True})
    history = [user("u", 1, text("p1", "why?")), uc, assistant("s", 4, "c", summary=True)]
    copy = user("u2", 5, text("p2", "why?"))
    assert record_of(*history, copy).edits[0].targets == ("c", "s", "u2")
    other = user("u2", 5, text("p2", "something new"))
    assert record_of(*history, other).edits[0].targets == ("c", "s")


def test_the_continue_message_belongs_to_its_compaction_but_only_if_it_was_automatic() -> None:
    follow = user("k", 5, text("p2", f"Media was left out.\n\n{CONTINUE_TEXT}", synthetic=True))
    for auto, targets in ((True, ("c", "s", "k")), (False, ("c", "s"))):
        uc = user("c", 3, {"id": "p", "type": "compaction", "auto": auto})
        record = record_of(user("u", 1), uc, assistant("s", 4, "c", summary=True), follow)
        assert record.edits[0].targets == targets


def test_our_own_export_is_read_back_exactly() -> None:
    base = record_of(user("z", 1, text("p1", "one")), assistant("a", 2, "z", tool("p2", "x" * 9, 77)))
    entries = (base.entries[1], msgspec.structs.replace(base.entries[0], seq=1))
    entries = (msgspec.structs.replace(entries[0], seq=0), entries[1])
    session = msgspec.structs.replace(base.session, preset="opencode", latched=True, version="0")
    edit = Edit(
        id="e1", session_id="ses_1", seq=0, group="g", kind=EditKind.CLEAR, targets=("p2",), by="user", at=77
    )
    switch = Switch(id="e2", session_id="ses_1", seq=1, group="g", on=False, at=78)
    attempt = Attempt(
        id="t", session_id="ses_1", seq=0, auto=True, form="prefix", before=9, end="blank", started_at=5
    )
    record = SessionRecord(session=session, entries=entries, edits=(edit, switch), attempts=(attempt,))
    data = opencode.write(record, program="qiming 0")
    raw = msgspec.json.decode(data)
    assert raw["qiming"]["program"] == "qiming 0"
    assert not [key for key in raw["info"] if key.startswith("qiming")]
    assert raw["info"].keys() >= {"id", "slug", "projectID", "directory", "title", "version", "time"}
    assert all("agent" in message["info"] for message in raw["messages"])
    assert opencode.read(data).record == record
    assert opencode.write(opencode.read(data).record, program="qiming 0") == data


def test_an_output_that_was_left_in_the_store_cannot_be_exported() -> None:
    record = record_of(user("u", 1), assistant("a", 2, "u", tool("p", "")))
    part = record.entries[1].parts[0]
    assert isinstance(part, ToolPart)
    assert isinstance(part.state, Completed)
    state = msgspec.structs.replace(part.state, stored=StoredOutput(bytes=1, units=1, sha256="0"))
    part = msgspec.structs.replace(part, state=state)
    entries = (record.entries[0], msgspec.structs.replace(record.entries[1], parts=(part,)))
    with pytest.raises(ValueError, match="output of p"):
        opencode.write(msgspec.structs.replace(record, entries=entries), program="t")


def test_half_characters_and_the_banner_line_are_coped_with() -> None:
    data = b'Exporting session: ses_1\n{"info":{"id":"ses_1"},"messages":[{"info":{"id":"u","role":"user"},'
    data += b'"parts":[{"id":"p","type":"text","text":"cut \\ud83d here \\ud83d\\ude00"}]}]}'
    imported = opencode.read(data)
    assert imported.record.entries[0].text == "cut � here 😀"
    assert "surrogates" in imported.notes[0]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b'{"info": NaN}', "not JSON"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b"[]", "expected an object with info and messages, got a list"),
        (b'{"info":{}}', "messages is missing"),
        (b'{"info":{},"messages":{}}', "messages is an object"),
        (b'{"info":{},"messages":[7]}', r"messages\[0\].info"),
        (b'{"info":{},"messages":[{"info":{}, "parts":[1]}]}', r"messages\[0\].parts"),
        (
            b'{"info":{},"messages":[{"info":{"role":"user","time":{"created":"x"}}}]}',
            r"\[0\].info.time.created",
        ),
        (b'{"info":{},"messages":[{"info":{"role":"robot"}}]}', r"messages\[0\].info.role"),
        (b'{"info":{"time":3},"messages":[]}', "info.time"),
        (b'{"info":{},"messages":[],"qiming":{"version":99}}', "newer program"),
        (b'{"info":{},"messages":[],"qiming":{"version":1,"edits":[{"id":"x"}]}}', r"qiming.edits\[0\]"),
        (b'{"info":{},"messages":[],"qiming":{"version":1,"edits":{}}}', "qiming.edits: expected a list"),
    ],
)
def test_a_file_we_cannot_read_is_refused_with_the_place(data: bytes, place: str) -> None:
    with pytest.raises(FormatError, match=place):
        opencode.read(data)


def test_a_2x_export_is_recognised_and_refused() -> None:
    data = b'{"info":{"id":"s","location":{}},"messages":[{"id":"m","type":"user","text":"x"}]}'
    assert opencode.sniff(data) == "opencode 2.x"
    with pytest.raises(FormatError, match=r"2\.x") as caught:
        opencode.read(data)
    assert caught.value.hint


def test_other_formats_are_not_taken_for_ours() -> None:
    assert opencode.sniff(b'{"a":1}\n{"b":2}') is None
    assert opencode.sniff(b'[{"role":"user"}]') is None
    assert opencode.sniff(b"\x00\x01") is None
    assert opencode.sniff(sample("small-1.14.28")) == "opencode"


def test_under_new_ids_it_is_the_same_session() -> None:
    ticks = iter(range(1_000, 100_000))
    ids = Ids(lambda: next(ticks), lambda n: 7 % n)
    record = opencode.read(sample("compaction-1.4.3")).record
    compaction = record.entries[44].parts[0]
    compaction = msgspec.structs.replace(compaction, tail_start_id=record.entries[40].id)
    entries = list(record.entries)
    entries[44] = Entry(entries[44].info, (compaction,), 44)
    record = msgspec.structs.replace(record, entries=tuple(entries))
    copy = renew(record, ids)
    old = {entry.id for entry in record.entries} | {p.id for e in record.entries for p in e.parts}
    new = [entry.id for entry in copy.entries] + [part.id for e in copy.entries for part in e.parts]
    assert len(new) == len(set(new)) == len(old)
    assert not old & set(new)
    assert copy.session.id != record.session.id
    assert {entry.info.session_id for entry in copy.entries} == {copy.session.id}
    (edit,) = copy.edits
    assert edit.targets == tuple(copy.entries[n].id for n in (44, 45, 46))
    assert copy.entries[45].info.parent_id == copy.entries[44].id
    assert copy.entries[44].compaction.tail_start_id == copy.entries[40].id
    assert [entry.text for entry in copy.entries] == [entry.text for entry in record.entries]
    assert opencode.read(opencode.write(copy, program="t")).record == copy
