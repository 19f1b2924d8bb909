"""The What-if tab in words: policies that suggest themselves, one that was typed, the table, the backtest."""

from collections.abc import Sequence
from typing import Final

from qiming_tui.context.figures import kilo
from qiming_tui.context.whatif import Policy, Run
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import Limits
from qiming_tui.model.window import Settings

HEADS: Final = ("policy", "usable", "compactions", "prunes", "peak", "sent", "archived", "splits at")
WORDS: Final = "context N  input N  output N  reserved N  protect N  minimum N  auto on|off  prune on|off"
"""What may be typed."""


def suggested(limits: Limits, settings: Settings) -> tuple[Policy, ...]:
    """A few policies around the one in force."""
    found = [
        Policy(name="prune off" if settings.prune else "prune on", prune=not settings.prune),
        Policy(name="auto off" if settings.auto else "auto on", auto=not settings.auto),
        Policy(
            name=f"protect {kilo(settings.protect // 2)} minimum {kilo(settings.minimum // 2)}",
            protect=settings.protect // 2,
            minimum=settings.minimum // 2,
            prune=True,
        ),
    ]
    if limits.context > 0:
        half = Limits(limits.context // 2, None, min(limits.output, limits.context // 4))
        twice = Limits(limits.context * 2, None, limits.output)
        found += [
            Policy(name=f"window {kilo(half.context)}", limits=half),
            Policy(name=f"window {kilo(twice.context)}", limits=twice),
        ]
    return tuple(found)


_NUMBERS: Final = ("context", "input", "output", "reserved", "protect", "minimum")
_SWITCHES: Final = ("auto", "prune")


def _pairs(text: str) -> list[tuple[str, str]]:
    words = text.replace("=", " ").split()
    if not words or len(words) % 2:
        raise InputError("give a name and a value, as often as you like", WORDS)
    return list(zip(words[::2], words[1::2], strict=True))


def typed(text: str, limits: Limits) -> Policy:
    """A policy as it was typed: `reserved 20000 auto off`; raises InputError."""
    numbers: dict[str, int] = {}
    switches: dict[str, bool] = {}
    for name, value in _pairs(text):
        if name in _NUMBERS:
            numbers[name] = _number(name, value)
        elif name in _SWITCHES and value in ("on", "off"):
            switches[name] = value == "on"
        else:
            raise InputError(f"{name} {value} is not understood", WORDS)
    bounds = {name: numbers.pop(name) for name in ("context", "input", "output") if name in numbers}
    other = None
    if bounds:
        context = bounds.get("context", limits.context)
        other = Limits(context, bounds.get("input", limits.input), bounds.get("output", limits.output))
    return Policy(
        name=" ".join(text.split())[:40],
        limits=other,
        reserved=numbers.get("reserved"),
        protect=numbers.get("protect"),
        minimum=numbers.get("minimum"),
        auto=switches.get("auto"),
        prune=switches.get("prune"),
    )


def _number(name: str, value: str) -> int:
    bare = value.lower().replace(",", "")
    factor = 1_000 if bare.endswith("k") else 1
    digits = bare.removesuffix("k")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
        raise InputError(f"{name} {value} is no number of tokens", "for instance 20000 or 20k")
    return int(digits) * factor


def cells(run: Run) -> tuple[str, ...]:
    """A line of the table. Until it splits a policy's figures are the recorded ones; then they are `~`."""
    mark = "~" if run.split is not None else ""
    usable = "?" if run.usable is None else kilo(run.usable)
    places = _steps(run.compactions, run.split)
    split = "recorded" if not run.modelled else "never" if run.split is None else f"step {run.split:,}"
    sizes = (f"{mark}{len(run.prunes):,}", f"{mark}{kilo(run.peak)}", f"{mark}{kilo(run.sent)}")
    return (run.name, usable, places, *sizes, f"{mark}{kilo(run.archived)}", split)


def _steps(places: Sequence[int], split: int | None) -> str:
    """The numbers of the steps, `~` before those that are modelled; the last ones counted."""
    if not places:
        return "none"
    shown = [f"{'~' if split is not None and place >= split else ''}{place}" for place in places[:4]]
    return " ".join(shown) + (f" +{len(places) - 4}" if len(places) > 4 else "")


def backtest(was: Run, again: Run) -> str:
    """The recorded policy modelled too, and the gap to what happened."""
    told = f"C at {_steps(was.compactions, None)} recorded, {_steps(again.compactions, again.split)} modelled"
    pruned = f"P at {_steps(was.prunes, None)} recorded, {_steps(again.prunes, again.split)} modelled"
    ways = ((was.compactions, again.compactions), (was.prunes, again.prunes))
    gap = sum(len(set(one) ^ set(other)) for one, other in ways)
    where = f", first at step {again.split:,}" if again.split is not None else ""
    verdict = "gap 0" if not gap and again.split is None else f"gap {max(gap, 1):,}{where}"
    return f"backtest: {told}; {pruned}; {verdict}"
