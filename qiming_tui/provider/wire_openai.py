"""Chat completions as OpenAI-compatible servers stream them."""

from collections.abc import Iterator

from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.stream import ReasoningDelta, StreamEvent, TextDelta
from qiming_tui.provider import normalise
from qiming_tui.provider.wire import Answer, StreamRefused, mapping, objects, text


class OpenAIReader:
    """Reads `chat.completion.chunk` objects; usage may come in any chunk, the last one counts (C-083)."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def feed(self, data: dict[str, JSON]) -> Iterator[StreamEvent]:
        """Events of one chunk; raises StreamRefused for an error object in the stream."""
        if data.get("error"):
            raise StreamRefused(canonical(data).decode())
        usage = normalise.openai(data.get("usage"))
        if usage is not None:
            self.answer.usage = usage
        for choice in objects(data.get("choices"))[:1]:
            delta = mapping(choice.get("delta"))
            thought = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
            if thought:
                yield ReasoningDelta(thought)
            if content := text(delta.get("content")):
                yield TextDelta(content)
            for call in objects(delta.get("tool_calls")):
                function = mapping(call.get("function"))
                yield from self.answer.call(
                    index=call.get("index"),
                    call_id=text(call.get("id")),
                    name=text(function.get("name")),
                    arguments=text(function.get("arguments")),
                )
            if reason := text(choice.get("finish_reason")):
                self.answer.reason = reason
