"""The edits that an OpenCode session went through, read off what its parts say (session-formats 1)."""

from collections.abc import Iterable, Sequence
from typing import Final

from qiming_tui.model.codec import digest
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.parts import CONTINUE_TEXT, CompactionPart, Completed, TextPart, ToolPart

GAP_MS: Final = 1_000
"""Stamps further apart belong to different prunes: one prune stamps its parts over a few milliseconds, the
next comes seconds or minutes later."""

BY: Final = "import"


def edits_of(session_id: str, entries: Sequence[Entry]) -> tuple[Edit, ...]:
    """One `clear` for each prune and one `compact` for each finished summary, in the order of their times.

    Ids are derived from the session's: the same file gives the same edits. Each edit is its own group.
    """
    found = [*_clears(entries), *_compacts(entries)]
    found.sort(key=lambda item: item[0])
    out = []
    for number, (at, kind, targets, before) in enumerate(found):
        name = digest(f"{session_id}/{kind}/{targets[0]}".encode())[:26]
        edit = Edit(
            id=f"edt_{name}",
            session_id=session_id,
            seq=number,
            group=f"grp_{name}",
            kind=kind,
            targets=targets,
            by=BY,
            tokens_before=before,
            at=at,
        )
        out.append(edit)
    return tuple(out)


_Found = tuple[int, EditKind, tuple[str, ...], int | None]


def _clears(entries: Iterable[Entry]) -> list[_Found]:
    stamped = [
        (part.state.time.compacted, part.id)
        for entry in entries
        for part in entry.parts
        if isinstance(part, ToolPart)
        and isinstance(part.state, Completed)
        and part.state.time.compacted is not None
    ]
    stamped.sort(key=lambda item: item[0])
    groups: list[list[tuple[float, str]]] = []
    for stamp, part_id in stamped:
        if groups and stamp - groups[-1][-1][0] <= GAP_MS:
            groups[-1].append((stamp, part_id))
        else:
            groups.append([(stamp, part_id)])
    order = {part.id: n for n, part in enumerate(part for entry in entries for part in entry.parts)}
    out: list[_Found] = []
    for group in groups:
        targets = tuple(sorted((part_id for _, part_id in group), key=order.__getitem__))
        out.append((int(group[0][0]), EditKind.CLEAR, targets, None))
    return out


def _compacts(entries: Sequence[Entry]) -> list[_Found]:
    out: list[_Found] = []
    for index, entry in enumerate(entries):
        part = entry.compaction
        if part is None or not entry.user:
            continue
        answer = next((n for n in range(index + 1, len(entries)) if _summary_of(entries[n], entry.id)), None)
        if answer is None:
            continue
        targets = [entry.id, entries[answer].id]
        came = _came_with(entries, index, answer, part)
        if came is not None:
            targets.append(came)
        out.append((int(entry.info.time.created), EditKind.COMPACT, tuple(targets), _before(entries[:index])))
    return out


def _summary_of(entry: Entry, parent: str) -> bool:
    info = entry.info
    return (
        isinstance(info, AssistantMessage)
        and info.summary
        and info.parent_id == parent
        and bool(info.finish)
        and info.error is None
    )


def _came_with(entries: Sequence[Entry], asked: int, answer: int, part: CompactionPart) -> str | None:
    """The synthetic Continue message, or the copy of the message that the provider had refused."""
    following = next((entry for entry in entries[answer + 1 :] if entry.user), None)
    if following is None or not part.auto:
        return None
    texts = [item for item in following.parts if isinstance(item, TextPart)]
    if any(item.synthetic and CONTINUE_TEXT in item.text for item in texts):
        return following.id
    refused = next((entry for entry in reversed(entries[:asked]) if entry.real_user), None)
    copied = part.overflow and refused is not None and bool(texts) and following.text == refused.text
    return following.id if copied else None


def _before(entries: Sequence[Entry]) -> int | None:
    """The context before it: the newest reported usage (total, or the sum of its parts)."""
    for entry in reversed(entries):
        info = entry.info
        if isinstance(info, AssistantMessage) and info.finish and not info.summary:
            tokens = info.tokens
            count = tokens.total or tokens.input + tokens.output + tokens.cache.read + tokens.cache.write
            return count or None
    return None
