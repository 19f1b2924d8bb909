"""Where a text is in the conversation."""

from collections.abc import Iterator, Sequence

from qiming_tui.tui.widgets.conversation.lines import Line


def spans(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Every place of a needle in a text, letter case aside, as start and end."""
    low, wanted = text.lower(), needle.lower()
    if not wanted or len(low) != len(text):
        return
    at = low.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = low.find(wanted, at + len(wanted))


class Finder:
    """A needle and the blocks that hold it."""

    def __init__(self, needle: str = "") -> None:
        self.needle = needle
        self._places: list[int] = []
        self._at = -1
        """The block that was shown last."""

    def look(self, texts: Sequence[str]) -> int:
        """Search the blocks' texts; how often the needle is in them."""
        self._places = []
        total = 0
        wanted = self.needle.lower()
        if not wanted:
            return 0
        for place, text in enumerate(texts):
            found = text.lower().count(wanted)
            if found:
                self._places.append(place)
                total += found
        return total

    def up_to(self, place: int) -> int:
        """The last block with it that is not below `place`, else the first one. Only after a `look` that
        found something."""
        above = [found for found in self._places if found <= place]
        self._at = above[-1] if above else self._places[0]
        return self._at

    def step(self, step: int) -> int:
        """The next block with it (1), or the one before (-1), around the ends."""
        if step > 0:
            self._at = next((place for place in self._places if place > self._at), self._places[0])
        else:
            below = [place for place in self._places if place < self._at]
            self._at = below[-1] if below else self._places[-1]
        return self._at

    def row_in(self, lines: Sequence[Line]) -> int | None:
        """The first row of a block that shows it."""
        return next((row for row, line in enumerate(lines) if any(spans(line.text, self.needle))), None)
