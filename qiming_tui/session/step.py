"""One step: a request, its streamed answer, the results of the tools it called."""

from enum import Enum

from qiming_tui.model.events import Failed, StepFinished, StepStarted
from qiming_tui.model.messages import OVERFLOW, MessageError
from qiming_tui.model.stream import Fault, FaultKind, RequestKind
from qiming_tui.model.window import ContextView
from qiming_tui.session.context import Context
from qiming_tui.session.permission import Gate
from qiming_tui.session.processor import Processor
from qiming_tui.session.reply import Reply
from qiming_tui.session.requests import Order
from qiming_tui.session.toolrun import ToolRunner


class StepEnd(Enum):
    """How a step ended."""

    GO_ON = "go on"
    """The answer is complete and the results are in."""
    REFUSED = "refused"
    """The provider says that the request does not fit."""
    BLOCKED = "blocked"
    """The user said no."""
    ERROR = "error"


class StepRunner:
    """Runs steps of one session."""

    def __init__(self, ctx: Context, gate: Gate) -> None:
        self._ctx = ctx
        self._tools = ToolRunner(ctx, gate)

    async def run(self, view: ContextView, parent_id: str, changed: str | None) -> StepEnd:
        """Make one request and run its tools. Cancelling ends everything open and re-raises."""
        ctx = self._ctx
        number = ctx.live.step + 1
        processor = Processor(
            journal=ctx.journal,
            bus=ctx.bus,
            ids=ctx.services.ids,
            clock=ctx.services.clock,
            draft=lambda: ctx.draft(parent_id),
            step=number,
        )
        await ctx.at_work(turn=ctx.live.session.turn, step=number)
        ctx.publish(
            StepStarted(
                session=ctx.session_id,
                step=number,
                message_id=processor.message.id,
                model=str(ctx.profile.info.ref),
            )
        )
        try:
            return await self._run(view, processor, number, changed)
        except BaseException:
            await processor.abort()
            await self._finished(processor, number, "aborted", None)
            raise

    async def _run(
        self, view: ContextView, processor: Processor, number: int, changed: str | None
    ) -> StepEnd:
        ctx = self._ctx
        reply = await ctx.requests.send(
            Order(
                kind=RequestKind.TURN,
                view=view,
                profile=ctx.profile,
                settings=ctx.engine.settings,
                message_id=lambda: processor.message.id,
                calibration=(await ctx.engine.calibration(ctx.profile)).factor,
                changed=changed,
            ),
            processor,
        )
        if reply.fault is not None:
            return await self._failed(reply.fault, reply, processor, number)
        ctx.engine.note_row(reply.row)
        await ctx.engine.learn(ctx.profile, view, reply.usage)
        await processor.finish(reply, reply.row.cost)
        blocked = await self._tools.run_all(processor, number)
        await processor.complete()
        await self._finished(processor, number, processor.message.finish or "unknown", reply)
        if processor.message.error is not None:
            self._tell(Fault(kind=FaultKind.CONTENT_FILTER, message=processor.message.error.text))
            return StepEnd.ERROR
        return StepEnd.BLOCKED if blocked else StepEnd.GO_ON

    async def _failed(self, fault: Fault, reply: Reply, processor: Processor, number: int) -> StepEnd:
        ctx = self._ctx
        if fault.kind is FaultKind.OVERFLOW:
            ctx.engine.note_refusal(fault, reply.row)
            if ctx.engine.settings.auto:
                if processor.written:
                    await processor.reset(fault)
                await self._finished(processor, number, "refused", None)
                return StepEnd.REFUSED
        name = OVERFLOW if fault.kind is FaultKind.OVERFLOW else "APIError"
        data = {"message": fault.message, "statusCode": fault.status, "isRetryable": fault.retryable}
        await processor.fail(MessageError(name=name, data=data), finish="error")
        await self._finished(processor, number, "error", None)
        self._tell(fault)
        return StepEnd.ERROR

    def _tell(self, fault: Fault) -> None:
        hint = HINTS.get(fault.kind, "Your message is kept; send it again to repeat the request.")
        self._ctx.publish(Failed(session=self._ctx.session_id, message=fault.message, hint=hint, fault=fault))

    async def _finished(self, processor: Processor, number: int, finish: str, reply: Reply | None) -> None:
        await self._ctx.at_work(turn=self._ctx.live.session.turn)
        self._ctx.publish(
            StepFinished(
                session=self._ctx.session_id,
                step=number,
                message_id=processor.message.id,
                finish=finish,
                usage=reply.usage if reply else None,
                cost=reply.row.cost if reply else None,
            )
        )


HINTS: dict[FaultKind, str] = {
    FaultKind.OVERFLOW: "Automatic compaction is off: compact, clear results, or take a larger model.",
    FaultKind.AUTH: "Set the provider's key in the environment and try again.",
    FaultKind.NETWORK: "Check the connection and send the message again; nothing was lost.",
    FaultKind.CONTENT_FILTER: "Say it in other words; what came before the stop is kept.",
    FaultKind.INVALID: "The request itself is refused; repeating it will not help.",
}
"""What to do next, by class of fault."""
