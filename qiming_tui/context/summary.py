"""Compaction: what to summarise, in which form, how large; and whether an answer may stand for a history.

Nothing here calls a model. `prepare` gives a request or the reason why there is none, `advance` the next pass
of a history that does not fit one request, `check` judges the answer (`design.md` 5.7, `data.md` 4).
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from qiming_tui.context.assemble import assemble, message_of, runs
from qiming_tui.context.boundary import Cut, select_tail
from qiming_tui.context.budget import bound, max_output
from qiming_tui.context.cache import Cache
from qiming_tui.context.forms import (
    MESSAGES,
    PREFIX,
    Compactor,
    Draft,
    Order,
    messages_form,
    prefix_form,
    transcript_form,
)
from qiming_tui.context.prune import plan
from qiming_tui.context.state import SessionState, Window
from qiming_tui.context.tokens import Tally, estimate
from qiming_tui.context.transcript import RESULT_CHARS, chunks_of, lines_of
from qiming_tui.context.view import FIXED, floor_words, hashes, items_of, margin, scene_of, window_of
from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.limits import Limits
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.window import CompactionEnd, Item, Preset, RequestParams, Settings

MOST_PASSES: Final = 8
"""Passes over a history that does not fit one request; what is older is left out, and named."""

SMALLEST: Final = 200
"""Tokens below which no summary could be smaller than what it replaces (cases C-070)."""

LONGEST: Final = 8_000
SHORTEST: Final = 512
"""Bounds of a summary's length in tokens; between them a tenth of usable (cases C-065)."""


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A summary request, ready to be sent; after its last pass `check` the answer."""

    form: str
    order: Order
    body: dict[str, JSON]
    items: tuple[Item, ...]
    params: RequestParams
    hash: str
    prefix_hash: str
    tokens: int
    """Size of this request."""
    max_tokens: int
    cap: int
    """The output that is wished for; `max_tokens` is what of it fits."""
    limit: int | None
    """How long the summary may be; None: the preset has no limit."""
    head_ids: tuple[str, ...]
    """The messages that the summary will stand for."""
    tail_start_id: str | None
    waiting: bool
    """The tail holds an unanswered user message: no Continue, no copy."""
    replay: Entry | None
    """The user's message to repeat as a copy, where the preset does so."""
    previous: str | None
    """The summary that this one replaces, where the request quotes it."""
    before_tokens: int
    """Size of the next request as it would be without a compaction."""
    replaced_tokens: int
    """Size of what the summary will stand for."""
    number: int = 1
    passes: int = 1
    rest: tuple[str, ...] = ()
    """Text of the passes that follow."""
    cleared: tuple[str, ...] = ()
    """Parts cleared for this request only."""
    note: str = ""
    """Why it has not the form that the preset prefers, or what was left out; for people."""


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """There is no summary request, and why; `words` has the numbers."""

    end: CompactionEnd
    words: str


