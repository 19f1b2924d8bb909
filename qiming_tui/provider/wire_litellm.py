"""The chunks of litellm's acompletion, for every provider whose stream we do not read ourselves."""

from collections.abc import Iterator
from typing import Any, Protocol

from qiming_tui.model.codec import JSON
from qiming_tui.model.stream import ReasoningDelta, StreamEvent, TextDelta
from qiming_tui.provider import normalise
from qiming_tui.provider.wire import Answer, text


class Choice(Protocol):
    """A choice of a chunk; its delta has what the provider sent, and no more."""

    delta: Any
    finish_reason: str | None


class Chunk(Protocol):
    """litellm's ModelResponseStream, as far as we read it."""

    choices: list[Choice]


class LitellmReader:
    """Reads ModelResponseStream objects. Usage is taken from the provider's own chunks (`measure`), never
    from the last chunk, which the library makes up when the provider reported none (C-076)."""

    def __init__(self, answer: Answer, *, guesses_reasoning: bool) -> None:
        self.answer = answer
        self._guesses = guesses_reasoning
        self._blocks: dict[JSON, int] = {}
        self._open = True

    def measure(self, usage: object) -> None:
        """Take the usage object of a chunk that came from the provider; the last one counts (C-083)."""
        raw = usage.model_dump() if hasattr(usage, "model_dump") else usage
        found = normalise.litellm(raw, guesses_reasoning=self._guesses)
        if found is not None:
            self.answer.usage = found

    def feed(self, chunk: Chunk) -> Iterator[StreamEvent]:
        """Events of one chunk; a chunk without choices has none."""
        for choice in (chunk.choices or [])[:1]:
            delta = choice.delta
            yield from self._thoughts(delta)
            if content := text(getattr(delta, "content", None)):
                yield TextDelta(content)
            for call in getattr(delta, "tool_calls", None) or []:
                yield from self.answer.call(
                    index=getattr(call, "index", None),
                    call_id=text(call.id),
                    name=text(call.function.name),
                    arguments=text(call.function.arguments),
                )
            if choice.finish_reason:
                self.answer.reason = text(choice.finish_reason)

    def _thoughts(self, delta: object) -> Iterator[StreamEvent]:
        blocks = getattr(delta, "thinking_blocks", None) or []
        for block in blocks:
            number = self._number(block.get("index"))
            signature, redacted = text(block.get("signature")), text(block.get("data"))
            thought = text(block.get("thinking"))
            if thought or signature or redacted:
                yield ReasoningDelta(thought, number, signature=signature or None, redacted=redacted or None)
            self._open = not (signature or redacted)
        if not blocks and (thought := text(getattr(delta, "reasoning_content", None))):
            yield ReasoningDelta(thought)

    def _number(self, index: JSON) -> int:
        """Blocks are numbered as they appear; without an index a signature ends one."""
        if index is None:
            index = (
                ("open", len(self._blocks)) if not self._open or not self._blocks else list(self._blocks)[-1]
            )
        return self._blocks.setdefault(index, len(self._blocks))
