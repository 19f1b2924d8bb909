"""Why a step went as it did: a row of the ledger in words and whole numbers, also where nothing happened.

Everything is read from the row, nothing is computed anew: what stands here is what decided then.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from qiming_tui.context.figures import money, plural
from qiming_tui.model.ledger import Outcome, RequestRow
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Keep, PrunePlan, Verdict


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A question about a step, its answer, and the numbers that gave it."""

    question: str
    """One word: compact, prune, send, cache."""
    answer: bool | None
    """None: it was not asked."""
    words: str


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The trace of one step."""

    step: int
    head: str
    """What kind of request it was, of which model, and how it ended."""
    before: Verdict
    """The verdict that decided whether it was sent as it was."""
    after: Verdict | None
    """The first verdict after its answer; it decided what came next. None: there was no answer."""
    answers: tuple[Answer, ...]
    usage: str
    """What the provider reported, in whole numbers; empty: nothing."""
    reported: int | None
    """Tokens of request and answer as the provider counted them; None: it did not."""
    prune: PrunePlan | None
    odd: tuple[str, ...]
    """What did not add up, as sentences."""


def why(row: RequestRow, plan: PrunePlan | None = None) -> Why:
    """The trace of a stored request. `plan`: what a prune does after its answer by the settings of today, for
    a row that holds none."""
    now = row.prune is None and plan is not None
    plan = row.prune or plan
    return Why(
        step=row.step,
        head=f"step {row.step}: {_KIND[row.kind]} request to {row.model}, {_ended(row)}",
        before=row.verdict,
        after=row.after,
        answers=(_sent(row), _compacts(row), _prunes(plan, now=now), _cached(row)),
        usage=_usage(row.usage, row.cost) if row.usage is not None else "",
        reported=row.usage.total or row.usage.parts_sum if row.usage and not row.usage.empty else None,
        prune=plan,
        odd=row.odd,
    )


_KIND = {RequestKind.TURN: "a turn's", RequestKind.SUMMARY: "a summary", RequestKind.TITLE: "a title"}


def _ended(row: RequestRow) -> str:
    words = {Outcome.OK: "answered", Outcome.OPEN: "not ended"}.get(row.outcome, row.outcome.value)
    return f"{words}: {row.fault}" if row.fault else words


def marked(verdict: Verdict) -> str:
    """The count with `~`, unless the provider measured it."""
    return f"{verdict.count:,}" if verdict.basis is Basis.MEASURED else f"~{verdict.count:,}"


def _sent(row: RequestRow) -> Answer:
    words = f"{marked(row.verdict)} {row.verdict.basis.value} before it was sent: {_loud(row.verdict)}"
    if row.outcome is Outcome.REFUSED:
        words = f"and the provider refused it; {words}"
    return Answer(question="send", answer=True, words=words)


def _loud(verdict: Verdict) -> str:
    """The sum, with the outcome of its comparison in capitals."""
    return verdict.arithmetic.replace(" false, ", " FALSE, ").replace(" true, ", " TRUE, ")


def _compacts(row: RequestRow) -> Answer:
    """Whether the window overflows after this step, by the numbers that decide."""
    verdict = row.after or row.verdict
    refused = row.outcome is Outcome.REFUSED
    if refused:
        words = f"the provider refused the request as too large; {_loud(verdict)}"
    elif verdict.usable is None:
        words = f"the window of {row.model} is not known, so nothing is compared"
    elif not verdict.auto:
        words = f"automatic compaction is off; {_loud(verdict)}"
    else:
        words = _loud(verdict)
    due = verdict.overflow or ((verdict.refused or refused) and verdict.auto)
    return Answer(question="compact", answer=due, words=words)


def _prunes(plan: PrunePlan | None, *, now: bool) -> Answer:
    """Whether old results are to be cleared, and by which rule not."""
    if plan is None:
        return Answer(question="prune", answer=None, words="not asked at this step")
    kept = Counter(fate.reason for fate in plan.fates if fate.reason is not None)
    reasons = "; ".join(f"{plural(many, 'result')} kept: {reason.sentence}" for reason, many in kept.items())
    if plan.cleared:
        words = f"{plural(len(plan.cleared), 'result')}, ~{plan.tokens:,} tokens"
    elif kept[Keep.BELOW_MINIMUM]:
        words = f"the candidates hold ~{plan.candidates_tokens:,} tokens, not more than the minimum"
    else:
        words = "no candidate" if plan.fates else "there is no result yet"
    words += f" ({reasons})" if reasons else ""
    words += "; by the settings of today" if now else ""
    return Answer(question="prune", answer=bool(plan.cleared), words=words)


def _cached(row: RequestRow) -> Answer:
    read = row.usage.cache_read if row.usage is not None else None
    if row.cache.first_changed is None:
        words = "the request only grew"
    else:
        words = f"the first change is at {row.cache.first_changed}"
        words += f" ({row.cache.cause})" if row.cache.cause else ""
    if read is not None:
        words += f"; {read:,} tokens were read from the cache"
    return Answer(question="cache", answer=row.cache.first_changed is None, words=words)


def _usage(usage: Usage, cost: float | None) -> str:
    parts = [
        f"{usage.input:,} input",
        f"{usage.cache_read:,} cache read",
        f"{usage.cache_write:,} cache write",
        f"{usage.output:,} output",
        f"{usage.reasoning:,} reasoning",
    ]
    total = f" = {usage.total:,} total" if usage.total is not None else ""
    paid = "price unknown" if cost is None else money(cost)
    return f"{' + '.join(parts)}{total}; {paid}"


_YES = {True: "YES", False: "NO", None: "-"}


def why_lines(trace: Why) -> Iterable[str]:
    """The trace for people, a fact a line; the fate of every tool result at its end."""
    yield trace.head
    for answer in trace.answers:
        yield f"{answer.question:<8} {_YES[answer.answer]:<4} {answer.words}"
    if trace.usage:
        yield f"usage         {trace.usage}"
    if trace.reported is not None:
        gap = trace.reported - trace.before.count
        yield f"drift         {marked(trace.before)} was expected, {trace.reported:,} came: {gap:+,}"
    for sentence in (*trace.odd, *trace.before.flags):
        yield f"odd           {sentence}"
    if trace.prune is not None:
        for fate in reversed(trace.prune.fates):
            what = f"keep: {fate.reason.sentence}" if fate.reason else "clear"
            yield f"  {fate.part_id}  {fate.tool}  ~{fate.tokens:,}  {what}"
