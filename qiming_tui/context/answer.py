"""From one assistant message to items: its steps, each with its calls, their results and their media."""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from qiming_tui.context.clip import clip_arguments
from qiming_tui.context.edits import is_cleared
from qiming_tui.context.scene import Scene, file_value, make_item, pinned, text_value
from qiming_tui.context.state import WindowEdits
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.errors import QimingError
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.parts import (
    INTERRUPTED_TEXT,
    PLACEHOLDER,
    Attachment,
    Completed,
    Failed,
    Pending,
    ReasoningPart,
    Running,
    StepStartPart,
    TextPart,
    ToolPart,
)
from qiming_tui.model.window import Item, ItemState, Klass, Preset

MEDIA_TEXT: Final = "Attached media from tool result:"
"""What precedes a tool's pictures where a result can hold only text (fact 72)."""


class Answer:
    """Renders one assistant message: its steps, each with its calls, their results and their media."""

    def __init__(self, entry: Entry, scene: Scene, info: AssistantMessage) -> None:
        self._entry, self._scene = entry, scene
        self._own = info.model == scene.model
        self._step = 0
        self._out: list[Item] = []
        self._results: list[Item] = []
        self._media: list[Item] = []
        self._signed = any(
            isinstance(p, ReasoningPart) and "signature" in thinking_of(p) for p in entry.parts
        )

    def items(self) -> list[Item]:
        """All items, in the order of the request."""
        for part in self._entry.parts:
            match part:
                case StepStartPart():
                    self._flush()
                    self._step += 1
                case TextPart():
                    if not part.ignored:
                        self._text(part)
                case ReasoningPart():
                    self._reasoning(part)
                case ToolPart():
                    self._tool(part)
                case _:
                    pass
        self._flush()
        return self._out

    def _flush(self) -> None:
        self._out += self._results
        self._out += self._media
        self._results, self._media = [], []

    def _say(self, part: TextPart | ReasoningPart, value: dict[str, JSON]) -> None:
        self._out.append(self._item(part.id, part.id, value, Klass.ASSISTANT))

    def _item(
        self,
        key: str,
        part_id: str,
        value: dict[str, JSON],
        klass: Klass,
        *,
        group: str | None = None,
        state: ItemState = ItemState.SENT,
        source: str = "",
    ) -> Item:
        return make_item(
            key,
            group if group is not None else f"{self._entry.id}:{self._step}",
            value,
            klass,
            owner=(self._entry.id, part_id),
            state=state,
            source=source,
            pinned=pinned(self._entry.id, part_id, self._scene),
        )

    def _text(self, part: TextPart) -> None:
        text = part.text
        if text == "" and self._signed and self._scene.dialect == "anthropic":
            text = " "  # fact 84; `repair` takes it out again
        self._say(part, text_value("assistant", text))

    def _reasoning(self, part: ReasoningPart) -> None:
        """Verbatim to the model that wrote it, or not at all; `opencode` and `qiming` turn another model's
        into text (fact 73, cases C-046)."""
        if self._scene.plain:
            return
        if not self._own:
            if self._scene.preset is not Preset.GUARDED and part.text.strip():
                self._say(part, text_value("assistant", part.text))
            return
        value: dict[str, JSON] = {"role": "assistant", "text": part.text}
        if self._scene.dialect == "anthropic":
            thinking = thinking_of(part)
            if thinking:
                self._say(part, {**value, "type": "thinking", **thinking})
        elif self._scene.dialect == "openai":
            details = _dict((part.metadata or {}).get("openrouter")).get("reasoning_details")
            extra = {"details": details} if isinstance(details, list) and details else {}
            self._say(part, {**value, "type": "reasoning", **extra})

    def _tool(self, part: ToolPart) -> None:
        arguments, clipped = _arguments(part, self._scene.edits)
        value: dict[str, JSON] = {
            "role": "assistant",
            "type": "call",
            "id": part.call_id,
            "name": part.tool,
            "arguments": arguments,
        }
        state = ItemState.CLIPPED if clipped else ItemState.SENT
        key = f"{part.id}:call"
        self._out.append(self._item(key, part.id, value, Klass.ASSISTANT, state=state, source=part.tool))
        cleared = isinstance(part.state, Completed) and is_cleared(part, self._scene.edits)
        content = PLACEHOLDER if cleared else _cut(result_text(part), self._scene.result_chars)
        result: dict[str, JSON] = {"role": "tool", "id": part.call_id, "content": content}
        if isinstance(part.state, Completed) and not cleared and not self._scene.plain:
            result |= self._attach(part, part.state.attachments)
        state = ItemState.CLEARED if cleared else ItemState.SENT
        key = f"{part.id}:result"
        self._results.append(
            self._item(key, part.id, result, Klass.RESULT, group=key, state=state, source=part.tool)
        )

    def _attach(self, part: ToolPart, files: Iterable[Attachment]) -> dict[str, JSON]:
        """Pictures and documents of a result: inside it where the dialect takes them, else in a user message
        after the results of the step (facts 70 to 72)."""
        values = [file_value(file, plain=False) for file in files]
        values = [value for value in values if value["type"] != "text"]
        if not values:
            return {}
        if self._scene.dialect == "anthropic":
            return {"attachments": [{k: v for k, v in value.items() if k != "role"} for value in values]}
        values.insert(0, text_value("user", MEDIA_TEXT))
        for index, value in enumerate(values):
            self._media.append(
                self._item(
                    f"{part.id}:media:{index}",
                    part.id,
                    value,
                    Klass.RESULT,
                    group=f"{self._entry.id}:{self._step}:media",
                    state=ItemState.SYNTHETIC,
                    source=part.tool,
                )
            )
        return {}


