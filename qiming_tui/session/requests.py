"""One request to a model, of whatever kind: its ledger row, its retries with countdown, its end."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Protocol

import msgspec

from qiming_tui.context.assemble import assemble, manifest, view_hash
from qiming_tui.model.changes import PutRequest
from qiming_tui.model.codec import canonical
from qiming_tui.model.events import RetryScheduled
from qiming_tui.model.ledger import CacheAccount, Outcome, RequestRow, Times
from qiming_tui.model.stream import (
    Failure,
    Fault,
    FaultKind,
    Finish,
    Request,
    RequestKind,
    StreamEvent,
    UsageReport,
    WireReport,
)
from qiming_tui.model.usage import Usage, cost
from qiming_tui.model.window import ContextView, Settings
from qiming_tui.provider.retry import delay_ms, may_retry
from qiming_tui.session.bus import Bus
from qiming_tui.session.journal import Journal
from qiming_tui.session.reply import Reply
from qiming_tui.session.services import ModelProfile, Services

CLAMP_MARGIN: Final = 256
"""Tokens left free when the provider says that the asked output is too large (cases C-011)."""


class Sink(Protocol):
    """Takes the events of an answer."""

    async def feed(self, event: StreamEvent) -> None:
        """One event."""

    async def reset(self, fault: Fault) -> None:
        """What came so far is void; the request will be repeated."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to send: a view, why, to whom, and which message the answer becomes."""

    kind: RequestKind
    view: ContextView
    profile: ModelProfile
    settings: Settings
    message_id: Callable[[], str | None]
    calibration: float = 1.0
    changed: str | None = None
    """Key of the first item that differs from the request before."""
    repeat: bool = True
    """Whether a failure that may pass is tried again; a title is not worth it."""


class Requests:
    """Sends orders, keeps the ledger."""

    def __init__(self, services: Services, journal: Journal, bus: Bus) -> None:
        self._services = services
        self._journal = journal
        self._bus = bus
        self._known: set[str] = set()

    async def send(self, order: Order, sink: Sink) -> Reply:
        """Send, repeat what may be repeated, and return how it ended. A cancel ends the row as `aborted`."""
        retries = 0
        clamped = False
        while True:
            reply = await self._once(order, sink)
            fault = reply.fault
            if fault is None:
                return reply
            if fault.kind is FaultKind.OUTPUT_TOO_LARGE and not clamped:
                clamped = True
                order = msgspec.structs.replace(order, view=_clamp(order.view, fault))
                await sink.reset(fault)
                continue
            retries += 1
            if not order.repeat or not may_retry(fault, attempt=retries):
                return reply
            await sink.reset(fault)
            await self._wait(fault, retries, reply.row.step)

    async def _wait(self, fault: Fault, attempt: int, step: int) -> None:
        delay = delay_ms(fault, attempt=attempt, random=self._services.random)
        self._bus.publish(
            RetryScheduled(
                session=self._journal.live.session.id,
                step=step or None,
                attempt=attempt,
                fault=fault,
                delay_ms=delay,
                at=self._services.clock() + delay,
            )
        )
        await self._services.sleep(delay / 1000)

    async def _once(self, order: Order, sink: Sink) -> Reply:
        await self._journal.checkpoint()
        row = self._open(order)
        await self._journal.commit(PutRequest(row, self._new_blobs(order.view)))
        request = Request(
            id=row.id,
            kind=order.kind,
            model=order.profile.info.ref,
            body=assemble(order.view.params, order.view.items),
            endpoint=order.profile.endpoint,
            session_id=row.session_id,
        )
        follow = _Follow(row, order, self._services.clock)
        try:
            async with aclosing(order.profile.gateway.stream(request)) as stream:
                async for event in stream:
                    follow.note(event)
                    await sink.feed(event)
                    await self._journal.checkpoint()
        except BaseException as error:
            stopped = isinstance(error, asyncio.CancelledError)
            outcome = Outcome.ABORTED if stopped else Outcome.ERROR
            await self._journal.commit(PutRequest(follow.ended(outcome)))
            raise
        row = follow.ended(None)
        await self._journal.commit(PutRequest(row))
        return Reply(row=row, finish=follow.finish, usage=follow.usage, fault=follow.fault)

    def _new_blobs(self, view: ContextView) -> tuple[tuple[str, bytes], ...]:
        fresh = {item.blob: item.value for item in view.items if item.blob not in self._known}
        self._known.update(fresh)
        return tuple((name, canonical(value)) for name, value in fresh.items())

    def _open(self, order: Order) -> RequestRow:
        live = self._journal.live
        step, seq = live.next_request(order.kind)
        view = order.view
        now = self._services.clock()
        return RequestRow(
            id=self._services.ids.new("req"),
            session_id=live.session.id,
            message_id=order.message_id(),
            step=step,
            seq=seq,
            kind=order.kind,
            model=str(order.profile.info.ref),
            limits=order.profile.info.limits,
            preset=order.settings.preset.value,
            policy=order.settings.policy,
            reserved=view.verdict.reserved,
            tokenizer=order.profile.encoding,
            calibration=order.calibration,
            manifest=manifest(view.items),
            params=view.params,
            view_hash=view.hash,
            prefix_hash=view.prefix_hash,
            verdict=view.verdict,
            cache=CacheAccount(first_changed=order.changed),
            times=Times(queued=now, sent=now),
        )


