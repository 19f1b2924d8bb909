"""The headline and the legend of the budget bar in words, and the order in which they give way.

Rows are lists of spans (style name, text); the widget knows how the styles look.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from qiming_tui.context.bar import BarData
from qiming_tui.context.bar_cells import parts
from qiming_tui.context.figures import bare, kilo, money, plural, signed
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import State

Span = tuple[str, str]
"""(style name, text)."""
Spans = tuple[Span, ...]

WORDS: Final = {
    "S": "system",
    "T": "tools",
    "M": "memory",
    "Z": "summary",
    "U": "user",
    "A": "assistant",
    "R": "results",
    "?": "drift",
    "+": "next",
    ":": "cleared",
    "/": "reply",
}
WIDE: Final = 180
"""Columns from which on cost, drift and what is not in the window are told."""
ROOMY: Final = 98
"""Columns of content from which on facts stand four cells apart, below two."""


def width(spans: Sequence[Span]) -> int:
    """Cells of a row; its texts hold no wide characters."""
    return sum(len(text) for _, text in spans)


class Headline(msgspec.Struct, frozen=True):
    """The headline's facts from left to right, and the one that stands at the right end."""

    left: Spans
    right: Spans


def headline(data: BarData, columns: int) -> Headline:
    """The headline in `columns` cells. What goes first: cost, detail of the provenance, `usable`, what the
    turn leads to; percent (in the pill), used and left never."""
    forms = {name: make(data, columns) for name, make in _SLOTS.items()}
    chosen = dict.fromkeys(forms, 0)
    for name in _GIVE_WAY:
        if _fits(forms, chosen, columns):
            break
        chosen[name] = min(chosen[name] + 1, len(forms[name]) - 1)
    return _join({name: forms[name][at] for name, at in chosen.items()}, columns)


def _fits(forms: dict[str, list[Spans]], chosen: dict[str, int], columns: int) -> bool:
    held = _join({name: forms[name][at] for name, at in chosen.items()}, columns)
    gap = 4 if columns >= ROOMY else 2
    return width(held.left) + (gap + width(held.right) if held.right else 0) <= columns


def _join(slots: dict[str, Spans], columns: int) -> Headline:
    roomy = columns >= ROOMY
    out: list[Span] = [*slots["ctx"]]
    if out and roomy:
        out.append(("", " "))
    out += slots["pill"]
    gap = 2 if roomy else 1
    for name in ("used", "left", "after", "break", "drift", "cost"):
        if spans := slots[name]:
            out += [("", " " * gap), *spans]
            gap = 4 if roomy else 2
    return Headline(tuple(out), slots["basis"])


def _pill(data: BarData, columns: int) -> list[Spans]:
    percent = [] if data.percent is None else [("pill-number", f"{data.percent}% ")]
    words = data.state.value
    forms = [words] if data.auto else [f"{words}, auto off", f"{words}, off"]
    return [(("pill", " "), *percent, ("pill", form), ("pill", " ")) for form in forms]


def _used(data: BarData, columns: int) -> list[Spans]:
    used = kilo(data.count) if data.basis is Basis.MEASURED else f"~{kilo(data.count)}"
    if data.usable is None:
        return [(("strong", used), ("muted", " used")), (("strong", used),)]
    of = ("muted", f" / {kilo(data.usable)}")
    return [
        (("strong", used), of, ("muted", " usable")),
        (("strong", used), of),
        (("strong", used), ("muted", " used")),
        (("strong", used),),
    ]


def _left(data: BarData, columns: int) -> list[Spans]:
    if data.left is None:
        return [(("muted", "window unknown"),)]
    if data.state is State.FULL and not data.over_by:
        return [(("limit", "refused by the provider"),), (("limit", "refused"),)]
    if data.over_by:
        return [(("limit", f"over by {kilo(data.over_by)}"),)]
    left = (("strong", kilo(data.left)), ("muted", " left"))
    turns = data.turns_left
    if turns is None:
        return [left]
    return [(*left, ("muted", f" ~{plural(turns, 'turn')}" if turns else " <1 turn")), left]


