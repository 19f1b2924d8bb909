"""From one request to the next: what was added, removed, changed; where the prompt cache breaks; who grew.

Works on the ledger's manifests alone; tokens by our count.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from qiming_tui.context.assemble import first_change
from qiming_tui.context.dryrun import DiffRow
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.window import ItemState


class RequestDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two requests, in the order of the newer one."""

    rows: tuple[DiffRow, ...]
    first: str | None
    """Key of the first item that the newer one sends differently: there the prompt cache breaks; None: the
    newer one only goes on."""
    place: int | None
    """Its place in the newer request, counted from 0."""
    same: int
    """Tokens before that place: the most that a prompt cache can serve."""
    again: int
    """Tokens of the older request behind that place that are sent again."""
    before: int
    after: int
    drivers: tuple[tuple[str, int], ...]
    """(source, tokens) of what was added, the largest first."""

    @property
    def grew(self) -> int:
        """Tokens more than before; negative where it shrank."""
        return self.after - self.before


def words_of(row: ManifestRow, names: Mapping[str, str]) -> str:
    """An item for people: its call, the beginning of its text, or its source."""
    words = names.get(row.part_id or "") or names.get(row.message_id or "") or row.source or row.key
    if row.key.startswith("pin:"):
        return f"pinned: {words}"
    return f"{words} (arguments)" if row.key.endswith(":call") else words


def compare(
    old: Sequence[ManifestRow], new: Sequence[ManifestRow], names: Mapping[str, str] | None = None
) -> RequestDiff:
    """The difference from `old` to `new`; `names`: words for parts and messages (`dryrun.names_of`)."""
    names = names or {}
    held = {row.key: row for row in old}
    there = {row.key: row for row in new}
    rows = [_gone(row, names) for row in old if row.key not in there]
    added: Counter[str] = Counter()
    for row in new:
        other = held.get(row.key)
        if other is None:
            rows.append(
                DiffRow(sign="+", klass=row.klass.value, words=words_of(row, names), after=row.tokens)
            )
            added[f"{row.klass.value} {words_of(row, names)}"] += row.tokens
        elif other.blob != row.blob or other.state is not row.state:
            rows.append(_changed(other, row, names))
    place = _place(old, new)
    again = sum(row.tokens for row in old[place:] if row.key in there) if place is not None else 0
    return RequestDiff(
        rows=tuple(rows),
        first=first_change(old, new),
        place=place,
        same=sum(row.tokens for row in new[: len(old) if place is None else place]),
        again=again,
        before=sum(row.tokens for row in old),
        after=sum(row.tokens for row in new),
        drivers=tuple(added.most_common(5)),
    )


def _gone(row: ManifestRow, names: Mapping[str, str]) -> DiffRow:
    return DiffRow(sign="-", klass=row.klass.value, words=words_of(row, names), before=row.tokens)


def _changed(old: ManifestRow, new: ManifestRow, names: Mapping[str, str]) -> DiffRow:
    words = words_of(new, names)
    if new.state is not old.state:
        words += f" ({new.state.value})" if new.state is not ItemState.SENT else " (in full again)"
    return DiffRow(sign="~", klass=new.klass.value, words=words, before=old.tokens, after=new.tokens)


def _place(old: Sequence[ManifestRow], new: Sequence[ManifestRow]) -> int | None:
    """Where the newer request stops being the older one; None: it only goes on."""
    for place, row in enumerate(old):
        if place >= len(new) or new[place].blob != row.blob or new[place].group != row.group:
            return place
    return None
