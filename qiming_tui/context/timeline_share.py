"""What a stored request is made of, class by class, and what of it is no longer sent (`ux.md` 5.6).

Requests are taken in order, so that a result which was cleared is known by the size it had when it was sent.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from qiming_tui.model.ledger import ManifestRow, RequestRow
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import ItemState, Klass

_LETTERS: Final = {
    Klass.SYSTEM: 0,
    Klass.TOOL: 0,
    Klass.MEMORY: 0,
    Klass.SUMMARY: 1,
    Klass.USER: 2,
    Klass.ASSISTANT: 3,
    Klass.RESULT: 4,
}
_GHOST: Final = 5
_CLEARED: Final = 6
_NOTHING: Final = (0,) * 7

Sums = tuple[int, ...]


class Grown(msgspec.Struct, frozen=True):
    """The largest item that a request has and the one before had not."""

    tokens: int
    letter: str
    words: str


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one request by class, as we count them."""

    fixed: int = 0
    """System prompt, tool schemas and memory files: the prefix that every request has."""
    summary: int = 0
    user: int = 0
    assistant: int = 0
    results: int = 0
    ghost: int = 0
    """What results weighed when they were sent, less what stands for them now."""
    cleared: int = 0
    """How many results are cleared."""
    grown: Grown | None = None

    @property
    def total(self) -> int:
        """The request."""
        return self.fixed + self.summary + self.user + self.assistant + self.results


class Weigher:
    """Takes the manifests of one session in order; of each only what differs from the one before is read."""

    def __init__(self) -> None:
        self._rows: tuple[ManifestRow, ...] = ()
        self._sums: list[Sums] = [_NOTHING]
        self._sizes: dict[str, int] = {}
        self._keys: frozenset[str] = frozenset()

    def take(self, rows: tuple[ManifestRow, ...]) -> Share:
        """The next request."""
        same = _common(self._rows, rows)
        old = {row.key for row in self._rows[same:]}
        sums = self._sums[: same + 1]
        grown: Grown | None = None
        for row in rows[same:]:
            sums.append(self._add(sums[-1], row))
            if row.key not in old and (grown is None or row.tokens > grown.tokens):
                grown = Grown(row.tokens, row.klass.value, row.source)
        first = not self._rows
        self._rows, self._sums = rows, sums
        fixed, summary, user, assistant, results, ghost, cleared = sums[-1]
        return Share(
            fixed=fixed,
            summary=summary,
            user=user,
            assistant=assistant,
            results=results,
            ghost=ghost,
            cleared=cleared,
            grown=None if first else grown,
        )

    def _add(self, sums: Sums, row: ManifestRow) -> Sums:
        found = list(sums)
        found[_LETTERS[row.klass]] += row.tokens
        if row.state is ItemState.CLEARED:
            found[_GHOST] += max(0, self._sizes.get(row.key, row.tokens) - row.tokens)
            found[_CLEARED] += 1
        elif row.klass is Klass.RESULT:
            self._sizes[row.key] = row.tokens
        return tuple(found)


def shares_of(rows: Iterable[RequestRow]) -> dict[str, Share]:
    """By request id; of turn requests only, in their order."""
    weigher = Weigher()
    turns = (row for row in rows if row.kind is RequestKind.TURN and row.manifest)
    return {row.id: weigher.take(row.manifest) for row in turns}


def _common(old: tuple[ManifestRow, ...], new: tuple[ManifestRow, ...]) -> int:
    """How many rows both begin with. Equal halves are compared whole, which costs next to nothing where the
    rows are the same values."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
