"""What a provider reported for one step, and its price (`data.md` 1, conformance 1 and 2.6)."""

from enum import StrEnum
from typing import Final, TypeGuard

import msgspec

from qiming_tui.model.codec import Open
from qiming_tui.model.limits import Price


class Basis(StrEnum):
    """Where a number comes from. All but `measured` are shown with `~`."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    PREDICTED = "predicted"
    MODELLED = "modelled"


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one request. `input` excludes cache, `output` excludes reasoning.

    Invariant when `total` is known: input + output + reasoning + cache_read + cache_write = total.
    """

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int | None = None
    basis: Basis = Basis.MEASURED
    reasoning_estimated: bool = False
    """The reasoning count is the library's own guess, not the provider's (Anthropic)."""

    @property
    def prompt(self) -> int:
        """The whole input side: what was sent."""
        return self.input + self.cache_read + self.cache_write

    @property
    def parts_sum(self) -> int:
        """The sum of the five parts."""
        return self.prompt + self.output + self.reasoning

    @property
    def empty(self) -> bool:
        """Nothing was reported, or only zeros: the provider did not measure."""
        return self.parts_sum == 0 and not self.total

    @property
    def broken(self) -> bool:
        """The provider's total contradicts its parts; flagged, never mended silently."""
        return self.total is not None and self.total != self.parts_sum


_LARGEST: Final = 2**53


def _reported(value: object) -> TypeGuard[int | float]:
    """Whether a provider's number can be used: finite, not negative, and of a size that JSON can carry."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def whole(value: object) -> int:
    """A reported count as an integer: what is no number, not finite or negative is 0 (conformance 1)."""
    return int(value) if _reported(value) else 0


def usage_from_counts(
    *,
    prompt: object,
    completion: object,
    total: object = None,
    cache_read: object = None,
    cache_write: object = None,
    reasoning: object = None,
    reasoning_estimated: bool = False,
) -> Usage:
    """Normalise what a provider reported, all in tokens (facts 50-63, cases C-072).

    `prompt` is the whole input side, cache reads and writes included; `completion` includes reasoning. Each
    may be missing or nonsense, which counts as 0; a total that is missing or nonsense is unknown.
    """
    read, write, thought = whole(cache_read), whole(cache_write), whole(reasoning)
    return Usage(
        input=max(0, whole(prompt) - read - write),
        output=max(0, whole(completion) - thought),
        reasoning=thought,
        cache_read=read,
        cache_write=write,
        total=int(total) if _reported(total) else None,
        reasoning_estimated=reasoning_estimated,
    )


class CacheTokens(Open, frozen=True, kw_only=True):
    """Cached input tokens in the stored shape."""

    read: int
    write: int


class Tokens(Open, frozen=True, kw_only=True):
    """Usage in the stored and exported shape of a message or a step-finish part."""

    total: int | None = None
    input: int
    output: int
    reasoning: int
    cache: CacheTokens


NO_TOKENS = Tokens(input=0, output=0, reasoning=0, cache=CacheTokens(read=0, write=0))
"""What a message holds before the provider has reported anything."""


def tokens_of(usage: Usage) -> Tokens:
    """The stored shape of a usage."""
    cache = CacheTokens(read=usage.cache_read, write=usage.cache_write)
    return Tokens(
        total=usage.total, input=usage.input, output=usage.output, reasoning=usage.reasoning, cache=cache
    )


def usage_of(tokens: Tokens) -> Usage:
    """A usage from its stored shape."""
    return Usage(
        input=tokens.input,
        output=tokens.output,
        reasoning=tokens.reasoning,
        cache_read=tokens.cache.read,
        cache_write=tokens.cache.write,
        total=tokens.total,
    )


NANO_AIU_A_DOLLAR: Final = 1e11
"""Copilot bills in its own unit: this many make a dollar (conformance 1)."""


def cost(usage: Usage, price: Price, *, nano_aiu: object = None) -> float:
    """US dollars of one request; reasoning is priced as output; the tier with the largest `above` that the
    input side exceeds is taken (conformance 1, facts 55-59). `nano_aiu`, Copilot's own bill, beats it."""
    if _reported(nano_aiu):
        return nano_aiu / NANO_AIU_A_DOLLAR
    rate = Price(price.input, price.output, price.cache_read, price.cache_write)
    best = -1
    for tier in price.tiers:
        if usage.prompt > tier.above > best:
            best = tier.above
            rate = Price(tier.input, tier.output, tier.cache_read, tier.cache_write)
    amount = usage.input * rate.input + (usage.output + usage.reasoning) * rate.output
    amount += usage.cache_read * rate.cache_read + usage.cache_write * rate.cache_write
    return amount / 1_000_000
