"""The next request: state in, items, sizes, verdict and hash out (`design.md` 3, the one rule)."""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.assemble import body_of, marks_of, message_of, runs, tool_of, view_hash
from qiming_tui.context.boundary import window as window_of_entries
from qiming_tui.context.budget import max_output, verdict
from qiming_tui.context.cache import Cache, weighed
from qiming_tui.context.count import account, last_measured
from qiming_tui.context.render import pin_items
from qiming_tui.context.scene import Scene
from qiming_tui.context.state import Measured, SessionState, Window
from qiming_tui.context.tokens import Tally
from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import Limits
from qiming_tui.model.messages import Entry
from qiming_tui.model.window import ContextView, Item, Klass, Preset, RequestParams, Settings, Verdict

FIXED: Final = frozenset({Klass.SYSTEM, Klass.TOOL, Klass.MEMORY})
"""What every request holds, whatever is summarised."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a request asks of the model beside its items."""

    tool_choice: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None


NO_OPTIONS: Final = Options()


def window_of(state: SessionState, settings: Settings, *, cache: Cache | None = None) -> Window:
    """The live window of a state."""
    cache = cache or Cache()
    return window_of_entries(state.entries, cache.edits(state.edits), settings.preset)


def build(
    state: SessionState,
    settings: Settings,
    tally: Tally,
    *,
    options: Options = NO_OPTIONS,
    growth: int | None = None,
    cache: Cache | None = None,
    window: Window | None = None,
) -> ContextView:
    """The view of the next request.

    `growth`: tokens that one more turn is expected to add, for the state "last turn". `cache` makes repeated
    builds cheap; `window`, if the caller has it already, saves its making. While `tally.exact` is false the
    tokens are guesses: ask the counter, `learn`, build again. Raises `QimingError` where a result that must
    be sent still lies in the store (`render.unloaded` names them).
    """
    cache = cache or Cache()
    window = window or window_of(state, settings, cache=cache)
    items = items_of(state, settings, tally, window=window, cache=cache)
    total = sum(item.tokens for item in items)
    judged = _judge(state, settings, window, items, growth=growth)
    params = RequestParams(
        model=state.model,
        max_tokens=answer_tokens(state.limits, settings, total=total, dialect=state.dialect),
        tool_choice=options.tool_choice,
        temperature=options.temperature,
        reasoning_effort=options.reasoning_effort,
        breakpoints=breakpoints(items) if state.dialect == "anthropic" else (),
        dialect=state.dialect,
    )
    whole, prefix = hashes(params, items, cache)
    return ContextView(
        items=tuple(items),
        params=params,
        by_class=_by_class(items),
        total=total,
        count=judged.count,
        usable=judged.usable,
        verdict=judged,
        hash=whole,
        prefix_hash=prefix,
        live=tuple([entry.id for entry in window.live]),
        archived=window.archived,
    )


def _judge(
    state: SessionState, settings: Settings, window: Window, items: Sequence[Item], *, growth: int | None
) -> Verdict:
    """The verdict on a request, with a flag where what is always sent does not fit."""
    held = account(msgspec.structs.replace(state, measured=_measured(state, window)), items, settings)
    judged = verdict(
        settings=settings,
        limits=state.limits,
        count=held.count,
        basis=held.basis,
        refused=held.refused,
        projected=None if growth is None else held.count + growth,
        flags=held.flags,
        counted=held.words,
    )
    fixed = sum(item.tokens for item in items if item.klass in FIXED)
    if judged.usable is not None and (words := floor_words(fixed, judged.usable)):
        return msgspec.structs.replace(judged, flags=(*judged.flags, words))
    return judged


def _measured(state: SessionState, window: Window) -> Measured | None:
    """The usage that counts, with its manifest if the state has it: usage from before the newest boundary
    never counts (cases C-061)."""
    newest, given = last_measured(window), state.measured
    if newest is None or given is None or given.message_id != newest.message_id:
        return newest
    return given


def scene_of(state: SessionState, settings: Settings, window: Window) -> Scene:
    """For whom the next request of a state is rendered."""
    held = window.boundary
    return Scene(
        model=state.model,
        dialect=state.dialect,
        preset=settings.preset,
        edits=window.edits,
        boundary=None if held is None else (held.message_id, held.summary_id),
    )