def summary_limit(settings: Settings, usable: int | None) -> int | None:
    """Tokens that a summary may have: the setting, else 8,000 or a tenth of usable, whichever is less, but
    never below 512 (cases C-065); None under the articles' presets."""
    if settings.preset is not Preset.GUARDED:
        return None
    if settings.summary_tokens is not None:
        return max(1, settings.summary_tokens)
    return LONGEST if usable is None else min(LONGEST, max(SHORTEST, usable // 10))


def _limit(limits: Limits, settings: Settings, usable: int | None) -> int | None:
    """`summary_limit`, but not more than the compaction model can write."""
    most = summary_limit(settings, usable)
    return None if most is None else min(most, max_output(limits, settings))


class _Case(msgspec.Struct, frozen=True, kw_only=True):
    """All that the choice of a form looks at."""

    state: SessionState
    settings: Settings
    tally: Tally
    order: Order
    window: Window
    cache: Cache
    cut: Cut
    pair: tuple[Entry, ...]
    """The boundary in force: its message and its summary."""
    compactor: Compactor
    limit: int | None

    @property
    def cap(self) -> int:
        """The output that is wished for, in tokens."""
        return max_output(self.compactor.limits, self.settings) if self.limit is None else self.limit

    @property
    def previous(self) -> str | None:
        """The summary in force, as the user left it."""
        if not self.pair:
            return None
        summary = self.pair[1]
        edited = self.window.edits.summaries.get(summary.id, "")
        return edited if edited.strip() else summary.text


def room(limits: Limits, *, tokens: int) -> int | None:
    """Output that a request of `tokens` leaves: context - tokens - margin (cases C-042); None: unknown."""
    return limits.context - tokens - margin(tokens) if limits.context > 0 else None


def _fits(case: _Case, tokens: int) -> bool:
    """Whether a request leaves enough output for a summary worth having."""
    limits = case.compactor.limits
    if limits.input and tokens + margin(tokens) > limits.input:
        return False
    left = room(limits, tokens=tokens)
    return left is None or left >= min(case.cap, max(256, min(case.cap // 2, limits.context // 32)))


def _largest(case: _Case) -> int | None:
    """The largest request that leaves the whole output wished for; None: no window is known."""
    limits = case.compactor.limits
    bounds = [limits.input] if limits.input else []
    if limits.context > 0:
        bounds.append(limits.context - min(case.cap, limits.context // 4))
    return min(bounds) * 20 // 21 - 32 if bounds else None


def _history(window: Window) -> list[Entry]:
    """The live messages without any compaction message or summary, up to a compaction that was just asked
    for: what came after it is not summarised (cases C-060)."""
    live = list(window.live)
    boundary = window.boundary.message_id if window.boundary else None
    for index in range(len(live) - 1, -1, -1):
        if not live[index].user:
            break
        if live[index].compaction is not None and live[index].id != boundary:
            live = live[:index]
            break
    return [entry for entry in live if entry.compaction is None and not _is_summary(entry)]


def _is_summary(entry: Entry) -> bool:
    return isinstance(entry.info, AssistantMessage) and entry.info.summary


def prepare(
    state: SessionState, settings: Settings, tally: Tally, order: Order, *, cache: Cache | None = None
) -> SummaryRequest | Skip:
    """The summary request for a session's live window, or why there is none.

    The compaction message may already be among the entries or not. While `tally.exact` is false, sizes are
    guesses: ask the counter, `learn`, prepare again before sending.
    """
    cache = cache or Cache()
    window = window_of(state, settings, cache=cache)
    usable = bound(state.limits, settings).usable
    scene = scene_of(state, settings, window)

    def measure(entries: Sequence[Entry]) -> int:
        items = [item for group in cache.items(entries, scene, tally) for item in group]
        if settings.preset is Preset.GUARDED:
            return sum(item.tokens for item in items)
        spoken = [message_of(run, frozenset()) for run in runs(items)]
        return estimate(canonical(spoken).decode()) if spoken else 0

    rules = order.rules(settings)
    cut = select_tail(
        _history(window), rules, measure, usable=usable, auto=order.auto, overflow=order.overflow
    )
    items = items_of(state, settings, tally, window=window, cache=cache)
    case = _Case(
        state=state,
        settings=settings,
        tally=tally,
        order=order,
        window=window,
        cache=cache,
        cut=cut,
        pair=window.live[:2] if window.boundary else (),
        compactor=order.compactor or Compactor(model=state.model, limits=state.limits, dialect=state.dialect),
        limit=_limit(order.compactor.limits if order.compactor else state.limits, settings, usable),
    )
    gone = {entry.id for entry in (*case.pair, *cut.head)}
    replaced = sum(item.tokens for item in items if item.message_id in gone)
    skip = _skip(case, items, usable=usable, replaced=replaced, empty=not measure(cut.head))
    return skip or _choose(case, before=sum(item.tokens for item in items), replaced=replaced)


def _skip(
    case: _Case, items: Sequence[Item], *, usable: int | None, replaced: int, empty: bool
) -> Skip | None:
    """Why no summary is asked for (cases C-039, C-070)."""
    guarded = case.settings.preset is Preset.GUARDED
    fixed = sum(item.tokens for item in items if item.klass in FIXED or item.group == "pins")
    if guarded and usable is not None and (words := floor_words(fixed, usable)):
        return Skip(end=CompactionEnd.FLOOR, words=f"{words}: nothing to compact")
    total = sum(item.tokens for item in items)
    if empty or (guarded and replaced <= SMALLEST and not case.order.overflow):
        size = f"{total / 1000:.1f}k" if total >= 1000 else str(total)
        return Skip(end=CompactionEnd.NOTHING_TO_COMPACT, words=f"nothing to compact ({size} tokens)")
    return None


def _choose(case: _Case, *, before: int, replaced: int) -> SummaryRequest:
    """The first form that fits the compaction model; a quotation in passes always can be made to."""
    notes: list[str] = []
    for draft in _drafts(case):
        if _fits(case, draft.tokens):
            return _request(case, draft, before=before, replaced=replaced, note="; ".join(notes))
        limits = case.compactor.limits
        notes.append(f"{draft.form} would be {draft.tokens:,} of {limits.window:,} tokens")
    if case.order.overflow and _preferred(case) == PREFIX:
        notes.append("the provider refused the last request")
    return _quoted(case, before=before, replaced=replaced, notes=notes)


def _preferred(case: _Case) -> str:
    default = PREFIX if case.settings.preset is Preset.GUARDED else MESSAGES
    return case.settings.summary_form or default


def _drafts(case: _Case) -> Iterator[Draft]:
    """The forms to try before a quotation, best first."""
    form, state, order = _preferred(case), case.state, case.order
    entries = (*case.pair, *case.cut.head)
    if form == MESSAGES:
        for chars in (None, RESULT_CHARS):
            yield messages_form(
                state,
                case.settings,
                case.tally,
                order,
                window=case.window,
                entries=entries,
                limit=case.limit,
                result_chars=chars,
            )
    if form == PREFIX and not order.overflow and case.compactor.model == state.model:
        yield _prefix(case, case.window, case.cache, entries)
        cleared = plan(case.window, case.settings, case.tally).cleared
        if cleared:
            edits = msgspec.structs.replace(
                case.window.edits,
                cleared=case.window.edits.cleared | set(cleared),
                touched=case.window.edits.touched | set(cleared),
            )
            window = msgspec.structs.replace(case.window, edits=edits)
            pruned = _prefix(case, window, Cache(), entries)
            yield msgspec.structs.replace(pruned, cleared=cleared)


def _prefix(case: _Case, window: Window, cache: Cache, entries: Sequence[Entry]) -> Draft:
    return prefix_form(
        case.state,
        case.settings,
        case.tally,
        case.order,
        window=window,
        cache=cache,
        entries=entries,
        limit=case.limit,
    )


def _quoted(case: _Case, *, before: int, replaced: int, notes: list[str]) -> SummaryRequest:
    """The transcript form, in as many passes as it takes (cases C-040)."""
    lines = lines_of(case.cut.head, case.window.edits)
    frame = _transcript(case, "", previous=case.previous, part=(1, 1)).tokens
    largest = _largest(case)
    chunks = ["\n\n".join(lines)]
    if largest is not None and frame + case.tally.tokens(chunks[0]) > largest:
        bare = _transcript(case, "", previous=None, part=(9, 9)).tokens
        carried = max(case.cap, frame - bare)
        chunks = chunks_of(lines, case.tally, budget=max(64, largest - bare - carried))
    if len(chunks) > MOST_PASSES:
        left_out = len(chunks) - MOST_PASSES
        chunks = chunks[left_out:]
        chunks[0] = f"[The oldest part of this conversation was left out: it is too long]\n\n{chunks[0]}"
        notes.append(f"the oldest {left_out} of {left_out + MOST_PASSES} pieces are left out")
    if len(chunks) > 1:
        notes.append(f"{len(chunks)} passes")
    draft = _transcript(case, chunks[0], previous=case.previous, part=(1, len(chunks)))
    made = _request(case, draft, before=before, replaced=replaced, note="; ".join(notes))
    return msgspec.structs.replace(made, passes=len(chunks), rest=tuple(chunks[1:]), previous=case.previous)


def _transcript(case: _Case, chunk: str, *, previous: str | None, part: tuple[int, int]) -> Draft:
    return transcript_form(
        case.state,
        case.tally,
        case.order,
        chunk=chunk,
        previous=previous,
        limit=case.limit,
        part=part,
    )


def _output(limits: Limits, *, cap: int, tokens: int) -> int:
    left = room(limits, tokens=tokens)
    return cap if left is None else max(1, min(cap, left))


def _request(case: _Case, draft: Draft, *, before: int, replaced: int, note: str) -> SummaryRequest:
    most = _output(case.compactor.limits, cap=case.cap, tokens=draft.tokens)
    params = msgspec.structs.replace(draft.params, max_tokens=most)
    whole, prefix = hashes(params, draft.items, Cache())
    cut = case.cut
    return SummaryRequest(
        form=draft.form,
        order=case.order,
        body=assemble(params, draft.items),
        items=draft.items,
        params=params,
        hash=whole,
        prefix_hash=prefix,
        tokens=draft.tokens,
        max_tokens=most,
        cap=case.cap,
        limit=case.limit,
        head_ids=tuple(entry.id for entry in cut.head),
        tail_start_id=cut.tail_start_id,
        waiting=cut.waiting,
        replay=cut.replay,
        previous=None,
        before_tokens=before,
        replaced_tokens=replaced,
        cleared=draft.cleared,
        note=note,
    )


def advance(request: SummaryRequest, text: str, state: SessionState, tally: Tally) -> SummaryRequest:
    """The next pass, given the answer to this one; the last answer is the summary. Raises `ValueError` when
    there is no further pass."""
    if not request.rest:
        raise ValueError("there is no further pass")
    part = (request.number + 1, request.passes)
    draft = transcript_form(
        state, tally, request.order, chunk=request.rest[0], previous=text, limit=request.limit, part=part
    )
    limits = request.order.compactor.limits if request.order.compactor else state.limits
    most = _output(limits, cap=request.cap, tokens=draft.tokens)
    params = msgspec.structs.replace(draft.params, max_tokens=most)
    whole, prefix = hashes(params, draft.items, Cache())
    return msgspec.structs.replace(
        request,
        body=assemble(params, draft.items),
        items=draft.items,
        params=params,
        hash=whole,
        prefix_hash=prefix,
        tokens=draft.tokens,
        max_tokens=most,
        previous=text,
        number=part[0],
        rest=request.rest[1:],
    )
