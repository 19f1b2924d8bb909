"""The three real exports: what is in them, and that nothing of it is lost (session-formats 1)."""

from collections import Counter

import msgspec
import pytest

from qiming_tui.importers import opencode
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Completed, Failed, TextPart, ToolPart, UnknownPart
from tests.importers.samples import NAMES, sample


def read(name: str):
    return opencode.read(sample(name)).record


def tools(record, state) -> list[ToolPart]:
    parts = [part for entry in record.entries for part in entry.parts]
    return [part for part in parts if isinstance(part, ToolPart) and isinstance(part.state, state)]


@pytest.mark.parametrize("name", NAMES)
def test_read_and_written_again_it_is_equal_as_json(name: str) -> None:
    data = sample(name)
    assert opencode.sniff(data) == "opencode"
    imported = opencode.read(data)
    assert imported.notes == ()
    again = opencode.write(imported.record, program="test")
    assert msgspec.json.decode(again) == msgspec.json.decode(data)
    assert again.endswith(b"}\n")
    assert again.startswith(b'{\n  "info": {\n')


@pytest.mark.parametrize("name", NAMES)
def test_every_part_of_a_real_export_is_understood(name: str) -> None:
    record = read(name)
    assert not [p for entry in record.entries for p in entry.parts if isinstance(p, UnknownPart)]
    assert [entry.seq for entry in record.entries] == list(range(len(record.entries)))


def test_compaction_sample_has_the_facts_of_its_table() -> None:
    record = read("compaction-1.4.3")
    assert Counter(entry.user for entry in record.entries) == {True: 5, False: 69}
    kinds = Counter(part.__struct_config__.tag for entry in record.entries for part in entry.parts)
    expected = {"tool": 72, "text": 33, "reasoning": 27, "step-start": 69, "step-finish": 69}
    assert kinds == {**expected, "patch": 17, "file": 1, "compaction": 1}
    assert (len(tools(record, Completed)), len(tools(record, Failed))) == (71, 1)
    texts = [p for entry in record.entries for p in entry.parts if isinstance(p, TextPart)]
    assert sum(part.synthetic for part in texts) == 3


def test_compaction_sample_gives_one_compact_edit() -> None:
    record = read("compaction-1.4.3")
    entries = record.entries
    (edit,) = record.edits
    assert isinstance(edit, Edit)
    assert edit.kind == EditKind.COMPACT
    assert edit.targets == (entries[44].id, entries[45].id, entries[46].id)
    assert (edit.by, edit.tokens_before) == ("import", 112_579)
    assert edit.at == entries[44].info.time.created
    summary = entries[45].info
    assert isinstance(summary, AssistantMessage)
    assert summary.summary
    assert (summary.tokens.input, summary.tokens.output) == (98_608, 1_305)


def test_pruned_sample_gives_one_clear_edit_of_29_parts() -> None:
    record = read("pruned-1.2.20")
    (edit,) = record.edits
    assert isinstance(edit, Edit)
    assert edit.kind == EditKind.CLEAR
    assert len(edit.targets) == len(set(edit.targets)) == 29
    cleared = {part.id: part for part in tools(record, Completed) if part.id in edit.targets}
    stamps = {part.state.time.compacted for part in cleared.values()}
    assert len(stamps) == 9
    assert edit.at == min(stamps)
    assert sum(len(part.state.output) for part in cleared.values()) == 88_938
    assert len(tools(record, Completed)) == 105
    order = [part.id for entry in record.entries for part in entry.parts]
    assert sorted(edit.targets, key=order.index) == list(edit.targets)


def test_small_sample_has_no_edits() -> None:
    record = read("small-1.14.28")
    assert record.edits == ()
    assert len(record.entries) == 8
    assert len(tools(record, Completed)) + len(tools(record, Failed)) == 6


def test_the_same_file_gives_the_same_ids() -> None:
    assert read("pruned-1.2.20").edits == read("pruned-1.2.20").edits


@pytest.mark.parametrize("name", NAMES)
def test_a_publishers_redacted_ids_are_coped_with(name: str) -> None:
    raw = msgspec.json.decode(sample(name))
    for message in raw["messages"]:
        for key in message["info"].keys() & {"id", "parentID", "sessionID"}:
            message["info"][key] = "REDACTED"
        for part in message["parts"]:
            for key in part.keys() & {"id", "messageID", "sessionID", "callID", "snapshot"}:
                part[key] = "REDACTED"
    raw["info"]["id"] = "REDACTED"
    imported = opencode.read(msgspec.json.encode(raw))
    good = read(name)
    record = imported.record
    assert len(imported.notes) == 2
    messages = [entry.id for entry in record.entries]
    parts = [part.id for entry in record.entries for part in entry.parts]
    assert len(messages) == len(set(messages)) == len(good.entries)
    assert len(parts) == len(set(parts))
    assert all(id.startswith("msg_") for id in messages)
    assert all(id.startswith("prt_") for id in parts)
    assert [len(edit.targets) for edit in record.edits] == [len(edit.targets) for edit in good.edits]
    places = {entry.id: n for n, entry in enumerate(good.entries)}
    for n, (mended, original) in enumerate(zip(record.entries, good.entries, strict=True)):
        assert all(part.message_id == mended.id for part in mended.parts), n
        if isinstance(original.info, AssistantMessage):
            assert mended.info.parent_id == messages[places[original.info.parent_id]], n
    assert opencode.read(opencode.write(record, program="test")).record == record
