"""How full the window is: what the provider measured, and what was added and taken out since.

The measured total is the last request and its answer. What came since is counted by us, so the sum carries
`~`; under `guarded` it decides, under the articles' presets it is display (`data.md` 3, end).
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from qiming_tui.context.budget import count_usage, count_words, input_side, oddity
from qiming_tui.context.edits import groups
from qiming_tui.context.state import Measured, SessionState, Window
from qiming_tui.model.edits import EditKind
from qiming_tui.model.ledger import CalibrationRow, ManifestRow
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.usage import Basis, Usage, usage_of
from qiming_tui.model.window import Item, Klass, Preset, Settings


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What fills the window now."""

    count: int
    """The number that decides, under the preset in force."""
    basis: Basis
    current: int
    """The best figure for the window as it is now; the same as `count` under `guarded`."""
    current_basis: Basis
    added: int = 0
    """Tokens, by our count, that came since the measured request and its answer."""
    removed: int = 0
    """Tokens, by our count, that were taken out since."""
    refused: bool = False
    """The provider refused the last request, and the next one would not be smaller (cases C-041)."""
    words: str = ""
    """How the count came about, with every number."""
    flags: tuple[str, ...] = ()


def last_measured(window: Window) -> Measured | None:
    """The newest answer whose usage counts: finished, no summary, and written after the newest boundary in
    stored order, so that a message of the verbatim tail never decides (cases C-061, fact 102)."""
    since = -1
    if window.boundary is not None:
        ids = (window.boundary.message_id, window.boundary.summary_id)
        since = max((entry.seq for entry in window.live if entry.id in ids), default=-1)
    newest: AssistantMessage | None = None
    for entry in window.live:
        info = entry.info
        if entry.seq <= since or not isinstance(info, AssistantMessage):
            continue
        if info.finish and not info.summary and not info.error:
            since, newest = entry.seq, info
    return None if newest is None else Measured(message_id=newest.id, usage=usage_of(newest.tokens))


def _difference(
    rows: Iterable[ManifestRow], items: Iterable[Item], answer: str | None
) -> tuple[int, int, bool]:
    """(added, removed, whether anything changed) between a request and the items of the next one. The
    answer's own items are in the measured output; its tool results are not."""
    old: dict[str, ManifestRow] = {row.key: row for row in rows}
    added = removed = 0
    changed = False
    for item in items:
        before = old.pop(item.key, None)
        if before is None:
            if item.message_id == answer and answer is not None and item.klass is Klass.ASSISTANT:
                continue
            added += item.tokens
            changed = True
        elif before.blob != item.blob:
            added += max(0, item.tokens - before.tokens)
            removed += max(0, before.tokens - item.tokens)
            changed = True
    removed += sum(row.tokens for row in old.values())
    return added, removed, changed or bool(old)


def _since_imported(state: SessionState, items: Sequence[Item], answer: str) -> tuple[int, int, bool]:
    """The same where no manifest exists: what stands after the answer was added, what our own edits freed
    was removed."""
    place = next((at for at, item in enumerate(items) if item.message_id == answer), len(items))
    later = [i for i in items[place:] if i.message_id != answer or i.klass is not Klass.ASSISTANT]
    added = sum(item.tokens for item in later)
    removed = 0
    for group in groups(state.edits):
        for edit in group.edits:
            if not group.active or edit.by == "import" or edit.kind is EditKind.COMPACT:
                continue
            if edit.tokens_before is not None and edit.tokens_after is not None:
                removed += edit.tokens_before - edit.tokens_after
    return added + max(0, -removed), max(0, removed), bool(later) or removed != 0


def _same_model(state: SessionState, answer: str) -> bool:
    for entry in reversed(state.entries):
        if entry.id == answer:
            return isinstance(entry.info, AssistantMessage) and entry.info.model == state.model
    return True


def _estimated(items: Sequence[Item], flags: tuple[str, ...] = ()) -> Account:
    total = sum(item.tokens for item in items)
    words = f"~{total:,} by our count of {len(items):,} items"
    basis = Basis.ESTIMATED
    return Account(count=total, basis=basis, current=total, current_basis=basis, words=words, flags=flags)


def _sum_words(base: str, added: int, removed: int, count: int) -> str:
    if not added and not removed:
        return base
    terms = (f" + ~{added:,} added" if added else "") + (f" - ~{removed:,} taken out" if removed else "")
    return f"{base}{terms} = ~{count:,}"


