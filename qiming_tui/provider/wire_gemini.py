"""generateContent as Gemini streams it: whole parts, calls in one piece."""

import json
from collections.abc import Iterator

from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.stream import ReasoningDelta, StreamEvent, TextDelta
from qiming_tui.provider import normalise
from qiming_tui.provider.wire import Answer, StreamRefused, mapping, objects, text

SIGNATURE_MARK = "__thought__"
"""Between a call's id and its thought signature: litellm's public convention, by which it finds the signature
again when the call is sent back. Ids are kept verbatim as pairing keys."""


class GeminiReader:
    """Reads GenerateContentResponse objects; every one may carry the usage so far, the last counts."""

    def __init__(self, answer: Answer, request_id: str) -> None:
        self.answer = answer
        self._request_id = request_id
        self._block = 0
        self._calls = 0

    def feed(self, data: dict[str, JSON]) -> Iterator[StreamEvent]:
        """Events of one response object; raises StreamRefused for an error object."""
        if data.get("error"):
            status = mapping(data["error"]).get("code")
            raise StreamRefused(canonical(data).decode(), status if isinstance(status, int) else None)
        usage = normalise.gemini(data.get("usageMetadata"))
        if usage is not None:
            self.answer.usage = usage
        if text(mapping(data.get("promptFeedback")).get("blockReason")):
            self.answer.reason = "safety"
        for candidate in objects(data.get("candidates"))[:1]:
            for part in objects(mapping(candidate.get("content")).get("parts")):
                yield from self._part(part)
            if reason := text(candidate.get("finishReason")):
                self.answer.reason = reason

    def _part(self, part: dict[str, JSON]) -> Iterator[StreamEvent]:
        signature = text(part.get("thoughtSignature"))
        call = mapping(part.get("functionCall"))
        content = text(part.get("text"))
        if call:
            yield from self._call(call, signature)
        elif part.get("thought") is True:
            if content or signature:
                yield ReasoningDelta(content, self._block, signature=signature or None)
            self._block += bool(signature)
        elif content:
            yield TextDelta(content)

    def _call(self, call: dict[str, JSON], signature: str) -> Iterator[StreamEvent]:
        call_id = text(call.get("id")) or f"call_{self._request_id}_{self._calls}"
        if signature:
            call_id += SIGNATURE_MARK + signature
        index, self._calls = self._calls, self._calls + 1
        arguments = json.dumps(mapping(call.get("args")), ensure_ascii=False)
        return self.answer.call(
            index=index, call_id=call_id, name=text(call.get("name")), arguments=arguments
        )
