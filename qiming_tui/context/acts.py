"""What a person may do to the window, as edits that are not made yet: checked, to be priced and applied.

Nothing here changes anything. `tried` gives the session as it would be, for the dry run; whoever applies the
drafts makes one group of them, so that one undo takes all of them back (`data.md` 3).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.answer import arguments_text
from qiming_tui.context.edits import UNCLIP, is_cleared
from qiming_tui.context.facts import handle_of
from qiming_tui.context.figures import plural
from qiming_tui.context.state import SessionState, Window
from qiming_tui.context.strip import turns_of
from qiming_tui.model.codec import JSON
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.messages import Entry
from qiming_tui.model.outputs import filled
from qiming_tui.model.parts import Completed, Failed, Part, TextPart, ToolPart
from qiming_tui.model.window import PrunePlan

CLIP_CHARS: Final = 200
"""Characters of its arguments that an old call keeps."""
CLIP_TURNS: Final = 2
"""The calls of so many of the newest turns keep all of their arguments."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """One edit that has not been made."""

    kind: EditKind
    targets: tuple[str, ...]
    params: dict[str, JSON] = {}


Drafts = tuple[Draft, ...]


class Live:
    """The parts and messages that the next request is made from."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.entries: dict[str, Entry] = {entry.id: entry for entry in window.live}
        self.parts: dict[str, Part] = {part.id: part for entry in window.live for part in entry.parts}

    def results(self, ids: Iterable[str]) -> list[ToolPart]:
        """The live calls among these ids; raises EditRefused where one is archived or no call."""
        found = []
        for id in ids:
            part = self.parts.get(id)
            if part is None:
                raise EditRefused("that is not in the window: it is archived", "the summary stands for it")
            if isinstance(part, ToolPart):
                found.append(part)
        if not found:
            raise EditRefused("only the results of tools can be cleared", "pick a tool's row")
        return found


def clear(window: Window, ids: Sequence[str]) -> Drafts:
    """Send the placeholder instead of these results. Raises EditRefused with the reason."""
    edits = window.edits
    parts = Live(window).results(ids)
    pinned = {pin.target for pin in edits.pins}
    if any(part.id in pinned or part.message_id in pinned for part in parts):
        raise EditRefused("it is pinned", "unpin it first")
    done = [part for part in parts if isinstance(part.state, Completed)]
    if not done:
        raise EditRefused("only finished results can be cleared")
    left = tuple(part.id for part in done if not is_cleared(part, edits))
    if not left:
        raise EditRefused("it is cleared already", "restore it instead")
    return (Draft(kind=EditKind.CLEAR, targets=left),)


def restore(window: Window, ids: Sequence[str]) -> Drafts:
    """Send these results, and the arguments of their calls, in full again."""
    parts = Live(window).results(ids)
    edits = window.edits
    gone = tuple(part.id for part in parts if is_cleared(part, edits))
    cut = tuple(part.id for part in parts if part.id in edits.clipped and part.id not in gone)
    if not gone and not cut:
        raise EditRefused("it is sent in full")
    whole = (Draft(kind=EditKind.RESTORE, targets=gone),) if gone else ()
    return (*whole, Draft(kind=EditKind.RESTORE, targets=cut, params={UNCLIP: True})) if cut else whole


def suggested(plan: PrunePlan) -> Drafts:
    """Clear what a prune would clear now."""
    if not plan.cleared:
        raise EditRefused("nothing to clear: no old results beyond what is protected")
    return (Draft(kind=EditKind.CLEAR, targets=plan.cleared),)


def clip_old(state: SessionState, window: Window, *, chars: int = CLIP_CHARS) -> Drafts:
    """Shorten the arguments of old calls: written files and long edits are on the disk anyway."""
    turns = turns_of(state.entries)
    newest = max((turns[entry.id] for entry in window.live), default=0)
    targets = tuple(
        part.id
        for entry in window.live
        if turns[entry.id] <= newest - CLIP_TURNS
        for part in entry.parts
        if isinstance(part, ToolPart)
        and isinstance(part.state, (Completed, Failed))
        and part.id not in window.edits.clipped
        and len(arguments_text(part)) > 2 * chars
    )
    if not targets:
        raise EditRefused(f"no call before the last {CLIP_TURNS} turns has long arguments")
    return (Draft(kind=EditKind.CLIP, targets=targets, params={"chars": chars}),)


