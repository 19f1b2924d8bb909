"""When the window overflows: the three presets of `data.md` 4, each one function that spells out its sums.

All numbers are tokens. `usable` is the bound of what may be used, not what is left of it.
"""

from typing import Final, assert_never

import msgspec

from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import Limits
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Preset, Settings, State, Verdict

COMPACTION_BUFFER: Final = 20_000
"""The reserve where the user sets none, unless the output limit is smaller (conformance 1)."""

PLAUSIBLE_FACTOR: Final = 2
PLAUSIBLE_MARGIN: Final = 4_000
"""Usage above factor x estimate + margin is not believed under `guarded` (`data.md` 4)."""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """What may be used of a window."""

    usable: int | None
    """None: the window is unknown."""
    reserved: int | None
    """None: the preset has no reserve."""
    max_output: int
    words: str
    """The sum that led to `usable`, with every number and the name of the bound that was used."""


def max_output(limits: Limits, settings: Settings) -> int:
    """Tokens kept free for the answer: the output limit up to the cap (32,000); the cap where the limit is
    not known (fact 13)."""
    return min(max(0, limits.output), settings.output_token_max) or settings.output_token_max


def reserved(limits: Limits, settings: Settings) -> int:
    """The user's reserve, or the smaller of 20,000 and the output (conformance 1). Raises `ConfigError` for
    a reserve below 0."""
    if settings.reserved is None:
        return min(COMPACTION_BUFFER, max_output(limits, settings))
    if settings.reserved < 0:
        raise ConfigError(f"reserved is {settings.reserved:,}", "a reserve is 0 tokens or more")
    return settings.reserved


def count_usage(preset: Preset, usage: Usage) -> int:
    """The number that a preset compares with usable (`data.md` 4). Reasoning counts only as part of a
    reported total, as in the articles."""
    if preset is not Preset.QIMING:
        return usage.total or usage.prompt + usage.output
    if usage.parts_sum == 0:
        return usage.total or 0
    return usage.input + usage.cache_read + usage.output


def count_words(preset: Preset, usage: Usage) -> str:
    """How `count_usage` came to its number."""
    count = count_usage(preset, usage)
    if usage.total and (preset is not Preset.QIMING or usage.parts_sum == 0):
        return f"{count:,} total as reported"
    terms = f"{usage.input:,} input + {usage.output:,} output + {usage.cache_read:,} cache read"
    if preset is not Preset.QIMING:
        terms += f" + {usage.cache_write:,} cache write"
    return f"{terms} = {count:,}"


def _output_words(limits: Limits, settings: Settings) -> str:
    kept = max_output(limits, settings)
    if limits.output <= 0:
        return f"{kept:,} output (limit unknown)"
    return f"{kept:,} output (of {limits.output:,})" if kept < limits.output else f"{kept:,} output"


def _reserved_words(limits: Limits, settings: Settings) -> str:
    return f"{reserved(limits, settings):,} reserved" + (" (set)" if settings.reserved is not None else "")


def _at_least_zero(usable: int, sum_words: str) -> tuple[int, str]:
    if usable < 0:
        return 0, f"{sum_words} = {usable:,}, at least 0: 0 usable"
    return usable, f"{sum_words} = {usable:,} usable"


def _opencode(limits: Limits, settings: Settings) -> Bound:
    """Article B: the input limit minus the reserve, or the context minus the output."""
    kept, reserve = max_output(limits, settings), reserved(limits, settings)
    if limits.context <= 0:
        return Bound(usable=None, reserved=reserve, max_output=kept, words="window unknown")
    if limits.input and limits.input > 0:
        bound = limits.input - reserve
        words = f"{limits.input:,} input - {_reserved_words(limits, settings)}"
    else:
        bound = limits.context - kept
        words = f"{limits.context:,} context - {_output_words(limits, settings)}"
    usable, words = _at_least_zero(bound, words)
    return Bound(usable=usable, reserved=reserve, max_output=kept, words=words)