def _dict(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def thinking_of(part: ReasoningPart) -> dict[str, JSON]:
    """{"signature"} or {"redacted"} of a thinking block, ours or as OpenCode stores it; {} if unsigned."""
    ours = _dict((part.metadata or {}).get("qiming"))
    theirs = _dict((part.metadata or {}).get("anthropic"))
    if redacted := ours.get("redacted") or theirs.get("redactedData"):
        return {"redacted": redacted}
    signature = ours.get("signature") or theirs.get("signature")
    return {"signature": signature} if signature else {}


def _arguments(part: ToolPart, edits: WindowEdits) -> tuple[str, bool]:
    """The call's arguments as deterministic JSON, and whether they were shortened."""
    arguments, limit = _input(part), edits.clipped.get(part.id)
    shortened = arguments if limit is None else clip_arguments(arguments, chars=limit)
    return canonical(shortened).decode(), shortened is not arguments


def _input(part: ToolPart) -> dict[str, JSON]:
    """A call's arguments as an object, whatever was stored."""
    value = part.state.input
    return value if isinstance(value, dict) else {} if value in (None, "") else {"input": value}


def arguments_text(part: ToolPart) -> str:
    """A call's arguments as deterministic JSON, in full."""
    return canonical(_input(part)).decode()


def _cut(text: str, chars: int | None) -> str:
    if chars is None or len(text) <= chars:
        return text
    return f"{text[:chars]}\n[Tool output truncated for compaction: omitted {len(text) - chars} chars]"


def result_text(part: ToolPart) -> str:
    """What a call gave, when it is not cleared (facts 76, 77, 83). Raises `QimingError` if the output was
    left in the store: only cleared and archived ones may be."""
    state = part.state
    match state:
        case Completed():
            if state.stored is not None:
                raise QimingError(f"the output of {part.id} is not loaded", "load it before it is sent")
            return state.output
        case Failed():
            metadata: Mapping[str, JSON] = state.metadata or {}
            kept = metadata.get("output")
            return kept if metadata.get("interrupted") is True and isinstance(kept, str) else state.error
        case Pending() | Running():
            return INTERRUPTED_TEXT
        case _ as never:
            assert_never(never)
