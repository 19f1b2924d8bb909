"""What the cursor of the timeline is on, in words: also the form for those who do not see the columns."""

from collections.abc import Sequence
from typing import Final

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.figures import kilo, signed, whole_tokens
from qiming_tui.context.strip import OVER, WORDS, StepMark
from qiming_tui.model.ledger import Outcome
from qiming_tui.model.usage import Basis

_ENDED: Final = {
    Outcome.OPEN: "running",
    Outcome.ABORTED: "stopped by you",
    Outcome.INTERRUPTED: "cut off when the program ended",
}


def facts(mark: StepMark) -> tuple[Spans, ...]:
    """The facts of a step from left to right; the later ones may be left out first."""
    out: list[Spans] = [(("strong", f"step {mark.step:,}"),)]
    if mark.turn:
        out.append((("muted", f"T{mark.turn}"),))
    events: list[Spans] = [
        ((_style(event.letter), f"{event.letter} "), ("text", event.words)) for event in mark.events
    ]
    out += [*events, _size(mark)] if mark.summary else [_size(mark), *events]
    if mark.ended in _ENDED:
        out.append((("warn", _ENDED[mark.ended]),))
    if mark.grew is not None:
        out.append((("muted", "grew "), ("text", signed(mark.grew))))
    if not mark.live:
        out.append((("faint", "archived, kept"),))
    if mark.basis is not Basis.MEASURED:
        out.append((("faint", mark.basis.value),))
    return tuple(out)


def _size(mark: StepMark) -> Spans:
    sign = "" if mark.basis is Basis.MEASURED else "~"
    size: Span = ("text", f"{sign}{kilo(mark.count)}")
    if mark.summary:
        return (("muted", "summary request "), size)
    if mark.percent is None:
        return (size, ("muted", " usable unknown"))
    return (size, ("limit" if mark.tenth == OVER else "muted", f" {mark.percent}%"))


def _style(letter: str) -> str:
    return "limit" if letter in "cC!" else "error" if letter == "x" else "strong"


def spoken(mark: StepMark) -> str:
    """The same as a sentence with exact numbers: the tooltip."""
    words = [f"step {mark.step:,}" + (f" of turn {mark.turn}" if mark.turn else "")]
    of = "" if mark.usable is None or mark.summary else f" of {whole_tokens(mark.usable)} usable"
    words.append(f"{whole_tokens(mark.count)} tokens{of} ({mark.basis.value})")
    return ", ".join([*words, *(event.words for event in mark.events)])


def legend(marks: Sequence[StepMark], room: int) -> str:
    """The letters that are there with a word for each, as many as fit in `room` cells."""
    seen = {event.letter for mark in marks for event in mark.events}
    words = ""
    for letter, word in WORDS.items():
        longer = f"{words}  {letter} {word}".strip()
        if letter in seen and len(longer) <= room:
            words = longer
    return words
