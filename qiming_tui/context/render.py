"""From messages to items (conformance 1.5, facts 64 to 87). `repair` makes them legal afterwards.

An entry's items depend on the entry, the scene and the edits that name its parts, and on nothing else:
between two edits the items of what was sent before stay byte for byte the same.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from qiming_tui.context.answer import Answer
from qiming_tui.context.boundary import says_something
from qiming_tui.context.edits import is_cleared
from qiming_tui.context.scene import Scene, file_value, make_item, pinned, text_value
from qiming_tui.context.state import Block, Pin, ToolSchema, Window
from qiming_tui.model.codec import JSON
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.parts import (
    COMPACTION_TEXT,
    SUBTASK_TEXT,
    CompactionPart,
    Completed,
    FilePart,
    SubtaskPart,
    TextPart,
    ToolPart,
)
from qiming_tui.model.window import Item, ItemState, Klass, Preset

_UNSENT_FILES: Final = frozenset({"text/plain", "application/x-directory"})


def fixed_items(system: Iterable[Block], memory: Iterable[Block], tools: Iterable[ToolSchema]) -> list[Item]:
    """What every request begins with: system blocks, tool schemas, memory files; no blank blocks."""
    items: list[Item] = []
    for index, block in enumerate(system):
        if block.text.strip():
            value: dict[str, JSON] = {"role": "system", "text": block.text}
            items.append(make_item(f"system:{index}", "system", value, Klass.SYSTEM, source=block.source))
    for tool in tools:
        value = {
            "role": "tool-schema",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        }
        items.append(make_item(f"tool:{tool.name}", "tools", value, Klass.TOOL, source=tool.name))
    for block in memory:
        if block.text.strip():
            value = {"role": "system", "text": block.text}
            key = f"memory:{block.source}"
            items.append(make_item(key, "system", value, Klass.MEMORY, source=block.source))
    return items


def pin_items(pins: Iterable[Pin], live: frozenset[str]) -> list[Item]:
    """One synthetic user message with the pinned things that are not live any more, as they were when they
    were pinned (`data.md` 3, sequence 5). `live`: ids of the messages and parts that are sent."""
    return [
        make_item(
            f"pin:{pin.target}",
            "pins",
            text_value("user", f"[Pinned by the user, from {pin.source or 'this session'}]\n{pin.text}"),
            Klass.USER,
            owner=(None, pin.target),
            state=ItemState.SYNTHETIC,
            source=pin.source,
            pinned=True,
        )
        for pin in pins
        if pin.target not in live and pin.text.strip()
    ]


def render_entry(entry: Entry, scene: Scene) -> list[Item]:
    """The items of one message; none if nothing of it is sent."""
    is_boundary = scene.boundary is not None and entry.id in scene.boundary
    if isinstance(entry.info, AssistantMessage):
        if entry.info.summary and (is_boundary or scene.preset is Preset.GUARDED):
            return _summary(entry, scene) if is_boundary else []
        return Answer(entry, scene, entry.info).items() if says_something(entry) else []
    if scene.preset is Preset.GUARDED and entry.compaction is not None and not is_boundary:
        return []
    return _user(entry, scene)


def _summary(entry: Entry, scene: Scene) -> list[Item]:
    """The summary's text, or the user's edit of it; its reasoning served its purpose."""
    edited = scene.edits.summaries.get(entry.id)
    texts = [part for part in entry.parts if isinstance(part, TextPart) and not part.ignored]
    if edited is not None and edited.strip() and texts:
        texts = [msgspec.structs.replace(texts[0], text=edited)]
    else:
        edited = None
    return [
        make_item(
            part.id,
            f"{entry.id}:0",
            text_value("assistant", part.text),
            Klass.SUMMARY,
            owner=(entry.id, part.id),
            source="summary" if edited is None else "edited",
            pinned=pinned(entry.id, part.id, scene),
        )
        for part in texts
    ]


def _user(entry: Entry, scene: Scene) -> list[Item]:
    items: list[Item] = []
    for part in entry.parts:
        state, source = ItemState.SENT, ""
        match part:
            case TextPart():
                if part.ignored or part.text == "":
                    continue
                value = text_value("user", part.text)
                state = ItemState.SYNTHETIC if part.synthetic else ItemState.SENT
            case FilePart():
                if part.mime in _UNSENT_FILES:
                    continue
                value, source = file_value(part, plain=scene.plain), part.filename or part.mime
            case CompactionPart():
                value, state = text_value("user", COMPACTION_TEXT), ItemState.SYNTHETIC
            case SubtaskPart():
                value, state = text_value("user", SUBTASK_TEXT), ItemState.SYNTHETIC
            case _:
                continue
        items.append(
            make_item(
                part.id,
                entry.id,
                value,
                Klass.USER,
                owner=(entry.id, part.id),
                state=state,
                source=source,
                pinned=pinned(entry.id, part.id, scene),
            )
        )
    return items


def unloaded(window: Window) -> tuple[str, ...]:
    """Ids of live tool parts that will be sent in full and whose output still lies in the store."""
    return tuple(
        part.id
        for entry in window.live
        for part in entry.parts
        if isinstance(part, ToolPart)
        and isinstance(part.state, Completed)
        and part.state.stored is not None
        and not is_cleared(part, window.edits)
    )
