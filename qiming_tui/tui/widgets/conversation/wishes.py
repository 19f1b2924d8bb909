"""What a person wishes of the window while reading: keys on the block under the cursor, posted as messages.

The conversation changes nothing itself: whoever hears a wish shows its price and makes the edit.
"""

from typing import ClassVar, Final, Literal

from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive

from qiming_tui.tui.blocks import Block, Kind
from qiming_tui.tui.keys import bind
from qiming_tui.tui.widgets.conversation.face import Hint
from qiming_tui.tui.widgets.conversation.reader import Reader

EditKey = Literal["clear", "restore", "pin", "unpin", "undo", "redo"]
LookKey = Literal["why", "before-after"]

GHOST_HINTS: Final[tuple[Hint, ...]] = (("p", "peek"), ("u", "restore"), ("w", "why"))
BOUNDARY_HINTS: Final[tuple[Hint, ...]] = (
    ("enter", "summary"),
    ("b", "before/after"),
    ("w", "why"),
    ("z", "undo compaction"),
)


class Wishes(Reader, inherit_bindings=False):
    """The keys that act on the window: u, i, z, Z; and those that explain it: w, b."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *Reader.BINDINGS,
        bind("conversation.clear", "u", "clear", "clear, restore"),
        bind("conversation.pin", "i", "pin", "pin, unpin"),
        bind("conversation.why", "w", "why", "why"),
        bind("conversation.before_after", "b", "before_after", "before and after"),
        bind("conversation.undo", "z", "undo", "undo"),
        bind("conversation.redo", "Z", "redo", "redo"),
    ]

    ghost_hints: reactive[tuple[Hint, ...]] = reactive(GHOST_HINTS)
    boundary_hints: reactive[tuple[Hint, ...]] = reactive(BOUNDARY_HINTS)

    class EditWanted(Message, namespace="conversation"):
        """An edit of the window: `part_ids` of the block it is for (none: the newest edit, for undo and
        redo) and its message."""

        def __init__(self, kind: EditKey, part_ids: tuple[str, ...] = (), message_id: str = "") -> None:
            super().__init__()
            self.kind = kind
            self.part_ids = part_ids
            self.message_id = message_id

    class LookWanted(Message, namespace="conversation"):
        """Something about a block is to be explained: why it is sent as it is, what a compaction did."""

        def __init__(self, what: LookKey, part_ids: tuple[str, ...], message_id: str) -> None:
            super().__init__()
            self.what = what
            self.part_ids = part_ids
            self.message_id = message_id

    def action_clear(self) -> None:
        """Take the result under the cursor out of the next request, or put it back."""
        block = self.selected
        if block is not None and block.kind is Kind.TOOL:
            self._edit("restore" if self._cleared(block) else "clear", block)

    def action_pin(self) -> None:
        """Keep the block in every request, compacted or not; or no longer."""
        block = self.selected
        if block is not None and block.kind in {Kind.TOOL, Kind.TEXT, Kind.USER}:
            cost = self.cost_of(block)
            self._edit("unpin" if cost is not None and cost.pinned else "pin", block)

    def action_undo(self) -> None:
        """Take back the compaction under the cursor; elsewhere the newest edit."""
        block = self._rule()
        self.post_message(self.EditWanted("undo", *(() if block is None else ((), block.message_id))))

    def action_redo(self) -> None:
        """Bring back what was undone last."""
        self.post_message(self.EditWanted("redo"))

    def action_why(self) -> None:
        """Why the block is sent as it is; why it was compacted."""
        block = self._rule() or self.selected
        if block is not None:
            self.post_message(self.LookWanted("why", parts_of(block), block.message_id))

    def action_before_after(self) -> None:
        """What the compaction under the cursor did."""
        block = self._rule()
        if block is not None:
            self.post_message(self.LookWanted("before-after", (), block.message_id))

    def _edit(self, kind: EditKey, block: Block) -> None:
        self.post_message(self.EditWanted(kind, parts_of(block), block.message_id))

    def _cleared(self, block: Block) -> bool:
        item = self.shelf.get(block.id)
        return item is not None and bool(self._face(item).cleared)

    def _rule(self) -> Block | None:
        """The boundary under the cursor, or the one whose summary is."""
        place = self.shelf.place(self.cursor) if self.cursor else None
        if place is None:
            return None
        block = self.shelf.items[place].block
        if block.kind is Kind.SUMMARY and place:
            block = self.shelf.items[place - 1].block
        return block if block.kind is Kind.BOUNDARY else None


def parts_of(block: Block) -> tuple[str, ...]:
    """Ids of the parts that a block shows."""
    return block.parts or (() if block.kind in {Kind.USER, Kind.BOUNDARY} else (block.id,))