def items_of(
    state: SessionState,
    settings: Settings,
    tally: Tally,
    *,
    window: Window,
    cache: Cache,
    entries: Sequence[Entry] | None = None,
) -> list[Item]:
    """The legal, weighed items of a request: S, T, M, then UC, S, pins, tail, Continue, rest.

    `entries`: only the beginning of the live window (the prefix form of a summary request).
    """
    shown = window.live if entries is None else entries
    rendered = cache.items(shown, scene_of(state, settings, window), tally)
    items: list[Item] = [*cache.fixed(state, tally)]
    for index, group in enumerate(rendered):
        items += group
        if index == 1 and window.boundary is not None and window.edits.pins:
            items += weighed(pin_items(window.edits.pins, _live_ids(window)), tally)
    legal = cache.sound.repair(items, dialect=state.dialect)
    return items if legal is items and not _touching(rendered) else weighed(legal, tally)


def _touching(rendered: Sequence[Sequence[Item]]) -> bool:
    """Whether two messages flow together because they have one id (a redacted export): each was weighed by
    itself, then."""
    last = ""
    for group in rendered:
        if group:
            if group[0].group == last:
                return True
            last = group[-1].group
    return False


def _live_ids(window: Window) -> frozenset[str]:
    """Ids of the messages and parts that a request sends, the boundary's own left out."""
    ids = set()
    for entry in window.live[2:]:
        ids.add(entry.id)
        ids.update(part.id for part in entry.parts)
    return frozenset(ids)


def answer_tokens(limits: Limits, settings: Settings, *, total: int, dialect: str) -> int | None:
    """`max_tokens` of a turn: the kept output, under `guarded` at most what the window leaves (cases C-011);
    None where the output limit is not known and the dialect can do without."""
    kept = max_output(limits, settings)
    if limits.output <= 0 and dialect != "anthropic":
        return None
    if settings.preset is not Preset.GUARDED or limits.context <= 0:
        return kept
    return max(1, min(kept, limits.context - total - margin(total)))


def margin(tokens: int) -> int:
    """Room for our error of counting: a twentieth, at least 32 tokens."""
    return max(32, tokens // 20)


def floor_words(fixed: int, usable: int) -> str:
    """A sentence where what is always sent does not fit, so that a summary cannot help (cases C-039)."""
    if fixed < usable:
        return ""
    return f"fixed prompt {fixed:,} >= usable {usable:,}: summarising cannot help"


def breakpoints(items: Sequence[Item]) -> tuple[str, ...]:
    """Keys that carry a cache breakpoint: the last tool, the end of the system message, the newest message
    and the newest of the step before (a moving pair); at most four, as Anthropic allows."""
    tool = next((i.key for i in reversed(items) if i.klass is Klass.TOOL), None)
    system = next((i.key for i in reversed(items) if i.value["role"] == "system"), None)
    pair: list[str] = []
    wanted = True
    for item in reversed(items):
        role = item.value["role"]
        if role == "assistant":
            wanted = True
        elif role in ("user", "tool") and wanted:
            pair.insert(0, item.key)
            wanted = False
            if len(pair) == 2:
                break
    return tuple(key for key in (tool, system, *pair) if key is not None)


def _by_class(items: Sequence[Item]) -> dict[Klass, int]:
    sums = dict.fromkeys(Klass, 0)
    for item in items:
        sums[item.klass] += item.tokens
    return sums


def hashes(params: RequestParams, items: Sequence[Item], cache: Cache) -> tuple[str, str]:
    """(view hash, the same without breakpoints) of `assemble(params, items)`, from kept fragments."""
    marks = marks_of(params)
    messages: list[JSON] = []
    plain: list[JSON] = []
    tools: list[JSON] = []
    for run in runs(items):
        if run[0].value["role"] == "tool-schema":
            tools = run
            continue
        fragment = cache.fragment(run)
        plain.append(fragment)
        marked = bool(marks) and any(item.key in marks for item in run)
        messages.append(message_of(run, marks) if marked else fragment)
    prefix = view_hash(body_of(params, plain, [tool_of(item, frozenset()) for item in tools]))
    if not marks:
        return prefix, prefix
    return view_hash(body_of(params, messages, [tool_of(item, marks) for item in tools])), prefix
