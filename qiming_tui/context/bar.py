"""The budget bar as numbers: what it shows (`BarData`) and which cell shows what (`layout`).

Pure integer arithmetic: the widget paints what stands here and decides nothing. The rules are `ux.md` 5.5.
"""

from typing import Final

import msgspec

from qiming_tui.context.figures import kilo, tenths, whole_tokens
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import ContextView, Klass, State, Verdict

ORDER: Final = (*(k.value for k in Klass), "?")
"""Letters in the order of the request; `?` is what the provider counted beyond our own sum."""


class Offer(msgspec.Struct, frozen=True):
    """Something that can be done before the window is full."""

    key: str
    """Works while the bar has the focus."""
    chord: str
    """Works everywhere: `^X c`, or a command's name; empty: only while the bar has the focus."""
    words: str
    act: str
    """Its name, as the bar's message says it."""


def offers(*, clearable: int = 0, auto: bool = True, deferred: bool = False) -> tuple[Offer, ...]:
    """What can be done at `last turn` (rule 8). `clearable`: tokens that a prune would take out now; `auto`:
    whether it compacts by itself; `deferred`: whether the next time was put off already."""
    clear = Offer("x", "^X p", f"clear {kilo(clearable)} results", "clear")
    return (
        Offer("c", "^X c", "compact now", "compact"),
        Offer("f", "/compact", "with focus", "focus"),
        *([clear] if clearable else []),
        *([Offer("d", "^X d", "defer once", "defer")] if auto and not deferred else []),
        Offer("a", "^X a", "auto off" if auto else "auto on", "auto"),
    )


