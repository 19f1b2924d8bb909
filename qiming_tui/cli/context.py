"""`qiming context`: what the budget bar shows of a session, as text or JSON; nothing is written."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import click

from qiming_tui.cli.inspect_request import item_fields
from qiming_tui.cli.looking import looking
from qiming_tui.cli.ndjson import verdict_fields
from qiming_tui.cli.options import json_option, settings_from, store_option
from qiming_tui.cli.output import print_json, print_lines
from qiming_tui.cli.stores import opened_store
from qiming_tui.context.bar import Live, bar_data
from qiming_tui.context.past_request import verified
from qiming_tui.context.report import NAMES, report
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.errors import InputError
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.window import ContextView, Item, Klass
from qiming_tui.store.store import Store


@click.command()
@click.argument("id", required=False)
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="The window of one of its requests.")
@store_option
@json_option
def context(id: str | None, step: int | None, store: str | None, as_json: bool) -> None:
    """How full the window of session ID is, by what, and what is left: the text of /context.

    Without ID: the newest session of this folder. With --step: as it was when that request was answered.
    """
    asyncio.run(_show(id, step, store, as_json=as_json))


async def _show(id: str | None, step: int | None, place: str | None, *, as_json: bool) -> None:
    config = settings_from({})
    with opened_store(place, config, read_only=True) as store:
        session_id = await _session(store, id)
        record = await store.load(session_id)
        row = await store.request(session_id, step) if step is not None else _newest(record)
        if row is None:
            view = await _next(store, session_id)
        else:
            blobs = await store.blobs(line.blob for line in row.manifest)
            view, step = past_view(row, verified(row, blobs)[0]), row.step
        live = Live(step=step)
        title = record.session.title or "new session"
    if as_json:
        print_json(fields(view, session_id, step))
    else:
        heading = f"{title}  {view.params.model}  {session_id}" + (f"  step {step}" if step else "")
        print_lines(report(bar_data(view, live), view, heading=heading))


async def _session(store: Store, id: str | None) -> str:
    if id is not None:
        return await store.find(id)
    newest = await store.latest(str(Path.cwd()))
    if newest is None:
        raise InputError("there is no session in this folder yet", "name one; qiming sessions lists them")
    return newest


def _newest(record: SessionRecord) -> RequestRow | None:
    """The newest request, if the window is still what it left: answered, and no edit since."""
    row = record.last_request
    if row is None or row.after is None or row.times.end is None:
        return None
    return None if any(edit.at > row.times.end for edit in record.edits) else row


async def _next(store: Store, session_id: str) -> ContextView:
    """The next request of a session, as a screen that only looks at it has it."""
    async with looking(store, session_id) as ctx:
        return await ctx.engine.view(ctx.profile)


def past_view(row: RequestRow, items: tuple[Item, ...]) -> ContextView:
    """A stored request as the view that it was; the verdict is the one after its answer, if there was one."""
    by_class: dict[Klass, int] = {}
    for item in items:
        by_class[item.klass] = by_class.get(item.klass, 0) + item.tokens
    verdict = row.after or row.verdict
    return ContextView(
        items=items,
        params=row.params,
        by_class=by_class,
        total=sum(item.tokens for item in items),
        count=verdict.count,
        usable=verdict.usable,
        verdict=verdict,
        hash=row.view_hash,
        prefix_hash=row.prefix_hash,
        live=tuple(dict.fromkeys(item.message_id for item in items if item.message_id)),
    )


def fields(view: ContextView, session_id: str, step: int | None) -> dict[str, Any]:
    """The keys of the `context` event, the segments of the bar and the items of the request."""
    counts = Counter(item.klass for item in view.items)
    segments = [
        {"class": klass.value, "name": NAMES[klass], "tokens": tokens, "items": counts[klass]}
        for klass, tokens in view.by_class.items()
        if counts[klass]
    ]
    return {
        "type": "context",
        "session": session_id,
        "step": step,
        **verdict_fields(view.verdict),
        "total": view.total,
        "hash": view.hash,
        "segments": segments,
        "items": [item_fields(item) for item in view.items],
    }