def _qiming(limits: Limits, settings: Settings) -> Bound:
    """Article A: the context minus the output; no reserve, no input limit."""
    kept = max_output(limits, settings)
    if limits.context <= 0:
        return Bound(usable=None, reserved=None, max_output=kept, words="window unknown")
    words = f"{limits.context:,} context - {_output_words(limits, settings)}"
    usable, words = _at_least_zero(limits.context - kept, words)
    return Bound(usable=usable, reserved=None, max_output=kept, words=words)


def _bounds(limits: Limits, settings: Settings) -> list[tuple[int, str]]:
    """The bounds that hold under `guarded`, each with its sum in words."""
    kept, reserve = max_output(limits, settings), reserved(limits, settings)
    found: list[tuple[int, str]] = []
    if limits.input and limits.input > 0:
        bound = limits.input - reserve
        found.append((bound, f"{limits.input:,} input - {_reserved_words(limits, settings)} = {bound:,}"))
    if limits.context > 0:
        by_reserve = settings.reserved is not None and settings.reserved > kept
        free = reserve if by_reserve else kept
        what = _reserved_words(limits, settings) if by_reserve else _output_words(limits, settings)
        bound = limits.context - free
        found.append((bound, f"{limits.context:,} context - {what} = {bound:,}"))
    return found


def _guarded(limits: Limits, settings: Settings) -> Bound:
    """Article B repaired: the smaller of both bounds (cases C-002 to C-005); a reserve that was set always
    counts, and without one half of the window stays usable."""
    kept, reserve = max_output(limits, settings), reserved(limits, settings)
    if not limits.known:
        return Bound(usable=None, reserved=reserve, max_output=kept, words="window unknown")
    if settings.reserved is not None and reserve >= limits.window:
        raise ConfigError(
            f"reserved is {reserve:,}, the window only {limits.window:,}",
            "set a reserve that is smaller than the window of every model you use",
        )
    found = sorted(_bounds(limits, settings), key=lambda held: held[0])
    bound, words = found[0]
    if len(found) > 1:
        words += f", {'not more than' if bound == found[1][0] else 'smaller than'} {found[1][1]}"
    half = limits.window // 2
    if settings.reserved is None and bound < half:
        bound, words = half, f"{words}, less than half of the window {limits.window:,}: {half:,} usable"
    elif bound < 0:
        bound, words = 0, f"{words}, at least 0: 0 usable"
    elif len(found) > 1:
        words = f"{words}: {bound:,} usable"
    else:
        words = f"{words} usable"
    return Bound(usable=bound, reserved=reserve, max_output=kept, words=words)


def bound(limits: Limits, settings: Settings) -> Bound:
    """What may be used under the preset in force; raises `ConfigError` for a reserve that cannot be kept."""
    match settings.preset:
        case Preset.OPENCODE:
            return _opencode(limits, settings)
        case Preset.QIMING:
            return _qiming(limits, settings)
        case Preset.GUARDED:
            return _guarded(limits, settings)
        case _ as never:
            assert_never(never)


def percent(count: int, usable: int | None) -> int | None:
    """count / usable x 100 as an integer, half up; None when usable is 0 or unknown (`data.md` 1)."""
    return (200 * count + usable) // (2 * usable) if usable else None


def is_over(preset: Preset, count: int, usable: int) -> bool:
    """The preset's own comparison: more than usable under `qiming`, else as much as usable."""
    return count > usable if preset is Preset.QIMING else count >= usable


def _state(*, over: bool, count: int, usable: int | None, refused: bool, projected: int | None) -> State:
    """The word for it, in falling precedence; `near` from three quarters of usable on, or with room for
    fewer than two more turns like the projected one."""
    if usable is None:
        return State.UNKNOWN
    if refused:
        return State.FULL
    if over:
        return State.OVER
    if projected is not None and projected >= usable:
        return State.LAST_TURN
    growth = 0 if projected is None else max(0, projected - count)
    return State.NEAR if 4 * count >= 3 * usable or count + 2 * growth > usable else State.OK


