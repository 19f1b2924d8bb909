"""What a view keeps from one build to the next, so that only what changed is rendered, weighed and hashed.

A cache changes nothing about the result: built with it or without, views are equal (tested).
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.assemble import message_of
from qiming_tui.context.edits import fold, is_cleared
from qiming_tui.context.render import fixed_items, render_entry
from qiming_tui.context.repair import Sound
from qiming_tui.context.scene import Scene
from qiming_tui.context.state import SessionState, WindowEdits
from qiming_tui.context.tokens import Tally
from qiming_tui.context.weigh import weigh
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.edits import EditRecord
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.window import Item

Marks = tuple[Tally, float]
"""The tally that weighed, and its calibration at that time."""

_NO_MARKS: Final[frozenset[str]] = frozenset()


def weighed(items: Sequence[Item], tally: Tally) -> list[Item]:
    """The items with their tokens."""
    replace = msgspec.structs.replace
    return [
        item if item.tokens == tokens else replace(item, tokens=tokens)
        for item, tokens in zip(items, weigh(items, tally), strict=True)
    ]


class _Weighed:
    """Rendered items that are weighed once, and again while a count was a guess."""

    __slots__ = ("exact", "items", "marks")

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.marks: Marks | None = None
        self.exact = False

    def weighed(self, tally: Tally) -> list[Item]:
        """The items with their tokens."""
        marks = self.marks
        if self.exact and marks is not None and marks[0] is tally and marks[1] == tally.calibration:
            return self.items
        self.items = weighed(self.items, tally)
        self.marks = (tally, tally.calibration)
        self.exact = tally.exact
        return self.items


class _Slot(_Weighed):
    """One entry, rendered for a scene."""

    __slots__ = ("entry", "scene", "signature")

    def __init__(self, entry: Entry, scene: Scene, signature: tuple[object, ...]) -> None:
        super().__init__(render_entry(entry, scene))
        self.entry = entry
        self.scene = scene
        self.signature = signature


def _signature(entry: Entry, scene: Scene, targets: frozenset[str]) -> tuple[object, ...]:
    """All of the edits that the items of one entry depend on."""
    edits = scene.edits
    tools = tuple(
        (is_cleared(part, edits), edits.clipped.get(part.id))
        for part in entry.parts
        if isinstance(part, ToolPart)
    )
    pinned = tuple(part.id for part in entry.parts if part.id in targets) if targets else ()
    in_force = scene.boundary is not None and entry.id in scene.boundary
    return (tools, pinned, entry.id in targets, in_force, edits.summaries.get(entry.id))


class Cache:
    """Keep one per session and pass it to every `build`. Not for several threads at once."""

    def __init__(self) -> None:
        self._slots: dict[str, _Slot] = {}
        self._scene: Scene | None = None
        self._edits: tuple[tuple[EditRecord, ...], WindowEdits] | None = None
        self._fixed: tuple[object, _Weighed] | None = None
        self.sound = Sound()
        """The repair that looks only at what is new."""
        self._fragments: dict[tuple[str, ...], msgspec.Raw] = {}

    def edits(self, records: tuple[EditRecord, ...]) -> WindowEdits:
        """`fold`, but once for the same log."""
        if self._edits is None or (self._edits[0] is not records and self._edits[0] != records):
            self._edits = (records, fold(records))
        return self._edits[1]

    def fixed(self, state: SessionState, tally: Tally) -> list[Item]:
        """The weighed items that every request begins with."""
        key = (state.system, state.memory, state.tools)
        if self._fixed is None or self._fixed[0] != key:
            self._fixed = (key, _Weighed(fixed_items(*key)))
        return self._fixed[1].weighed(tally)

    def items(self, entries: Sequence[Entry], scene: Scene, tally: Tally) -> list[list[Item]]:
        """The weighed items of each entry."""
        old = self._scene
        if old is not None and old == scene:
            scene = old
        elif old is None or msgspec.structs.replace(old, edits=scene.edits, boundary=scene.boundary) != scene:
            self._slots.clear()
        self._scene = scene
        targets = frozenset(pin.target for pin in scene.edits.pins)
        slots, out = self._slots, []
        for entry in entries:
            slot = slots.get(entry.id)
            if slot is None or slot.entry is not entry or slot.scene is not scene:
                slot = slots[entry.id] = self._slot(slot, entry, scene, targets)
            out.append(slot.weighed(tally))
        if len(slots) > 2 * len(entries) + 100:
            live = {entry.id for entry in entries}
            self._slots = {key: slot for key, slot in slots.items() if key in live}
        return out

    @staticmethod
    def _slot(slot: _Slot | None, entry: Entry, scene: Scene, targets: frozenset[str]) -> _Slot:
        signature = _signature(entry, scene, targets)
        if slot is not None and slot.entry is entry and slot.signature == signature:
            slot.scene = scene
            return slot
        return _Slot(entry, scene, signature)

    def fragment(self, run: Sequence[Item]) -> JSON:
        """The canonical bytes of a message without breakpoints, ready to stand in a body."""
        key = tuple([item.blob for item in run])
        found = self._fragments.get(key)
        if found is None:
            if len(self._fragments) > 200_000:
                self._fragments.clear()
            found = self._fragments[key] = msgspec.Raw(canonical(message_of(run, _NO_MARKS)))
        return found
