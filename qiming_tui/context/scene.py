"""What rendering is done for (the scene), and the values that items are made of."""

from typing import Final

import msgspec

from qiming_tui.context.state import WindowEdits
from qiming_tui.model.codec import JSON, canonical, digest
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import Attachment, FilePart
from qiming_tui.model.window import Item, ItemState, Klass, Preset

UNWEIGHED: Final = -1
"""Tokens of an item that has not been weighed yet."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """For whom and how the window is rendered."""

    model: ModelRef
    dialect: str = "openai"
    preset: Preset = Preset.GUARDED
    edits: WindowEdits = WindowEdits()
    boundary: tuple[str, str] | None = None
    """(compaction message, summary message) of the boundary in force."""
    plain: bool = False
    """For summary requests: no reasoning, media as a line of text (cases C-046, C-048)."""
    result_chars: int | None = None
    """Cut every tool result to so many characters (fact 75); None: as they are."""


def make_item(
    key: str,
    group: str,
    value: dict[str, JSON],
    klass: Klass,
    *,
    owner: tuple[str | None, str | None] = (None, None),
    state: ItemState = ItemState.SENT,
    source: str = "",
    pinned: bool = False,
) -> Item:
    """An item that has not been weighed; `owner` = (message id, part id)."""
    return Item(
        key=key,
        group=group,
        value=value,
        blob=digest(canonical(value)),
        message_id=owner[0],
        part_id=owner[1],
        klass=klass,
        state=state,
        pinned=pinned,
        tokens=UNWEIGHED,
        source=source,
    )


def text_value(role: str, text: str) -> dict[str, JSON]:
    """The value of a text item."""
    return {"role": role, "type": "text", "text": text}


def pinned(message_id: str, part_id: str, scene: Scene) -> bool:
    """Whether the user pinned the message or the part."""
    pins = scene.edits.pins
    return bool(pins) and any(pin.target in (message_id, part_id) for pin in pins)


def attached_words(mime: str, filename: str | None) -> str:
    """What stands for a file that is not sent as such."""
    return f"[Attached {mime}: {filename or 'file'}]"


def file_value(file: FilePart | Attachment, *, plain: bool) -> dict[str, JSON]:
    """An attachment as a picture, a document, or a line of text where it can be neither."""
    sendable = not plain and file.url.startswith(("data:", "https:", "http:"))
    name = file.filename or "file"
    if sendable and file.mime.startswith("image/"):
        return {"role": "user", "type": "image", "url": file.url, "mime": file.mime, "filename": name}
    if sendable and file.mime == "application/pdf" and file.url.startswith("data:"):
        return {"role": "user", "type": "document", "url": file.url, "mime": file.mime, "filename": name}
    return text_value("user", attached_words(file.mime, file.filename))