def _test_words(preset: Preset, count: int, usable: int, over: bool, mark: str) -> str:
    sign = ">" if preset is Preset.QIMING else ">="
    gap = count - usable
    distance = f"{mark}{gap:,} over" if gap > 0 else f"{mark}{-gap:,} short" if gap < 0 else "equal"
    return f"{mark}{count:,} {sign} {usable:,} {'true' if over else 'false'}, {distance}"


def _outlook(count: int, usable: int, projected: int | None) -> list[str]:
    """Why the state is `last turn`, or `near` below three quarters, where the percentage does not say it."""
    if projected is None:
        return []
    if projected >= usable:
        return [f"~{projected:,} after the next turn"]
    if 4 * count < 3 * usable and count + 2 * (growth := max(0, projected - count)) > usable:
        return [f"fewer than two turns of ~{growth:,} fit"]
    return []


def verdict(
    *,
    settings: Settings,
    limits: Limits,
    count: int,
    basis: Basis,
    refused: bool = False,
    projected: int | None = None,
    flags: tuple[str, ...] = (),
    counted: str = "",
) -> Verdict:
    """Judge a count against a model's limits.

    `refused`: the provider refused the request. `projected`: tokens after the next turn, if it can be told.
    `counted`: how the count came about, put before the sum. Raises `ConfigError` as `bound` does.
    """
    held = bound(limits, settings)
    over = held.usable is not None and is_over(settings.preset, count, held.usable)
    words = [counted] if counted else []
    mark = "" if basis is Basis.MEASURED else "~"
    if held.usable is None:
        words += [held.words, f"{mark}{count:,} used, nothing to compare with"]
    else:
        words += [held.words, _test_words(settings.preset, count, held.usable, over, mark)]
        words += _outlook(count, held.usable, projected) if not over else []
    if refused:
        words.append("refused by the provider")
    return Verdict(
        preset=settings.preset,
        count=count,
        basis=basis,
        usable=held.usable,
        reserved=held.reserved,
        max_output=held.max_output,
        overflow=over and settings.auto,
        percent=percent(count, held.usable),
        over_by=0 if held.usable is None else max(0, count - held.usable),
        state=_state(over=over, count=count, usable=held.usable, refused=refused, projected=projected),
        auto=settings.auto,
        arithmetic="; ".join(words),
        flags=flags,
        limits=limits,
        refused=refused,
    )


def input_side(usage: Usage) -> int:
    """Tokens that were sent, as reported; from the total where the parts name none (cases C-075)."""
    return usage.prompt or max(0, (usage.total or 0) - usage.output - usage.reasoning)


def oddity(usage: Usage, *, limits: Limits | None, estimate: int | None) -> str | None:
    """Why a usage is not believed, as a sentence; None: it is plausible (`data.md` 4, cases C-014, C-074,
    C-075). Only `guarded` asks. None for `limits` or `estimate`: that comparison is left out."""
    sent = input_side(usage)
    if usage.empty:
        return "the provider reported no usage: the estimate counts"
    if not sent:
        return f"the provider reported {usage.output:,} output but no input: the estimate counts"
    window = limits.window if limits is not None else 0
    if 0 < window < sent:
        return f"reported input {sent:,} is above the window {window:,}: not plausible, the estimate counts"
    if estimate is not None and sent > (most := PLAUSIBLE_FACTOR * estimate + PLAUSIBLE_MARGIN):
        words = f"{PLAUSIBLE_FACTOR} x ~{estimate:,} + {PLAUSIBLE_MARGIN:,} = ~{most:,}"
        return f"reported input {sent:,} is above {words}: not plausible, the estimate counts"
    return None