class BarData(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the budget bar shows. Numbers are tokens."""

    by_class: dict[str, int]
    """Class letter -> tokens of the built request; classes without tokens may be missing."""
    total: int
    """Our own sum over the items."""
    count: int
    """The verdict's count: what is compared with `usable`."""
    basis: Basis
    usable: int | None
    """None: the window is unknown, and so are percent, axis and tick."""
    window: int
    """The end of the axis; 0 when unknown."""
    arithmetic: str
    """`200.0k ctx - 32.0k out =`, what usable comes from; empty when unknown."""
    usable_words: str
    """Its result: 168.0k, or 168,000 where the sum is not true in tenths of thousands."""
    reserved_words: str
    """What the cells behind the tick are kept for: reply, reserve or margin."""
    state: State
    auto: bool
    percent: int | None
    over_by: int = 0
    draft_tokens: int = 0
    growth: int | None = None
    """Tokens that one more turn is expected to add; None: not known yet."""
    cached: int = 0
    """Tokens at the beginning of the request that the provider has in its cache."""
    cache_break: int | None = None
    """Where the next request differs from the last one, if before the end of what was cached."""
    reread: int = 0
    """Tokens that were cached and will be read again because of that."""
    cost_next: float | None = None
    """US dollars that the next request will cost; None: not known or not asked."""
    cleared: int = 0
    """Tokens that were taken out of the window and are kept in the store."""
    step: int | None = None
    """The step whose answer was measured."""
    since: int = 0
    """Tokens of the count that came after that step, and so are estimated."""
    offers: tuple[Offer, ...] = ()
    """What the last row offers at `last turn`."""

    @property
    def drift(self) -> int:
        """The count beyond our own sum; negative where we count more."""
        return self.count - self.total

    @property
    def drawn(self) -> int:
        """Tokens that the bar fills: a negative drift shrinks no segment (rule 3)."""
        return max(self.count, self.total)

    @property
    def left(self) -> int | None:
        """Tokens until the window overflows."""
        return None if self.usable is None else max(0, self.usable - self.count)

    @property
    def lands(self) -> int:
        """The count with the draft in it."""
        return self.count + self.draft_tokens

    @property
    def after_turn(self) -> int | None:
        """The count after the turn that the draft starts."""
        return None if self.growth is None else self.lands + self.growth

    @property
    def turns_left(self) -> int | None:
        """Whole turns of the expected growth that still fit, the draft taken off."""
        if self.left is None or not self.growth:
            return None
        return max(0, self.left - self.draft_tokens) // self.growth

    @property
    def crosses(self) -> bool:
        """Whether the draft and the turn it starts reach usable, which the count alone does not."""
        return self.state is State.LAST_TURN


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """What the bar shows beside the built request; numbers are tokens."""

    draft_tokens: int = 0
    growth: int | None = None
    cached: int = 0
    """Read from the provider's cache by the last step."""
    cache_break: int | None = None
    """Where the next request differs from the last one; None: it only grew."""
    cost_next: float | None = None
    cleared: int = 0
    step: int | None = None
    since: int = 0
    offers: tuple[Offer, ...] = ()


def bar_data(view: ContextView, live: Live) -> BarData:
    """What the bar shows of the next request. The state follows the draft as it is typed."""
    verdict = view.verdict
    window = axis(verdict)
    terms, usable_words, reserved_words = bound_terms(verdict, window)
    cached, cut = live.cached, live.cache_break
    broken = cut is not None and cut < cached
    return BarData(
        by_class={klass.value: tokens for klass, tokens in view.by_class.items() if tokens > 0},
        total=view.total,
        count=verdict.count,
        basis=_basis(view),
        usable=verdict.usable,
        window=window,
        arithmetic=terms,
        usable_words=usable_words,
        reserved_words=reserved_words,
        state=live_state(verdict, draft_tokens=live.draft_tokens, growth=live.growth),
        auto=verdict.auto,
        percent=verdict.percent,
        over_by=verdict.over_by,
        draft_tokens=live.draft_tokens,
        growth=live.growth,
        cached=cut if broken and cut is not None else cached,
        cache_break=cut if broken else None,
        reread=cached - cut if broken and cut is not None else 0,
        cost_next=live.cost_next,
        cleared=live.cleared,
        step=live.step,
        since=live.since,
        offers=live.offers,
    )


def _basis(view: ContextView) -> Basis:
    """What was summarised since the last measured answer leaves a prediction, not an estimate of a whole."""
    basis = view.verdict.basis
    return Basis.PREDICTED if basis is Basis.ESTIMATED and view.archived else basis


def axis(verdict: Verdict) -> int:
    """The end of the axis: the window (`data.md` 4), or the context where a preset knows no input limit."""
    window, context = verdict.limits.window, verdict.limits.context
    if verdict.usable is None:
        return 0
    return context if verdict.usable > window else window


def bound_terms(verdict: Verdict, window: int) -> tuple[str, str, str]:
    """The sum that led to usable, its result, and the word for what is kept: (`200.0k ctx - 32.0k out =`,
    `168.0k`, `reply`). In tenths of thousands where those add up, else in whole tokens."""
    usable, limits = verdict.usable, verdict.limits
    if usable is None:
        return "", "", ""
    terms = [(limits.context, "ctx", verdict.max_output, "out", "reply")]
    if verdict.reserved is not None:
        terms.append((limits.context, "ctx", verdict.reserved, "reserved", "reserve"))
        if limits.input:
            terms.insert(0, (limits.input, "in", verdict.reserved, "reserved", "reserve"))
    for whole, what, less, why, kept in terms:
        if max(0, whole - less) == usable:
            exact = usable > 0 and tenths(whole) - tenths(less) != tenths(usable)
            write = whole_tokens if exact else kilo
            return f"{write(whole)} {what} - {write(less)} {why} =", write(usable), kept
    name = "in" if limits.input == window else "ctx"
    return f"half of {kilo(window)} {name} =", kilo(usable), "reserve"


def live_state(verdict: Verdict, *, draft_tokens: int, growth: int | None) -> State:
    """The verdict's state, made graver by the draft and the turn it starts (rule 7): last turn when they
    reach usable, near when fewer than two turns are left."""
    usable = verdict.usable
    if usable is None or verdict.state not in (State.OK, State.NEAR, State.LAST_TURN):
        return verdict.state
    lands = verdict.count + draft_tokens
    if lands + (growth or 0) >= usable:
        return State.LAST_TURN
    if 4 * lands >= 3 * usable or lands + 2 * (growth or 0) > usable:
        return State.NEAR
    return State.OK
