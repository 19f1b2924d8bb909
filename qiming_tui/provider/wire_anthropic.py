"""Messages as Anthropic streams them: content blocks that start, grow and stop."""

from collections.abc import Iterator

from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.stream import ReasoningDelta, StreamEvent, TextDelta
from qiming_tui.provider import normalise
from qiming_tui.provider.wire import Answer, StreamRefused, mapping, text


class AnthropicReader:
    """Reads message events. The usage of message_delta is cumulative and may leave out what message_start
    said, so later fields replace earlier ones."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._usage: dict[str, JSON] = {}
        self._thoughts = -1
        self._tool: dict[str, JSON] = {}
        self._tool_index: JSON = None
        self._tool_json: str | None = None
        """The arguments so far; None: not one piece came, not even an empty one."""

    def feed(self, data: dict[str, JSON]) -> Iterator[StreamEvent]:
        """Events of one message event; raises StreamRefused for an error event."""
        match data.get("type"):
            case "error":
                raise StreamRefused(canonical(data).decode())
            case "message_start":
                self._measure(mapping(data.get("message")).get("usage"))
            case "content_block_start":
                yield from self._start(data.get("index"), mapping(data.get("content_block")))
            case "content_block_delta":
                yield from self._delta(mapping(data.get("delta")))
            case "content_block_stop":
                if self._tool and self._tool_json == "":
                    yield from self._call("{}")  # as litellm says it
                self._tool = {}
            case "message_delta":
                self._measure(data.get("usage"))
                if reason := text(mapping(data.get("delta")).get("stop_reason")):
                    self.answer.reason = reason

    def _measure(self, usage: JSON) -> None:
        said = {name: value for name, value in mapping(usage).items() if value is not None}
        self._usage.update(said)
        self.answer.usage = normalise.anthropic(self._usage)

    def _start(self, index: JSON, block: dict[str, JSON]) -> Iterator[StreamEvent]:
        self._tool = {}
        match block.get("type"):
            case "thinking":
                self._thoughts += 1
                if thought := text(block.get("thinking")):
                    yield ReasoningDelta(thought, self._thoughts)
            case "redacted_thinking":
                self._thoughts += 1
                yield ReasoningDelta("", self._thoughts, redacted=text(block.get("data")))
            case "text":
                if content := text(block.get("text")):
                    yield TextDelta(content)
            case "tool_use":
                self._tool, self._tool_index, self._tool_json = block, index, None
                yield from self._call("")

    def _delta(self, delta: dict[str, JSON]) -> Iterator[StreamEvent]:
        match delta.get("type"):
            case "text_delta":
                if content := text(delta.get("text")):
                    yield TextDelta(content)
            case "thinking_delta":
                if thought := text(delta.get("thinking")):
                    yield ReasoningDelta(thought, max(0, self._thoughts))
            case "signature_delta":
                if signature := text(delta.get("signature")):
                    yield ReasoningDelta("", max(0, self._thoughts), signature=signature)
            case "input_json_delta":
                if self._tool:
                    piece = text(delta.get("partial_json"))
                    self._tool_json = (self._tool_json or "") + piece
                    yield from self._call(piece)

    def _call(self, arguments: str) -> Iterator[StreamEvent]:
        return self.answer.call(
            index=self._tool_index,
            call_id=text(self._tool.get("id")),
            name=text(self._tool.get("name")),
            arguments=arguments,
        )