def _unmeasured(items: Sequence[Item], settings: Settings, flags: tuple[str, ...] = ()) -> Account:
    """Nothing that counts was reported: the estimate decides under `guarded`, 0 under the articles'."""
    guess = _estimated(items, flags)
    if settings.preset is Preset.GUARDED:
        return guess
    return Account(
        count=0,
        basis=Basis.MEASURED,
        current=guess.current,
        current_basis=guess.current_basis,
        words="no usage reported, counts as 0",
        flags=(*flags, f"{guess.words}; it does not decide here"),
    )


def _measured(state: SessionState, measured: Measured, items: Sequence[Item], settings: Settings) -> Account:
    usage, preset = measured.usage, settings.preset
    flags: tuple[str, ...] = ()
    if usage.broken:
        flags = (f"the reported total {usage.total:,} is not the sum of its parts {usage.parts_sum:,}",)
    rows = measured.manifest
    estimate = None if rows is None else sum(row.tokens for row in rows)
    limits = state.limits if _same_model(state, measured.message_id) else None
    odd = oddity(usage, limits=limits, estimate=estimate)
    if preset is Preset.GUARDED and odd is not None:
        return _unmeasured(items, settings, (*flags, odd))
    base = count_usage(preset, usage)
    if not base:
        return _unmeasured(items, settings, flags)
    if rows is None:
        added, removed, changed = _since_imported(state, items, measured.message_id)
    else:
        added, removed, changed = _difference(rows, items, measured.message_id)
    current = max(0, base + added - removed)
    words = count_words(preset, usage)
    basis = Basis.PREDICTED if changed else Basis.MEASURED
    guarded = preset is Preset.GUARDED
    if changed and not guarded:
        flags = (*flags, f"{_sum_words(f'{base:,}', added, removed, current)} now; it does not decide here")
    return Account(
        count=current if guarded else base,
        basis=basis if guarded else Basis.MEASURED,
        current=current,
        current_basis=basis,
        added=added,
        removed=removed,
        words=_sum_words(words, added, removed, current) if guarded else words,
        flags=flags,
    )


def _refused(state: SessionState, so_far: Account, items: Sequence[Item], settings: Settings) -> Account:
    """The refusal's numbers become the count under `guarded` (cases C-007, C-096)."""
    tokens, limit = state.refused or (None, None)
    rows = state.refused_manifest
    added, removed, changed = (0, 0, False) if rows is None else _difference(rows, items, None)
    stands = removed <= added
    said = f"{tokens:,} tokens" if tokens else "no number of tokens"
    said += f", a limit of {limit:,}" if limit else ""
    flags = (*so_far.flags, f"the provider refused the last request: it named {said}")
    if settings.preset is not Preset.GUARDED or not tokens:
        return msgspec.structs.replace(so_far, refused=stands, flags=flags)
    count = max(0, tokens + added - removed)
    basis = Basis.PREDICTED if changed else Basis.MEASURED
    words = _sum_words(f"{tokens:,} as the provider said when it refused", added, removed, count)
    return Account(
        count=count,
        basis=basis,
        current=count,
        current_basis=basis,
        added=added,
        removed=removed,
        refused=stands,
        words=words,
        flags=flags,
    )


def account(state: SessionState, items: Sequence[Item], settings: Settings) -> Account:
    """What fills the window now: `items` are those of the next request, `state.measured` the newest usage
    that counts (`last_measured`), with the manifest of its request where the ledger has one."""
    if state.measured is None:
        so_far = _unmeasured(items, settings)
    else:
        so_far = _measured(state, state.measured, items, settings)
    return so_far if state.refused is None else _refused(state, so_far, items, settings)


_SMALLEST_SAMPLE: Final = 500
_WEIGHT: Final = 0.2
_LEAST, _MOST = 0.5, 3.0


def calibrate(row: CalibrationRow, *, usage: Usage, predicted: int, factor: float) -> CalibrationRow:
    """The row after one more answer: a moving average of provider tokens / encoder tokens.

    `predicted`: our count of the request, in tokens, made with `factor`. Answers without a plausible input
    side and requests below 500 tokens, where the provider's own frame would dominate, teach nothing.
    """
    measured = input_side(usage)
    if measured < _SMALLEST_SAMPLE or predicted < _SMALLEST_SAMPLE or factor <= 0:
        return row
    if oddity(usage, limits=None, estimate=predicted) is not None:
        return row
    sample = min(_MOST, max(_LEAST, measured * factor / predicted))
    weight = max(_WEIGHT, 1 / (row.samples + 1))
    error = abs(measured - predicted) / measured
    return CalibrationRow(
        model=row.model,
        factor=round(row.factor + weight * (sample - row.factor), 4),
        samples=row.samples + 1,
        error=round(row.error + weight * (error - row.error), 4),
    )
