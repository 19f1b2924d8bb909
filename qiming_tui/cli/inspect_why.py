"""`qiming inspect why`: what decided at a step, and why nothing happened where nothing did."""

import asyncio

import click

from qiming_tui.cli.looking import looking
from qiming_tui.cli.ndjson import verdict_fields
from qiming_tui.cli.options import json_option, settings_from, store_option
from qiming_tui.cli.output import print_json, print_lines
from qiming_tui.cli.stores import opened_store
from qiming_tui.context.past_request import Step
from qiming_tui.context.why import Why, why, why_lines
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import NotFound
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.window import PrunePlan
from qiming_tui.session.inspection import Inspection


@click.command("why")
@click.argument("id")
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="One of its requests; else the newest.")
@store_option
@json_option
def why_(id: str, step: int | None, store: str | None, as_json: bool) -> None:
    """The ledger's row of one step of session ID, in words and whole numbers.

    Was it sent, did the window overflow, was anything cleared, did the cached prefix hold: each with the
    numbers that decided then, and the fate of every tool result.
    """
    row, plan = asyncio.run(_row(id, step, store))
    trace = why(row, plan)
    if as_json:
        print_json(fields(trace, row))
    else:
        print_lines(why_lines(trace))


async def _row(id: str, step: int | None, place: str | None) -> tuple[RequestRow, PrunePlan]:
    """The row, and what a prune does after its answer."""
    with opened_store(place, settings_from({}), read_only=True) as store:
        session_id = await store.find(id)
        newest = (await store.load(session_id)).last_request
        row = newest if step is None else await store.request(session_id, step)
        if row is None:
            raise NotFound(f"{session_id} has no request yet", "what was imported has no ledger")
        async with looking(store, session_id) as ctx:
            return row, await Inspection(ctx).plan(Step(row=row, manifest=row.manifest))


def fields(trace: Why, row: RequestRow) -> dict[str, JSON]:
    """The contract of `--json`."""
    fates = trace.prune.fates if trace.prune is not None else ()
    return {
        "session": row.session_id,
        "step": row.step,
        "kind": row.kind,
        "outcome": row.outcome,
        "fault": row.fault,
        "model": row.model,
        "before": verdict_fields(row.verdict),
        "after": None if row.after is None else verdict_fields(row.after),
        "answers": {one.question: {"answer": one.answer, "words": one.words} for one in trace.answers},
        "parts": [
            {"id": one.part_id, "tool": one.tool, "tokens": one.tokens, "reason": one.reason} for one in fates
        ],
        "odd": [*row.odd, *row.verdict.flags],
    }
