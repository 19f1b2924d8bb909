"""The dry run of an edit: how the next request would differ, item by item, before anything is applied."""

from collections.abc import Mapping, Sequence

import msgspec

from qiming_tui.context.facts import handle_of
from qiming_tui.context.figures import kilo, plural
from qiming_tui.context.health import Health
from qiming_tui.context.price import EditPrice
from qiming_tui.context.strip import turns_of
from qiming_tui.context.summary import SummaryRequest
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.window import ContextView, Item, Klass


class DiffRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the difference; tokens by our count."""

    sign: str
    """+ added, - taken out, ~ changed."""
    klass: str
    words: str
    before: int = 0
    after: int = 0


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """An edit with its price, not made yet."""

    title: str
    rows: tuple[DiffRow, ...]
    price: EditPrice
    notes: tuple[str, ...] = ()
    """What else is to be known, a sentence each."""
    health: Health | None = None
    """Of the request as it would be; None: it is not known before the summary is written."""


def names_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Words for every part and message, with its turn: a call by its subject, a text by its first words."""
    turns = turns_of(entries)
    found: dict[str, str] = {}
    for entry in entries:
        turn = f"T{turns[entry.id]}" if turns[entry.id] else ""
        said = f"{turn} {'you' if entry.user else 'assistant'}: {_begin(entry.text)}"
        found[entry.id] = said.strip()
        for part in entry.parts:
            if isinstance(part, ToolPart):
                found[part.id] = f"{turn} {part.tool} {handle_of(part)}".strip()
            else:
                found[part.id] = found[entry.id]
    return found


def _begin(text: str) -> str:
    return " ".join(text[:200].split())[:80]


def difference(before: ContextView, after: ContextView, names: Mapping[str, str]) -> tuple[DiffRow, ...]:
    """What changes from one request to another, in the order of the request."""
    old = {item.key: item for item in before.items}
    new = {item.key: item for item in after.items}
    rows = []
    for item in before.items:
        other = new.get(item.key)
        if other is None:
            rows.append(_row("-", item, names, before=item.tokens))
        elif other.blob != item.blob:
            rows.append(_row("~", other, names, before=item.tokens, after=other.tokens))
    rows += [_row("+", i, names, after=i.tokens) for i in after.items if i.key not in old]
    return tuple(rows)


def _row(sign: str, item: Item, names: Mapping[str, str], *, before: int = 0, after: int = 0) -> DiffRow:
    words = names.get(item.part_id or "") or names.get(item.message_id or "") or item.source or item.key
    if item.key.startswith("pin:"):
        words = f"pinned: {words}"
    elif item.key.endswith(":call"):
        words = f"{words} (arguments)"
    return DiffRow(sign=sign, klass=item.klass.value, words=words, before=before, after=after)


def compaction(
    request: SummaryRequest, view: ContextView, entries: Sequence[Entry]
) -> tuple[tuple[DiffRow, ...], tuple[str, ...], ContextView]:
    """(rows, notes, the window as it would be) of a compaction whose summary is not written yet: it is taken
    to be as long as it may be."""
    gone = set(request.head_ids)
    turns = turns_of(entries)
    names = names_of(entries)
    sums: dict[int, int] = {}
    for item in view.items:
        if item.message_id in gone:
            turn = turns[item.message_id]
            sums[turn] = sums.get(turn, 0) + item.tokens
    firsts = {turns[e.id]: names[e.id] for e in reversed(entries) if e.real_user}
    rows = [
        DiffRow(sign="-", klass="U", words=firsts.get(turn, f"T{turn}"), before=tokens)
        for turn, tokens in sorted(sums.items())
    ]
    old = [item for item in view.items if item.klass is Klass.SUMMARY]
    rows += [DiffRow(sign="-", klass="Z", words="the summary before", before=i.tokens) for i in old]
    most = min(request.max_tokens, request.limit or request.max_tokens)
    rows.append(DiffRow(sign="+", klass="Z", words="summary, at most", after=most))
    drop = gone | {item.message_id for item in old}
    kept = tuple(item for item in view.items if item.message_id not in drop)
    after = msgspec.structs.replace(
        view, items=kept, total=sum(item.tokens for item in kept) + most, archived=tuple(request.head_ids)
    )
    stay = len({turns[i.message_id] for i in kept if i.message_id in turns})
    notes = (
        f"the summary is asked for in the form {request.form}: ~{kilo(request.tokens)} in, "
        f"at most {kilo(request.max_tokens)} out",
        f"{plural(len(gone), 'message')} archived (kept in the store), {plural(stay, 'turn')} word for word",
        *((request.note,) if request.note else ()),
    )
    return tuple(rows), notes, after
