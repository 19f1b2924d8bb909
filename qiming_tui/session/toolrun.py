"""Runs the calls of a step, one after the other, and turns what happens into results for the model."""

import asyncio
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import QimingError
from qiming_tui.model.events import PartFinished, PartUpdated
from qiming_tui.model.parts import Completed, Failed, Pending, Running, Span, ToolPart, ToolState
from qiming_tui.model.sanitize import one_line
from qiming_tui.session.context import Context
from qiming_tui.session.permission import Gate
from qiming_tui.session.processor import Processor
from qiming_tui.session.regret import mark
from qiming_tui.tools.base import Ask, Refused, Tool, ToolContext, ToolError, ToolResult
from qiming_tui.tools.registry import check_arguments

NOT_RUN: Final = "Not run: the user refused an earlier call of this step."
STOPPED: Final = "User aborted the command"
"""Ends what a stopped call had printed (facts 77, 159)."""


class ToolRunner:
    """Executes tool calls with the session's permissions."""

    def __init__(self, ctx: Context, gate: Gate) -> None:
        self._ctx = ctx
        self._gate = gate
        self._shown = ""
        """What the running call printed last, as far as it was told."""

    async def run_all(self, processor: Processor, step: int) -> bool:
        """Run every call of the answer in order; whether the user said no without a reason."""
        blocked = False
        for call in tuple(processor.calls):
            if blocked:
                await self._end(processor, step, call, _failed(call, NOT_RUN, self._ctx.services.clock()))
            else:
                blocked = await self._run(processor, step, call)
        return blocked

    async def _run(self, processor: Processor, step: int, call: ToolPart) -> bool:
        await self._ctx.journal.checkpoint()
        clock = self._ctx.services.clock
        state = call.state
        started = clock()
        self._shown = ""
        running = Running(input=state.input, time=Span(start=started))
        call = msgspec.structs.replace(call, state=running)
        await processor.update_call(call)
        self._ctx.publish(PartUpdated(session=call.session_id, step=step, part=call))
        blocked = False
        try:
            tool = self._find(call.tool)
            if isinstance(state, Pending) and state.raw.strip() and not _is_object(state.raw):
                raise ToolError(f"the arguments are not a JSON object: {state.raw[:200]!r}")
            arguments = check_arguments(tool, running.input)
            result = await tool.run(arguments, self._context(call, step))
            end: ToolState = await self._completed(call, result, started)
            call, regret = mark(self._ctx.live, call)
            if regret:
                self._ctx.notice(regret)
        except Refused as no:
            blocked = not no.reason and self._ctx.services.interactive
            reason = f": {no.reason}" if no.reason else ""
            text = f"The user refused this call{reason}."
            end = _failed(call, text, clock(), started, {"refused": True})
        except QimingError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            end = _failed(call, f"{error}{hint}", clock(), started)
        except asyncio.CancelledError:
            if self._shown:
                kept = {"output": f"{self._shown}\n\n{STOPPED}"}
                state = msgspec.structs.replace(running, metadata=kept)
                await processor.update_call(msgspec.structs.replace(call, state=state))
            raise
        await self._end(processor, step, call, end)
        return blocked

    def _find(self, name: str) -> Tool:
        for tool in self._ctx.services.tools:
            if tool.name == name:
                return tool
        names = ", ".join(tool.name for tool in self._ctx.services.tools) or "none"
        raise ToolError(f"there is no tool named {one_line(name, limit=60)!r}; available: {names}")

    def _context(self, call: ToolPart, step: int) -> ToolContext:
        ctx = self._ctx

        async def ask(question: Ask) -> None:
            await self._gate.ask(question, step)

        def progress(text: str) -> None:
            self._shown = text
            ctx.publish(PartUpdated(session=call.session_id, step=step, part=call, progress=text))

        return ToolContext(
            directory=Path(ctx.live.session.directory),
            ask=ask,
            progress=progress,
            env=ctx.services.tool_env(),
            hidden=ctx.services.hidden_env,
            limits=ctx.services.tool_limits,
        )

    async def _completed(self, call: ToolPart, result: ToolResult, started: int) -> Completed:
        output = result.output
        metadata = dict(result.metadata)
        full = metadata.pop("full_output", None)
        if isinstance(full, str):
            path = await self._ctx.services.keep_output(call.id, full)
            metadata["outputPath"] = str(path)
            directory = Path(self._ctx.live.session.directory)
            shown = path.relative_to(directory) if path.is_relative_to(directory) else path
            where = f"{len(full):,} characters, is kept in {shown}"
            output += f"\n\n[The full text, {where}: grep it, or read parts of it.]"
        return Completed(
            input=call.state.input,
            output=output,
            title=result.title,
            metadata=metadata,
            time=Span(start=started, end=self._ctx.services.clock()),
            attachments=result.attachments,
        )

    async def _end(self, processor: Processor, step: int, call: ToolPart, state: ToolState) -> None:
        part = msgspec.structs.replace(call, state=state)
        await processor.update_call(part)
        self._ctx.publish(PartFinished(session=part.session_id, step=step, part=part))


def _failed(
    call: ToolPart, error: str, now: int, started: int | None = None, metadata: dict[str, JSON] | None = None
) -> Failed:
    return Failed(
        input=call.state.input,
        error=error,
        metadata=metadata,
        time=Span(start=now if started is None else started, end=now),
    )


def _is_object(raw: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(raw), dict)
    except msgspec.DecodeError:
        return False
