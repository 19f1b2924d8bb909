"""From stream events to parts: written when they start, at most every 250 ms, and when they end."""

from collections.abc import Callable
from typing import Final, assert_never

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.events import PartDelta
from qiming_tui.model.ids import Clock, Ids
from qiming_tui.model.messages import ABORTED, AssistantMessage, MessageError
from qiming_tui.model.parts import (
    Failed,
    Pending,
    ReasoningPart,
    Running,
    Span,
    StepFinishPart,
    TextPart,
    ToolPart,
)
from qiming_tui.model.stream import (
    Failure,
    Fault,
    Finish,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
    WireReport,
)
from qiming_tui.model.usage import tokens_of
from qiming_tui.session.bus import Bus
from qiming_tui.session.journal import Journal
from qiming_tui.session.message import MessageWriter
from qiming_tui.session.reply import Reply

WRITE_EVERY_MS: Final = 250


class Processor:
    """Builds one assistant message from the events of one answer; starts anew after `reset`."""

    def __init__(
        self,
        *,
        journal: Journal,
        bus: Bus,
        ids: Ids,
        clock: Clock,
        draft: Callable[[], AssistantMessage],
        step: int,
    ) -> None:
        self._draft = draft
        self._journal = journal
        self._bus = bus
        self._ids = ids
        self._clock = clock
        self._step = step
        self._begin_message()

    def _begin_message(self) -> None:
        self._writer = MessageWriter(
            journal=self._journal,
            bus=self._bus,
            ids=self._ids,
            clock=self._clock,
            step=self._step,
            message=self._draft(),
        )
        self.calls: list[ToolPart] = []
        self._open: TextPart | ReasoningPart | None = None
        self._open_seq = 0
        self._block: int | None = None
        self._slots: dict[int, tuple[ToolPart, int, str]] = {}
        self._last_write = 0

    @property
    def message(self) -> AssistantMessage:
        """The message as it stands."""
        return self._writer.message

    @property
    def written(self) -> bool:
        """Whether the message has a row."""
        return self._writer.written

    async def feed(self, event: StreamEvent) -> None:
        """Take one event of the answer."""
        match event:
            case TextDelta(text):
                await self._text(text)
            case ReasoningDelta():
                await self._reasoning(event)
            case ToolCallStart(slot, call_id, name):
                await self._call_start(slot, call_id, name)
            case ToolCallDelta(slot, arguments):
                part, seq, raw = self._slots[slot]
                self._slots[slot] = (part, seq, raw + arguments)
            case ToolCallEnd():
                await self._call_end(event)
            case UsageReport() | WireReport() | Finish() | Failure():
                pass
            case _:
                assert_never(event)

    async def reset(self, fault: Fault) -> None:
        """The answer broke off and will be asked for again: what came is kept, marked, and not sent."""
        if self.written:
            await self.fail(MessageError(name="APIError", data={"message": fault.message}), finish="error")
        self._begin_message()

    async def finish(self, reply: Reply, cost: float | None) -> None:
        """The answer is complete: write the usage, the finish and the last part."""
        await self._writer.ensure()
        await self._close_open()
        tokens = tokens_of(reply.usage) if reply.usage is not None else self.message.tokens
        reason = "tool-calls" if self.calls else (reply.finish or "unknown")
        part = StepFinishPart(**self._writer.identity(), reason=reason, tokens=tokens, cost=cost or 0)
        error = None
        if reason == "content-filter":
            text = "The provider's content filter stopped the answer."
            error = MessageError(name="ContentFilterError", data={"message": text})
        await self._writer.put(part, self._writer.next_seq())
        await self._writer.save(finish=reason, tokens=tokens, cost=cost or 0, error=error)

    async def complete(self) -> None:
        """All results are in: the message has ended."""
        if self.message.time.completed is None:
            await self._writer.end()

    async def fail(self, error: MessageError, *, finish: str | None) -> None:
        """End the message with an error; running calls become errors, text so far is kept."""
        await self._writer.ensure()
        await self._close_open()
        for call in self._unfinished():
            await self._interrupt(call)
        await self._writer.end(error=error, finish=finish)

    async def abort(self) -> None:
        """The user stopped the step (facts 146, 147): everything open ends, nothing is lost."""
        answered = self.message.finish is not None
        error = MessageError(name=ABORTED, data={"message": "Stopped by the user."})
        await self.fail(error, finish=self.message.finish if answered else None)

    async def update_call(self, part: ToolPart) -> None:
        """Store and tell the new state of a call."""
        for index, old in enumerate(self.calls):
            if old.id == part.id:
                self.calls[index] = part
        await self._writer.put(part, self._seq_of(part))

    # -- pieces ------------------------------------------------------------------------------------------

    def _seq_of(self, part: ToolPart) -> int:
        for known, seq, _ in self._slots.values():
            if known.id == part.id:
                return seq
        return len(self._slots)

    async def _text(self, text: str) -> None:
        if not isinstance(self._open, TextPart):
            await self._begin(TextPart(**self._writer.identity(), text="", time=Span(start=self._clock())))
        await self._append(text)

    async def _reasoning(self, event: ReasoningDelta) -> None:
        if not isinstance(self._open, ReasoningPart) or self._block != event.block:
            span = Span(start=self._clock())
            await self._begin(ReasoningPart(**self._writer.identity(), text="", time=span))
            self._block = event.block
        if event.text:
            await self._append(event.text)
        if (event.signature is not None or event.redacted is not None) and self._open is not None:
            seal: dict[str, JSON] = {}
            if event.signature is not None:
                seal["signature"] = event.signature
            if event.redacted is not None:
                seal["redacted"] = event.redacted
            self._open = msgspec.structs.replace(self._open, metadata={"qiming": seal})

    async def _begin(self, part: TextPart | ReasoningPart) -> None:
        await self._writer.ensure()
        await self._close_open()
        self._open = part
        self._open_seq = self._writer.next_seq()
        self._last_write = self._clock()
        await self._writer.put(part, self._open_seq)
        self._writer.started(part)

    async def _append(self, text: str) -> None:
        part = self._open
        if part is None:
            return
        self._open = msgspec.structs.replace(part, text=part.text + text)
        self._bus.publish(PartDelta(session=part.session_id, step=self._step, part_id=part.id, text=text))
        if self._clock() - self._last_write >= WRITE_EVERY_MS:
            self._last_write = self._clock()
            await self._writer.put(self._open, self._open_seq)

    async def _close_open(self) -> None:
        part = self._open
        if part is None:
            return
        self._open = None
        self._block = None
        if part.time is not None:
            part = msgspec.structs.replace(part, time=msgspec.structs.replace(part.time, end=self._clock()))
        await self._writer.put(part, self._open_seq)
        self._writer.finished(part)

    async def _call_start(self, slot: int, call_id: str, name: str) -> None:
        await self._writer.ensure()
        await self._close_open()
        part = ToolPart(**self._writer.identity(), call_id=call_id, tool=name, state=Pending())
        seq = self._writer.next_seq()
        self._slots[slot] = (part, seq, "")
        self.calls.append(part)
        await self._writer.put(part, seq)
        self._writer.started(part)

    async def _call_end(self, event: ToolCallEnd) -> None:
        if event.slot not in self._slots:
            await self._call_start(event.slot, event.call_id, event.name)
        part, seq, _ = self._slots[event.slot]
        raw = event.arguments
        try:
            arguments: JSON = msgspec.json.decode(raw) if raw.strip() else {}
        except msgspec.DecodeError:
            arguments = None
        state = Pending(input=arguments, raw=raw) if isinstance(arguments, dict) else Pending(raw=raw)
        part = msgspec.structs.replace(part, tool=event.name, state=state)
        self._slots[event.slot] = (part, seq, raw)
        await self.update_call(part)

    def _unfinished(self) -> list[ToolPart]:
        return [call for call in self.calls if isinstance(call.state, (Pending, Running))]

    async def _interrupt(self, call: ToolPart) -> None:
        start = call.state.time.start if isinstance(call.state, Running) else self._clock()
        metadata = dict(call.state.metadata or {}) if isinstance(call.state, Running) else {}
        state = Failed(
            input=call.state.input,
            error="Tool execution aborted",
            metadata={**metadata, "interrupted": True},
            time=Span(start=start, end=self._clock()),
        )
        part = msgspec.structs.replace(call, state=state)
        await self.update_call(part)
        self._writer.finished(part)
