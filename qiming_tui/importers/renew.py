"""A session under new ids: a second copy, or one whose ids another session has already (a fork)."""

import msgspec

from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.edits import Edit, EditRecord
from qiming_tui.model.ids import Ids
from qiming_tui.model.messages import AssistantMessage, Entry, Message
from qiming_tui.model.parts import CompactionPart, Part, with_part_ids


def renew(record: SessionRecord, ids: Ids) -> SessionRecord:
    """The same session under new ids everywhere; what refers to something outside it stays."""
    session_id = ids.new("ses")
    new = {entry.id: ids.new("msg") for entry in record.entries}
    new |= {part.id: ids.new("prt") for entry in record.entries for part in entry.parts}
    new |= {edit.group: ids.new("grp") for edit in record.edits}

    def edit(old: EditRecord) -> EditRecord:
        group = new[old.group]
        if isinstance(old, Edit):
            targets = tuple(new.get(target, target) for target in old.targets)
            old = msgspec.structs.replace(old, targets=targets)
        return msgspec.structs.replace(old, id=ids.new("edt"), session_id=session_id, group=group)

    return SessionRecord(
        session=msgspec.structs.replace(record.session, id=session_id),
        entries=tuple(_entry(entry, session_id, new) for entry in record.entries),
        edits=tuple(edit(old) for old in record.edits),
        attempts=tuple(
            msgspec.structs.replace(attempt, id=ids.new("att"), session_id=session_id)
            for attempt in record.attempts
        ),
    )


def _entry(entry: Entry, session_id: str, new: dict[str, str]) -> Entry:
    info: Message = msgspec.structs.replace(entry.info, id=new[entry.id], session_id=session_id)
    if isinstance(info, AssistantMessage):
        info = msgspec.structs.replace(info, parent_id=new.get(info.parent_id, info.parent_id))
    parts: list[Part] = []
    for old in entry.parts:
        part = with_part_ids(old, id=new[old.id], session_id=session_id, message_id=info.id)
        if isinstance(part, CompactionPart) and part.tail_start_id:
            tail = new.get(part.tail_start_id, part.tail_start_id)
            part = msgspec.structs.replace(part, tail_start_id=tail)
        parts.append(part)
    return Entry(info, tuple(parts), entry.seq)
