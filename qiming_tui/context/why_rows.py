"""The Why tab: a step of the ledger as rows of label, whole number and words, and every result's fate."""

from collections.abc import Sequence

import msgspec

from qiming_tui.context.figures import change, plural
from qiming_tui.context.past_request import Step
from qiming_tui.context.request_diff import RequestDiff
from qiming_tui.context.why import why
from qiming_tui.model.edits import Edit, EditKind, EditRecord
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import PartFate, Preset, PrunePlan, Verdict


class WhyRow(msgspec.Struct, frozen=True):
    """One fact; `number` is empty where there is none."""

    label: str
    number: str
    words: str
    style: str = "text"


def question(step: Step, following: Step | None) -> str:
    """The question that the page answers."""
    if step.row.kind is RequestKind.SUMMARY:
        return f"What did the summary request of step {step.row.step:,} do?"
    done = following is not None and following.row.kind is RequestKind.SUMMARY
    return f"Why did step {step.row.step:,} {'compact' if done else 'not compact'}?"


def why_rows(
    step: Step,
    following: Step | None,
    diff: RequestDiff | None,
    edits: Sequence[EditRecord],
    plan: PrunePlan | None,
) -> tuple[WhyRow, ...]:
    """The decision about a step in words and integers. `following`: the step after it; `diff`: from the step
    before; `plan`: what a prune would have done after its answer."""
    verdict = step.row.after or step.row.verdict
    rows = [*_count(step, verdict), *_limit(verdict), _test(verdict)]
    rows.append(_guards(step, verdict))
    rows += _pruned(step, following, edits, plan)
    if diff is not None:
        rows += _grown(diff)
    rows += _result(following)
    rows += [WhyRow("odd", "", words, "warn") for words in (*step.row.odd, *verdict.flags)]
    trace = why(step.row)
    rows += [
        WhyRow(a.question, "", a.words, "muted") for a in trace.answers if a.question in ("send", "cache")
    ]
    return tuple(rows)


def _count(step: Step, verdict: Verdict) -> list[WhyRow]:
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    usage = step.row.usage
    rows = [WhyRow("count", f"{mark}{verdict.count:,}", f"{verdict.basis.value}", "strong")]
    if usage is not None:
        parts = (
            (usage.input, "input"),
            (usage.cache_read, "cache read"),
            (usage.cache_write, "cache write"),
            (usage.output, "output"),
            (usage.reasoning, "reasoning"),
        )
        rows += [WhyRow("", f"{number:,}", words, "muted") for number, words in parts if number]
    return rows


def _limit(verdict: Verdict) -> list[WhyRow]:
    if verdict.usable is None:
        return [WhyRow("usable", "?", "the window of this model is not known")]
    sums = [words for words in verdict.arithmetic.split("; ") if words.endswith("usable")]
    return [WhyRow("usable", f"{verdict.usable:,}", sums[0] if sums else f"preset {verdict.preset.value}")]


def _test(verdict: Verdict) -> WhyRow:
    """The comparison that decides, with its result and the distance."""
    if verdict.usable is None:
        return WhyRow("test", "", "nothing to compare with")
    sign = ">" if verdict.preset is Preset.QIMING else ">="
    gap = verdict.count - verdict.usable
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    over = gap > 0 or (gap == 0 and sign == ">=")
    told = f"{mark}{gap:,} over" if gap > 0 else f"{mark}{-gap:,} short" if gap else "equal"
    words = f"{mark}{verdict.count:,} {sign} {verdict.usable:,} {'TRUE' if over else 'FALSE'}, {told}"
    return WhyRow("test", change(gap, mark), words, "limit" if over else "good")


def _guards(step: Step, verdict: Verdict) -> WhyRow:
    words = [
        f"auto {'on' if verdict.auto else 'off'}",
        step.row.outcome.value,
        f"preset {verdict.preset.value}",
    ]
    if verdict.refused:
        words.append("refused by the provider")
    if step.row.fault:
        words.append(step.row.fault)
    return WhyRow("guards", "", ", ".join(words))


def _pruned(
    step: Step, following: Step | None, edits: Sequence[EditRecord], plan: PrunePlan | None
) -> list[WhyRow]:
    """What was cleared between this step and the next, and what the rule says."""
    start = step.row.times.queued
    end = following.row.times.queued if following is not None else None
    made = [
        edit
        for edit in edits
        if isinstance(edit, Edit)
        and edit.kind is EditKind.CLEAR
        and start < edit.at
        and (end is None or edit.at <= end)
    ]
    rows = []
    for edit in made:
        freed = (edit.tokens_before or 0) - (edit.tokens_after or 0)
        words = f"{plural(len(edit.targets), 'result')} cleared by {edit.by}"
        rows.append(WhyRow("prune", f"{-freed:,}" if freed else "", words, "limit"))
    if not rows:
        rows.append(WhyRow("prune", "0", _no_prune(plan)))
    return rows


def _no_prune(plan: PrunePlan | None) -> str:
    if plan is None:
        return "not run"
    if not plan.fates:
        return "not run: prune is off" if not plan.candidates_tokens else "no results"
    if plan.cleared:
        return f"not run, the turn went on; the rule would clear {len(plan.cleared):,}, ~{plan.tokens:,}"
    if plan.candidates_tokens:
        return f"nothing: candidates hold ~{plan.candidates_tokens:,}, not more than the minimum"
    return f"nothing: no candidate among {plural(len(plan.fates), 'result')}"


def _grown(diff: RequestDiff) -> list[WhyRow]:
    rows = [
        WhyRow(
            "grew by", change(diff.grew, "~"), f"{plural(len(diff.rows), 'item')} added, removed or changed"
        )
    ]
    rows += [WhyRow("", change(tokens, "~"), words, "muted") for words, tokens in diff.drivers[:3]]
    return rows


def _result(following: Step | None) -> list[WhyRow]:
    if following is None:
        return [WhyRow("result", "", "the next request is not made yet")]
    verdict = following.row.after or following.row.verdict
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    told = "summary request" if following.row.kind is RequestKind.SUMMARY else "next request"
    words = f"{told}, step {following.row.step:,}, {verdict.basis.value} (~{following.row.verdict.count:,})"
    return [WhyRow("result", f"{mark}{verdict.count:,}", words)]


def fate_words(fate: PartFate) -> str:
    """Why a prune keeps a result, or that it clears it."""
    return "clear" if fate.reason is None else f"keep: {fate.reason.sentence}"