def _after(data: BarData, columns: int) -> list[Spans]:
    if data.usable is None or data.over_by or data.state is State.FULL:
        return [()]
    landing = data.after_turn if data.after_turn is not None else data.lands
    number = (("muted", "after turn "), ("text", f"~{kilo(landing)}"))
    if data.crosses:
        verb = "would compact" if data.auto else "would overflow"
        when = "before the reply" if data.lands >= data.usable else "before the turn ends"
        words = ("limit", f"{verb} {when}")
        return [(*number, ("", " "), words), (words,), (("limit", verb),), ()]
    return [(), ()] if landing == data.count else [number, ()]


def _break(data: BarData, columns: int) -> list[Spans]:
    if data.cache_break is None:
        return [()]
    words = f"cache breaks at {kilo(data.cache_break)}"
    return [(("warn", words), ("muted", f" re-read ~{kilo(data.reread)}")), (("warn", words),), ()]


def _drift(data: BarData, columns: int) -> list[Spans]:
    """A negative drift has no cells in the bar: the headline tells it (rule 3), where it is 0.1k or more."""
    return [(("muted", f"drift {signed(data.drift)}"),), ()] if data.drift <= -50 else [()]


def _cost(data: BarData, columns: int) -> list[Spans]:
    if data.cost_next is None or columns < WIDE - 2:
        return [()]
    return [(("muted", "cost next "), ("text", f"~{money(data.cost_next)}")), ()]


def _basis(data: BarData, columns: int) -> list[Spans]:
    """Where the count comes from: three forms with ever less detail, the word alone, nothing."""
    word = data.basis.value
    found = [word] * 4
    if data.step is not None and (data.basis is Basis.MEASURED or data.since):
        since = f", ~{signed(data.since)} since" if abs(data.since) >= 50 else ""
        named = Basis.MEASURED.value
        at, short = f"{named} at step {data.step}{since}", f"{named} step {data.step}{since}"
        found = [
            at,
            short,
            word if since and data.basis is not Basis.MEASURED else f"{named} step {data.step}",
            word,
        ]
        if columns >= WIDE - 2:
            drift = f"   drift {signed(data.drift)}" if data.drift > 0 else ""
            found[:2] = [f"{at}   ours {kilo(data.total)}{drift}", at]
    return [*((("muted", text),) for text in found), ()]


_SLOTS: Final[dict[str, Callable[[BarData, int], list[Spans]]]] = {
    "ctx": lambda data, columns: [(("ctx", "CTX"),), ()],
    "pill": _pill,
    "used": _used,
    "left": _left,
    "after": _after,
    "break": _break,
    "drift": _drift,
    "cost": _cost,
    "basis": _basis,
}
"""Each fact's forms, longest first."""

_GIVE_WAY: Final = (
    *("cost", "basis", "basis", "basis", "used", "after", "after", "break", "break", "drift"),
    *("basis", "after", "left", "ctx", "used", "pill", "used"),
)


class Entry(msgspec.Struct, frozen=True):
    """A class in the legend."""

    letter: str
    words: str
    tokens: int


def entries(data: BarData, columns: int) -> list[Entry]:
    """What the legend names: every class that has tokens; with room also what is not in the window."""
    found = [Entry(letter, WORDS[letter], tokens) for letter, tokens in parts(data)]
    if columns >= WIDE - 2:
        beyond = data.draft_tokens + (data.growth or 0)
        kept = data.window - data.usable if data.usable is not None else 0
        more = (("+", WORDS["+"], beyond), (":", WORDS[":"], data.cleared), ("/", data.reserved_words, kept))
        found += [Entry(*held) for held in more if held[2] > 0]
    return found


def legend(data: BarData, columns: int) -> Spans:
    """Chip, word, number without unit; gaps of four cells down to one, then without the words, then without
    the smallest classes."""
    held = entries(data, columns)
    while held:
        for worded in (True, False):
            plain = [_entry(entry, worded=worded) for entry in held]
            room = columns - sum(width(spans) for spans in plain)
            gap = 4 if len(held) == 1 else min(4, room // (len(held) - 1))
            if gap >= 1 and room >= 0:
                return _spaced(plain, gap)
        held.remove(min(held, key=lambda entry: entry.tokens))
    return ()


def _entry(entry: Entry, *, worded: bool) -> Spans:
    words = f" {entry.words} " if worded else " "
    return ((f"chip-{entry.letter}", entry.letter), ("muted", words), ("text", bare(entry.tokens)))


def _spaced(held: Sequence[Spans], gap: int) -> Spans:
    out: list[Span] = []
    for spans in held:
        out += [*([("", " " * gap)] if out else []), *spans]
    return tuple(out)
