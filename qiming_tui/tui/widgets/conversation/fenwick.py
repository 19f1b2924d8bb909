"""Heights of blocks and their running sums: which block holds line y, in O(log n)."""

from collections.abc import Iterable


class Fenwick:
    """A binary indexed tree over non-negative integers."""

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._tree = [0]
        self.total = 0
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return len(self._tree) - 1

    def append(self, value: int) -> None:
        """Add one more value at the end."""
        at = len(self._tree)
        low = at - (at & -at)
        self._tree.append(self.prefix(at - 1) - self.prefix(low) + value)
        self.total += value

    def add(self, index: int, change: int) -> None:
        """Add to the value at `index` (from 0)."""
        self.total += change
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def prefix(self, count: int) -> int:
        """Sum of the first `count` values."""
        total = 0
        while count > 0:
            total += self._tree[count]
            count -= count & -count
        return total

    def find(self, y: int) -> tuple[int, int]:
        """Index of the value that holds unit `y`, and the offset inside it; beyond the end: (len, rest)."""
        at = 0
        step = 1 << len(self).bit_length()
        while step:
            after = at + step
            if after < len(self._tree) and self._tree[after] <= y:
                at = after
                y -= self._tree[after]
            step >>= 1
        return at, y
