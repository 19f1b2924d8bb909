"""The gate: every tool call asks here; rules answer, or the person does (`design.md` 8)."""

import asyncio
from typing import Final

from qiming_tui.config import Action, Rule, RuleOrigin
from qiming_tui.model.changes import PutRule
from qiming_tui.model.errors import InputError
from qiming_tui.model.events import PermissionAnswered, PermissionAsked
from qiming_tui.session.context import Context
from qiming_tui.tools.base import Ask, Refused
from qiming_tui.tools.permissions import judge, parse_rule, refusal, why_asked

REPLIES: Final = ("once", "session", "always", "no")
"""What may be answered to a permission; "no" may come with a reason."""


class Gate:
    """Answers asks from the rules, or by an event that waits for `answer`."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._session: list[Rule] = []
        self._project: list[Rule] = []
        self._waiting: dict[str, asyncio.Future[tuple[str, str]]] = {}
        self._asked: dict[str, Ask] = {}

    async def load(self) -> None:
        """Read the rules that the user made for this project."""
        rows = await self._ctx.services.store.rules(self._ctx.live.session.directory)
        self._project = [
            Rule(tool, pattern, Action(action), RuleOrigin.ALWAYS) for tool, pattern, action in rows
        ]

    @property
    def open_requests(self) -> dict[str, Ask]:
        """Asks that wait for an answer, by request id."""
        return dict(self._asked)

    def why(self, request_id: str) -> str:
        """Why an open ask was not answered by the rules, in words; empty when it is not open."""
        ask = self._asked.get(request_id)
        if ask is None:
            return ""
        return why_asked(judge((*self._ctx.services.rules, *self._project, *self._session), ask.wanted))

    def answer(self, request_id: str, reply: str, reason: str = "") -> None:
        """Answer an open ask. Raises InputError for an unknown request or reply; the ask stays open."""
        if reply not in REPLIES:
            raise InputError(f"unknown answer {reply!r}", hint=f"Answer one of: {', '.join(REPLIES)}.")
        future = self._waiting.get(request_id)
        if future is None or future.done():
            raise InputError("that question is no longer open")
        future.set_result((reply, reason))

    async def ask(self, ask: Ask, step: int | None) -> None:
        """Return when the call may go on; raise Refused when it may not."""
        rules = (*self._ctx.services.rules, *self._project, *self._session)
        judgement = judge(rules, ask.wanted)
        if judgement.action is Action.ALLOW:
            return
        if judgement.action is Action.DENY or not self._ctx.services.interactive:
            raise Refused(refusal(judgement))
        await self._person(ask, step)

    async def _person(self, ask: Ask, step: int | None) -> None:
        ctx = self._ctx
        request_id = ctx.services.ids.new("per")
        future: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self._asked[request_id] = ask
        ctx.publish(
            PermissionAsked(
                session=ctx.session_id,
                step=step,
                request_id=request_id,
                tool=ask.tool,
                pattern=ask.pattern,
                title=ask.title,
                detail=ask.detail,
            )
        )
        reply, reason = "no", "stopped"
        try:
            reply, reason = await future
        finally:
            del self._waiting[request_id], self._asked[request_id]
            ctx.publish(
                PermissionAnswered(
                    session=ctx.session_id, step=step, request_id=request_id, reply=reply, reason=reason
                )
            )
        if reply == "no":
            raise Refused(reason)
        await self._remember(ask, reply)

    async def _remember(self, ask: Ask, reply: str) -> None:
        if reply == "once":
            return
        if reply == "session":
            self._session.extend(_rules(ask, RuleOrigin.SESSION))
            return
        rules = _rules(ask, RuleOrigin.ALWAYS)
        self._project.extend(rules)
        directory = self._ctx.live.session.directory
        await self._ctx.journal.commit(
            *(PutRule(directory, rule.permission, rule.pattern, rule.action.value) for rule in rules)
        )


def _rules(ask: Ask, origin: RuleOrigin) -> tuple[Rule, ...]:
    """The rules that an answer beyond "once" makes."""
    return tuple(parse_rule(text, origin=origin) for text in ask.always)
