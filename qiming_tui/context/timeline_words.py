"""What the timeline says in words: the read-out, the header, the rows of the table, what was searched for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.figures import kilo, money, plural, signed
from qiming_tui.context.strip_words import facts
from qiming_tui.context.timeline import Column, boundary_sizes
from qiming_tui.context.timeline_layout import Slot
from qiming_tui.context.timeline_modes import Mode, seconds
from qiming_tui.model.codec import canonical
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Completed, Failed, TextPart, ToolPart
from qiming_tui.model.sanitize import one_line
from qiming_tui.model.usage import Basis

HEADS: Final = ("step", "turn", "event", "total", "%", "grew", "cached", "new", "cost", "time", "verdict")
"""The columns of the table."""


def readout(columns: Sequence[Column], place: int, mode: Mode, slot: Slot | None = None) -> tuple[Spans, ...]:
    """The facts of a step from left to right; the later ones may be left out first."""
    column = columns[place]
    found = list(facts(column.mark))
    if column.rebuilt:
        found[0] = (("strong", f"step {column.label}"), ("faint", " rebuilt from the messages"))
    if slot is not None and slot.folded > 1:
        first, last = columns[slot.first].label, columns[slot.last].label
        found.insert(1, (("muted", f"largest of {first} to {last}"),))
    after = 3 if column.mark.turn else 2
    told = {Mode.COST: _cost(column), Mode.CACHE: _cache(column), Mode.TIME: _time(column)}
    own = told.pop(mode, ())
    if own:
        found.insert(after, own)
    found += [fact for fact in (_boundary(columns, place), _grown(column), _ghost(column)) if fact]
    return (*found, *(fact for fact in told.values() if fact))


def _boundary(columns: Sequence[Column], place: int) -> Spans:
    if not columns[place].mark.boundary:
        return ()
    before, after = boundary_sizes(columns, place)
    if before is None:
        return ()
    words = "not measured yet" if after is None else kilo(after)
    return (("muted", "measured before "), ("text", kilo(before)), ("muted", " -> after "), ("text", words))


def _grown(column: Column) -> Spans:
    grown = None if column.share is None else column.share.grown
    if grown is None or not grown.words or column.mark.summary:
        return ()
    return (
        ("muted", "most by "),
        ("text", f"{grown.letter} {one_line(grown.words, limit=40)} "),
        *_rough(grown.tokens),
    )


def _rough(tokens: int) -> Spans:
    return (("text", f"~{signed(tokens)}"),)


def _ghost(column: Column) -> Spans:
    share = column.share
    if share is None or not share.cleared:
        return ()
    size: Span = ("text", f":~{kilo(share.ghost)}")
    return (("muted", "not sent "), size, ("muted", f" of {plural(share.cleared, 'result')}"))


def _cost(column: Column) -> Spans:
    return () if column.cost is None else (("muted", "cost "), ("text", money(column.cost)))


def _cache(column: Column) -> Spans:
    sent = column.read + column.new
    if not sent:
        return ()
    percent = (200 * column.read + sent) // (2 * sent)
    return (("muted", "cached "), ("text", f"{kilo(column.read)} of {kilo(sent)} {percent}%"))


def _time(column: Column) -> Spans:
    if column.ms is None:
        return ()
    waited = "" if column.wait_ms is None else f", first token {seconds(column.wait_ms)}"
    return (("muted", "took "), ("text", f"{seconds(column.ms)}{waited}"))


def header(columns: Sequence[Column]) -> tuple[str, str]:
    """What stands left and right of the newest boundary's line: `archived (kept) T1-T7 154.7k`, `live window
    T8-T12`. The first is empty where nothing is archived."""
    archived = [c for c in columns if not c.mark.live]
    live = [c for c in columns if c.mark.live]
    left = ""
    if archived:
        sizes = [c.mark.count for c in archived if not c.mark.summary]
        left = f"archived (kept) {_turns(archived)}{kilo(sizes[-1]) if sizes else ''}".rstrip()
    return left, f"live window {_turns(live)}".rstrip()


def _turns(columns: Sequence[Column]) -> str:
    found = [c.mark.turn for c in columns if c.mark.turn]
    if not found:
        return ""
    return f"T{found[0]} " if found[0] == found[-1] else f"T{found[0]}-T{found[-1]} "


def table_row(column: Column) -> tuple[str, ...]:
    """The cells of a column under `HEADS`; empty: not known, or not for this kind of step."""
    mark = column.mark
    rough = "" if mark.basis is Basis.MEASURED else "~"
    sent = column.read + column.new
    state = "summary" if mark.summary else column.state
    return (
        column.label,
        f"T{mark.turn}" if mark.turn else "",
        " ".join(f"{event.letter} {one_line(event.words, limit=44)}" for event in mark.events),
        f"{rough}{mark.count:,}",
        "" if mark.percent is None or mark.summary else str(mark.percent),
        "" if mark.grew is None else f"{mark.grew:+,}",
        f"{column.read:,}" if sent else "",
        f"{column.new:,}" if sent else "",
        "" if column.cost is None else money(column.cost),
        "" if column.ms is None else seconds(column.ms),
        state if mark.live else f"{state}, kept",
    )


def texts_of(entries: Iterable[Entry]) -> dict[str, str]:
    """What was said around a step, in lower case, by the id of its message: its own texts, calls and results,
    and the user's words that came before it."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    for entry in entries:
        words = [_text(part) for part in entry.parts if isinstance(part, (TextPart, ToolPart))]
        if entry.user:
            waiting += words
        else:
            found[entry.id] = "\n".join([*waiting, *words]).lower()
            waiting = []
    return found


def _text(part: TextPart | ToolPart) -> str:
    if isinstance(part, TextPart):
        return part.text
    state = part.state
    said = state.output if isinstance(state, Completed) else state.error if isinstance(state, Failed) else ""
    return f"{part.tool} {canonical(state.input).decode()} {said}"


def search(columns: Sequence[Column], texts: Mapping[str, str], words: str) -> tuple[int, ...]:
    """Places of the steps whose texts or events hold all the words, in any case."""
    wanted = words.lower().split()
    if not wanted:
        return ()

    def holds(column: Column) -> bool:
        events = " ".join(event.words for event in column.mark.events).lower()
        held = f"{texts.get(column.mark.message_id or '', '')} {events}"
        return all(word in held for word in wanted)

    return tuple(place for place, column in enumerate(columns) if holds(column))


def place_of_label(columns: Sequence[Column], number: int) -> int:
    """The place of a step's number: of the ledger's own, else of a rebuilt one, else the nearest below."""
    own = [place for place, c in enumerate(columns) if not c.rebuilt and c.mark.step <= number]
    exact = own and columns[own[-1]].mark.step == number
    if exact or not any(c.rebuilt for c in columns):
        return own[-1] if own else 0
    return max((place for place, c in enumerate(columns) if c.rebuilt and c.mark.step <= number), default=0)