class _Follow:
    """Keeps what the events say about the request itself."""

    def __init__(self, row: RequestRow, order: Order, clock: Callable[[], int]) -> None:
        self._row = row
        self._order = order
        self._clock = clock
        self._first: int | None = None
        self.usage: Usage | None = None
        self.wire: WireReport | None = None
        self.finish: str | None = None
        self.fault: Fault | None = None

    def note(self, event: StreamEvent) -> None:
        match event:
            case UsageReport(usage):
                self.usage = None if usage.empty else usage
            case WireReport():
                self.wire = event
            case Finish(reason):
                self.finish = reason
            case Failure(fault):
                self.fault = fault
            case _:
                if self._first is None:
                    self._first = self._clock()

    def ended(self, outcome: Outcome | None) -> RequestRow:
        usage = self.usage
        price = self._order.profile.info.price
        odd: tuple[str, ...] = ()
        if usage is not None and usage.broken:
            odd = (f"the provider's total {usage.total:,} is not the sum of its parts {usage.parts_sum:,}",)
        times = msgspec.structs.replace(self._row.times, first_token=self._first, end=self._clock())
        cache = self._row.cache
        if usage is not None:
            cache = msgspec.structs.replace(cache, read=usage.cache_read, write=usage.cache_write)
        return msgspec.structs.replace(
            self._row,
            outcome=outcome or self._outcome(),
            usage=usage,
            cost=cost(usage, price) if usage is not None and price is not None else None,
            wire_hash=self.wire.sha256 if self.wire else None,
            wire_bytes=self.wire.bytes if self.wire else None,
            library=self.wire.library if self.wire else None,
            fault=self.fault.message if self.fault else None,
            cache=cache,
            times=times,
            odd=odd,
        )

    def _outcome(self) -> Outcome:
        if self.fault is None:
            return Outcome.OK if self.finish is not None else Outcome.ERROR
        refused = (FaultKind.OVERFLOW, FaultKind.OUTPUT_TOO_LARGE)
        return Outcome.REFUSED if self.fault.kind in refused else Outcome.ERROR


def _clamp(view: ContextView, fault: Fault) -> ContextView:
    asked = view.params.max_tokens or 0
    if fault.limit is not None and fault.tokens is not None and fault.limit > fault.tokens:
        room = fault.limit - fault.tokens - CLAMP_MARGIN
    else:
        room = asked // 2
    params = msgspec.structs.replace(view.params, max_tokens=max(1, min(asked, room) if asked else room))
    plain = msgspec.structs.replace(params, breakpoints=())
    return msgspec.structs.replace(
        view,
        params=params,
        hash=view_hash(assemble(params, view.items)),
        prefix_hash=view_hash(assemble(plain, view.items)),
    )
