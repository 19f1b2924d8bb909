"""Edits of the window: recorded, folded, and mirrored on the parts in one transaction (`data.md` 3).

`state.time.compacted` and the outputs held in memory are projections of the edits: a cleared result stays in
the store and leaves memory, a restored one is loaded again.
"""

from collections.abc import Sequence

import msgspec

from qiming_tui.context import edits
from qiming_tui.context.edits import EditGroup
from qiming_tui.context.tokens import utf16_units
from qiming_tui.model.changes import Change, PutEdit, PutPart, PutSession
from qiming_tui.model.codec import JSON, digest
from qiming_tui.model.edits import Edit, EditKind, EditRecord, Switch
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.events import EditChanged, SessionUpdated
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, StoredOutput, ToolPart
from qiming_tui.session.context import Context


class Editor:
    """Applies, undoes and redoes edits of one session."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def edit(
        self,
        kind: EditKind,
        targets: Sequence[str],
        *,
        group: str | None = None,
        params: dict[str, JSON] | None = None,
        by: str = "user",
        sizes: tuple[int | None, int | None] = (None, None),
    ) -> Edit:
        """A new edit at the end of the log; `sizes` are the window's tokens before and after."""
        ids = self._ctx.services.ids
        return Edit(
            id=ids.new("edt"),
            session_id=self._ctx.session_id,
            seq=self._ctx.live.next_edit_seq(),
            group=group or ids.new("grp"),
            kind=kind,
            targets=tuple(targets),
            params=params or {},
            by=by,
            tokens_before=sizes[0],
            tokens_after=sizes[1],
            at=self._ctx.services.clock(),
        )

    async def apply(self, *records: Edit, also: Sequence[Change] = ()) -> None:
        """Record edits, with other changes in the same transaction, and tell.

        A result that the user clears is a choice: automatic compaction is on again.
        """
        await self._record(records, also)
        if any(record.kind is EditKind.CLEAR and record.by == "user" for record in records):
            await self.unlatch()
        self._ctx.publish(
            EditChanged(session=self._ctx.session_id, phase="applied", group=records[0].group, edits=records)
        )

    async def undo(self, group: str | None = None) -> EditGroup:
        """Switch a group off (the newest active one by default); returns the group.

        Raises EditRefused, with the reason, when there is nothing to undo or another must go first.
        """
        live = self._ctx.live
        if group is None:
            newest = edits.undoable(live.edits)
            if newest is None:
                raise EditRefused("There is nothing to undo.")
            group = newest.id
        target = edits.check_undo(live.edits, group)
        also: list[Change] = []
        if target.compaction:
            also.append(PutSession(live.replace_session(latched=True)))
        await self._switch(target, on=False, also=also)
        return target

    async def redo(self, group: str | None = None) -> EditGroup:
        """Switch a group on again (the one undone last by default); raises EditRefused with the reason."""
        live = self._ctx.live
        if group is None:
            newest = edits.redoable(live.edits)
            if newest is None:
                raise EditRefused("There is nothing to redo.")
            group = newest.id
        target = edits.check_redo(live.edits, group)
        await self._switch(target, on=True, also=())
        if target.compaction:
            await self.unlatch()
        return target

    async def latch(self) -> None:
        """The user chose: automatic compaction is off in this session, until the next choice."""
        live = self._ctx.live
        if not live.session.latched:
            await self._ctx.journal.commit(PutSession(live.replace_session(latched=True)))
            self._ctx.publish(SessionUpdated(session=self._ctx.session_id, info=live.session))

    async def unlatch(self) -> None:
        """The user chose: automatic compaction is on again."""
        live = self._ctx.live
        if live.session.latched:
            await self._ctx.journal.commit(PutSession(live.replace_session(latched=False)))
            self._ctx.publish(SessionUpdated(session=self._ctx.session_id, info=live.session))

    async def _switch(self, group: EditGroup, *, on: bool, also: Sequence[Change]) -> None:
        switch = Switch(
            id=self._ctx.services.ids.new("swt"),
            session_id=self._ctx.session_id,
            seq=self._ctx.live.next_edit_seq(),
            group=group.id,
            on=on,
            at=self._ctx.services.clock(),
        )
        await self._record((switch,), also)
        self._ctx.publish(
            EditChanged(
                session=self._ctx.session_id,
                phase="redone" if on else "undone",
                group=group.id,
                edits=group.edits,
            )
        )

    async def _record(self, records: Sequence[EditRecord], also: Sequence[Change]) -> None:
        live = self._ctx.live
        before = edits.fold(live.edits)
        after = edits.fold([*live.edits, *records])
        moved = (before.cleared ^ after.cleared) | (before.restored ^ after.restored)
        parts = [part for part in self._tool_parts(live.entries) if part[0].id in moved]
        wanted = [part.id for part, _ in parts if part.id not in after.cleared and _stored(part) is not None]
        texts = await self._ctx.services.store.outputs(wanted) if wanted else {}
        changes: list[Change] = [PutEdit(record) for record in records]
        now = self._ctx.services.clock()
        for part, seq in parts:
            if part.id in after.cleared:
                changes.append(PutPart(self._cleared(part, now), seq))
            else:
                changes.append(PutPart(_restored(part, texts.get(part.id)), seq))
        await self._ctx.journal.commit(*changes, *also)

    def _tool_parts(self, entries: Sequence[Entry]) -> list[tuple[ToolPart, int]]:
        return [
            (part, seq)
            for entry in entries
            for seq, part in enumerate(entry.parts)
            if isinstance(part, ToolPart) and isinstance(part.state, Completed)
        ]

    def _cleared(self, part: ToolPart, now: int) -> ToolPart:
        state = part.state
        if not isinstance(state, Completed):
            return part
        time = msgspec.structs.replace(state.time, compacted=now)
        if self._ctx.journal.unsaved or state.stored is not None:
            return msgspec.structs.replace(part, state=msgspec.structs.replace(state, time=time))
        data = state.output.encode("utf-8", "surrogatepass")
        stored = StoredOutput(bytes=len(data), units=utf16_units(state.output), sha256=digest(data))
        return msgspec.structs.replace(
            part, state=msgspec.structs.replace(state, time=time, output="", stored=stored)
        )


def _stored(part: ToolPart) -> StoredOutput | None:
    return part.state.stored if isinstance(part.state, Completed) else None


def _restored(part: ToolPart, text: str | None) -> ToolPart:
    state = part.state
    if not isinstance(state, Completed):
        return part
    time = msgspec.structs.replace(state.time, compacted=None)
    if state.stored is None:
        state = msgspec.structs.replace(state, time=time)
    else:
        state = msgspec.structs.replace(state, time=time, output=text or "", stored=None)
    return msgspec.structs.replace(part, state=state)
