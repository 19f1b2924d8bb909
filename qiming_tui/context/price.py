"""The price of an edit before it is made: tokens freed, cached tokens read again, and after how many requests
that has paid for itself (`landscape.md` b1).

A cached token costs r of a fresh one, and one that has to be cached anew costs w. An edit that takes S tokens
out of a cached prefix and leaves R cached tokens behind its place costs (w - r) R once and saves r S with
every request: it pays back after N = (w - r) / r x R / S requests. In a cold cache it is free.
"""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Final

import msgspec

from qiming_tui.context.budget import input_side
from qiming_tui.context.figures import kilo, plural
from qiming_tui.model.ledger import Outcome, RequestRow
from qiming_tui.model.limits import ModelRef, Price
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import ContextView, Item

ASSUMED: Final = (0.1, 1.0)
"""(r, w) where the model's prices are not known: a cached token costs a tenth, writing nothing extra."""


CACHE_TTL_MS: Final = 300_000
"""How long a provider keeps a prompt at least; after that the cache counts as cold."""


def held_of(rows: Sequence[RequestRow], *, model: ModelRef, now: int) -> int:
    """Tokens of the last request that a provider's cache holds: all of it where the provider caches at all
    and has answered in the last five minutes, else 0 (cold). Another model than `model` shares nothing."""
    for row in reversed(rows):
        if row.kind is RequestKind.TURN and row.outcome is Outcome.OK and row.usage is not None:
            fresh = now - (row.times.end or row.times.queued) <= CACHE_TTL_MS
            warm = fresh and row.params.model == model
            return input_side(row.usage) if warm and row.usage.cache_read + row.usage.cache_write else 0
    return 0


class EditPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What an edit does to the next request, in tokens by our count (`~`)."""

    before: int
    after: int
    first: int | None
    """Place of the first item of the next request that changes; None: nothing that was sent changes."""
    cached: int
    """Tokens at the beginning of the request that the provider holds in its cache."""
    reread: int
    """Cached tokens after the change that are still sent: they have to be read anew, once."""
    dropped: int
    """Cached tokens that are not sent any more."""
    break_even: int | None
    """Requests after which the edit has paid for itself; 0: at once; None: never."""
    assumed: bool
    """The prices of cached tokens are not known: a tenth was assumed."""

    @property
    def freed(self) -> int:
        """Tokens that the next request is smaller by; negative where it grows."""
        return self.before - self.after

    @property
    def words(self) -> str:
        """The price in a line, without its sign of estimate where nothing is estimated."""
        if self.freed > 0:
            size = f"frees ~{kilo(self.freed)}"
        else:
            size = f"adds ~{kilo(-self.freed)} to each request" if self.freed else "changes no size"
        return f"{size}; {self.cache_words}"

    @property
    def cache_words(self) -> str:
        """What the prompt cache has to do with it."""
        if self.first is None or not self.reread:
            return "nothing cached is read again"
        again = f"reads ~{kilo(self.reread)} cached tokens again"
        if self.break_even is None:
            return f"{again}, and never earns that back"
        if not self.break_even:
            return f"{again}, which costs nothing extra here"
        back = f"{again}, pays back after {plural(self.break_even, 'request')}"
        return f"{back} (prices assumed)" if self.assumed else back


def ratios(price: Price | None) -> tuple[float, float]:
    """(r, w): what a cached token costs to read and to write, as a share of a fresh one."""
    if price is None or price.input <= 0:
        return ASSUMED
    read = round(price.cache_read / price.input, 6) if price.cache_read > 0 else 1.0
    return read, max(1.0, round(price.cache_write / price.input, 6))


def break_even(*, reread: int, saved: int, read: float, write: float) -> int | None:
    """Requests until `saved` cached tokens a request outweigh `reread` tokens that are cached anew; 0: at
    once, None: never."""
    extra = (write - read) * reread
    if extra <= 0:
        return 0
    return ceil(extra / (read * saved)) if saved > 0 and read > 0 else None


def price_of(before: ContextView, after: ContextView, *, cached: int, price: Price | None) -> EditPrice:
    """The price of turning one next request into another one; `cached`: tokens at the beginning of the first
    that the provider is known to hold."""
    old, new = before.items, after.items
    same = _same(old, new)
    held = _cached_after(old, same, cached)
    still = Counter((item.key, item.blob) for item in new[same:])
    kept = 0
    for item in held:
        mark = (item.key, item.blob)
        if still[mark]:
            still[mark] -= 1
            kept += item.tokens
    gone = sum(item.tokens for item in held) - kept
    read, write = ratios(price)
    return EditPrice(
        before=before.total,
        after=after.total,
        first=None if same == len(old) else same,
        cached=min(cached, before.total),
        reread=kept,
        dropped=gone,
        break_even=break_even(reread=kept, saved=before.total - after.total, read=read, write=write),
        assumed=price is None or price.input <= 0,
    )


def _same(old: Sequence[Item], new: Sequence[Item]) -> int:
    """How many items at the beginning are the same in both."""
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if one.blob != other.blob or one.group != other.group:
            return index
    return min(len(old), len(new))


def _cached_after(items: Sequence[Item], first: int, cached: int) -> list[Item]:
    """The items behind a place that lie whole in the cached beginning."""
    end, found = 0, []
    for index, item in enumerate(items):
        end += item.tokens
        if end > cached:
            break
        if index >= first:
            found.append(item)
    return found
