"""One summary from a model: its passes, its text, and nothing else of it."""

from collections.abc import Callable

import msgspec

from qiming_tui.context.outcome import check
from qiming_tui.context.summary import SummaryRequest
from qiming_tui.model.events import PartDelta, PartFinished, PartStarted
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Span, TextPart
from qiming_tui.model.stream import Fault, RequestKind, StreamEvent, TextDelta, ToolCallStart
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import CompactionEnd, ContextView, Item, Klass
from qiming_tui.session.context import Context
from qiming_tui.session.requests import Order
from qiming_tui.session.services import ModelProfile


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for a summary; `end` and `words` once it was judged."""

    request: SummaryRequest
    message: AssistantMessage
    part: TextPart
    finish: str | None = None
    calls: int = 0
    tokens: int = 0
    """Size of the text."""
    usage: Usage | None = None
    cost: float | None = None
    fault: Fault | None = None
    end: CompactionEnd = CompactionEnd.FAILED
    words: str = ""

    @property
    def text(self) -> str:
        """The summary."""
        return self.part.text

    def ended(self, end: CompactionEnd, words: str) -> "Outcome":
        """The outcome with its judgement."""
        return msgspec.structs.replace(self, end=end, words=words)


def summary_part(message: AssistantMessage, now: int) -> TextPart:
    """The text of a summary that begins. Its id follows from the message's, which the ledger knows, so that
    its end can be told after a crash although a summary is stored only when it is whole."""
    return TextPart(
        id=summary_part_id(message.id),
        session_id=message.session_id,
        message_id=message.id,
        text="",
        time=Span(start=now),
    )


def summary_part_id(message_id: str) -> str:
    """The id of the text of the summary message `message_id`."""
    return f"prt_{message_id.removeprefix('msg_')}"


class _Collector:
    """Takes the answer's text, shows it as it comes, and counts calls (which are refused)."""

    def __init__(self, ctx: Context, draft: Callable[[], AssistantMessage]) -> None:
        self._ctx = ctx
        self._draft = draft
        self._begin()

    def _begin(self) -> None:
        self.calls = 0
        self.message = self._draft()
        self.part = summary_part(self.message, self._ctx.services.clock())
        self._shown = False

    async def feed(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(text):
                if not self._shown:
                    self._shown = True
                    self._ctx.publish(PartStarted(session=self.part.session_id, part=self.part))
                self.part = msgspec.structs.replace(self.part, text=self.part.text + text)
                delta = PartDelta(session=self.part.session_id, part_id=self.part.id, text=text)
                self._ctx.publish(delta)
            case ToolCallStart():
                self.calls += 1
            case _:
                pass

    async def reset(self, fault: Fault) -> None:
        self.end()
        self._begin()

    def end(self, at: int | None = None) -> None:
        """The text is complete, or void; `at` is the time of the answer's end, where it is known."""
        if self.part.time is not None:
            now = self._ctx.services.clock() if at is None else at
            span = msgspec.structs.replace(self.part.time, end=now)
            self.part = msgspec.structs.replace(self.part, time=span)
        if self._shown:
            self._shown = False
            self._ctx.publish(PartFinished(session=self.part.session_id, part=self.part))


class Summariser:
    """Sends summary requests to one model."""

    def __init__(self, ctx: Context, profile: ModelProfile, view: ContextView) -> None:
        self._ctx = ctx
        self._profile = profile
        self._view = view

    async def ask(self, request: SummaryRequest) -> Outcome:
        """Send all passes of a request; the last answer is the summary (cases C-040)."""
        ctx = self._ctx
        while True:
            outcome = await self._pass(request)
            if not request.rest or not self._goes_on(outcome):
                break
            request = await ctx.engine.advance(ctx.profile, request, outcome.text)
        tokens = await ctx.engine.count_text(ctx.profile, outcome.text)
        return msgspec.structs.replace(outcome, tokens=tokens)

    def _draft(self) -> AssistantMessage:
        ref = self._profile.info.ref
        message = self._ctx.draft("", mode="compaction", summary=True)
        return msgspec.structs.replace(message, model_id=ref.model, provider_id=ref.provider)

    def _goes_on(self, outcome: Outcome) -> bool:
        """Whether the next pass may build on this one's answer: a cut one would lose what it stands for."""
        if outcome.fault is not None:
            return False
        end = check(
            outcome.text,
            outcome.finish,
            preset=self._ctx.engine.settings.preset,
            tool_calls=outcome.calls,
            replaced_tokens=1,
            summary_tokens=0,
        )
        return end is CompactionEnd.FINISHED

    async def _pass(self, request: SummaryRequest) -> Outcome:
        ctx = self._ctx
        collector = _Collector(ctx, self._draft)
        calibration = await ctx.engine.calibration(self._profile)
        try:
            reply = await ctx.requests.send(
                Order(
                    kind=RequestKind.SUMMARY,
                    view=_view(request, self._view),
                    profile=self._profile,
                    settings=ctx.engine.settings,
                    message_id=lambda: collector.message.id,
                    calibration=calibration.factor,
                ),
                collector,
            )
        except BaseException:
            collector.end()
            raise
        collector.end(reply.row.times.end)
        return Outcome(
            request=request,
            message=collector.message,
            part=collector.part,
            finish=reply.finish,
            calls=collector.calls,
            usage=reply.usage,
            cost=reply.row.cost,
            fault=reply.fault,
        )


def _view(request: SummaryRequest, window: ContextView) -> ContextView:
    """The summary request as a view, under the verdict of the window that it is made from."""
    return msgspec.structs.replace(
        window,
        items=request.items,
        params=request.params,
        by_class=_by_class(request.items),
        total=request.tokens,
        hash=request.hash,
        prefix_hash=request.prefix_hash,
    )


def _by_class(items: tuple[Item, ...]) -> dict[Klass, int]:
    sums = dict.fromkeys(Klass, 0)
    for item in items:
        sums[item.klass] += item.tokens
    return sums