def pin(
    state: SessionState, window: Window, ids: Sequence[str], *, texts: Mapping[str, str] | None = None
) -> Drafts:
    """Keep these parts or messages in every request, as they are now. `texts`: outputs that lie in the store,
    by part id; what is archived can be pinned too: that is how a lost item comes back."""
    pinned = {pin.target for pin in window.edits.pins}
    wanted = [id for id in ids if id not in pinned]
    if not wanted:
        raise EditRefused("it is pinned already", "unpin it instead")
    drafts = []
    for id in wanted:
        text, source = _snapshot(state.entries, id, texts or {})
        if not text.strip():
            raise EditRefused("there is no text to pin")
        drafts.append(Draft(kind=EditKind.PIN, targets=(id,), params={"text": text, "source": source}))
    return tuple(drafts)


def pin_text(target: str, text: str, source: str) -> Drafts:
    """Pin a sentence or a name that was lost, under the id of the part that it came from."""
    return (Draft(kind=EditKind.PIN, targets=(target,), params={"text": text, "source": source}),)


def unpin(window: Window, ids: Sequence[str]) -> Drafts:
    """Let go of these pins; without ids of all."""
    pinned = tuple(pin.target for pin in window.edits.pins if not ids or pin.target in ids)
    if not pinned:
        raise EditRefused("nothing is pinned" if not ids else "it is not pinned")
    return (Draft(kind=EditKind.UNPIN, targets=pinned),)


def edit_summary(window: Window, text: str) -> Drafts:
    """The user's own text for the summary in force."""
    if window.boundary is None:
        raise EditRefused("there is no summary to edit", "/compact writes one")
    if not text.strip():
        raise EditRefused("a summary cannot be empty", "undo the compaction instead")
    target = window.boundary.summary_id
    return (Draft(kind=EditKind.SUMMARY_EDIT, targets=(target,), params={"text": text}),)


def turns_kept(state: SessionState, window: Window, message_id: str) -> int:
    """How many of the newest turns "compact above here" keeps: from that of this message on."""
    turns = turns_of(state.entries)
    live = [entry for entry in window.live if entry.real_user]
    if message_id not in {entry.id for entry in window.live}:
        raise EditRefused("that is archived already", "choose a message of the live window")
    kept = sum(turns[entry.id] >= turns[message_id] for entry in live)
    return check_keep(window, kept)


def check_keep(window: Window, turns: int) -> int:
    """The number of turns to keep, if that leaves something to summarise."""
    there = sum(entry.real_user for entry in window.live)
    if turns < 0 or turns >= there:
        raise EditRefused(f"nothing is above: the window has {plural(there, 'turn')}")
    return turns


def _snapshot(entries: Sequence[Entry], id: str, texts: Mapping[str, str]) -> tuple[str, str]:
    """(text, source) of a part or a message as it is now."""
    for entry in entries:
        if entry.id == id:
            return entry.text, "you" if entry.user else "the assistant"
        for part in entry.parts:
            if part.id != id:
                continue
            if isinstance(part, TextPart):
                return part.text, "you" if entry.user else "the assistant"
            if isinstance(part, ToolPart):
                return _result(part, texts), f"{part.tool} {handle_of(part)}".strip()
    raise EditRefused("there is nothing of that name in the session")


def _result(part: ToolPart, texts: Mapping[str, str]) -> str:
    state = part.state
    if isinstance(state, Completed):
        return texts.get(part.id, state.output)
    return state.error if isinstance(state, Failed) else ""


def tried(
    state: SessionState, drafts: Sequence[Draft], texts: Mapping[str, str] | None = None
) -> SessionState:
    """The session as it would be with these edits, for a dry run; `texts`: outputs that a restore needs."""
    seq = max((record.seq for record in state.edits), default=-1) + 1
    made = tuple(
        Edit(
            id=f"dry{index}",
            session_id="",
            seq=seq + index,
            group="dry",
            kind=draft.kind,
            targets=draft.targets,
            params=draft.params,
            at=0,
        )
        for index, draft in enumerate(drafts)
    )
    entries = filled(state.entries, texts or {})
    return msgspec.structs.replace(state, edits=(*state.edits, *made), entries=entries)
