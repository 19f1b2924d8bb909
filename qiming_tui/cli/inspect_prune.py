"""`qiming inspect prune`: what a prune would clear and why the rest stays; a plan, nothing is written."""

import click

from qiming_tui.cli.output import print_json, print_lines, table
from qiming_tui.cli.subject import Asked, Subject, asks, settled, window_of_subject
from qiming_tui.context.prune import plan as plan_prune
from qiming_tui.context.tokens import Tally
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import NotFound
from qiming_tui.model.window import PrunePlan


@click.command()
@asks
async def prune(asked: Asked, subject: Subject) -> None:
    """Which tool results a prune would clear now; with --step, what was cleared after a stored request."""
    if asked.step:
        stored = subject.stored.prune if subject.stored else None
        if stored is None:
            raise NotFound(f"nothing was cleared after step {asked.step}", "qiming inspect why says why")
        plan = stored
    else:
        plan = await settled(subject, lambda tally: planned(subject, tally))
    if asked.as_json:
        print_json(answer(plan))
    else:
        print_lines(words(plan))


def planned(subject: Subject, tally: Tally) -> PrunePlan:
    """The plan over the whole history."""
    return plan_prune(window_of_subject(subject), subject.settings, tally, entries=subject.record.entries)


def answer(plan: PrunePlan) -> dict[str, JSON]:
    """The fields of the contract; `kept` is oldest first, like `cleared`."""
    kept = [{"id": fate.part_id, "reason": fate.reason} for fate in reversed(plan.fates) if fate.reason]
    return {"cleared": list(plan.cleared), "kept": kept, "tokens": plan.tokens}


def words(plan: PrunePlan) -> list[str]:
    """The plan for people: one part a line, oldest first."""
    head = f"{len(plan.cleared)} of {len(plan.fates)} results would be cleared, {plan.tokens:,} tokens"
    if plan.candidates_tokens and not plan.tokens:
        head += f" (candidates: {plan.candidates_tokens:,})"
    rows = []
    for fate in reversed(plan.fates):
        what = f"keep: {fate.reason.sentence}" if fate.reason else "clear"
        rows.append((fate.part_id, fate.tool, f"{fate.tokens:,}", what))
    return [head, *table(rows, right=frozenset({2}))]
