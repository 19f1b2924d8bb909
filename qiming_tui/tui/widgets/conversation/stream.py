"""A text that is still being written, as rows: what is finished is rendered once, the rest at every flush.

A top-level piece is finished when the next one has begun. Open fences and long lists, which are one piece
each, are finished line by line and item by item. What would flicker is held back until its line is whole: the
marks of a fence, the rows of a table (cases C-118). At the end the whole text is rendered once more, with its
reference links and its code in full colours.
"""

import re
from typing import Final

from rich.segment import Segment

from qiming_tui.context.tokens import script_estimate
from qiming_tui.model.sanitize import Cleaner
from qiming_tui.tui.widgets.conversation.engine import Composed, Engine
from qiming_tui.tui.widgets.conversation.lines import BLANK, Line, Rendered, flow, parted
from qiming_tui.tui.widgets.conversation.looks import Looks

FENCE_LINES: Final = 20
"""An open fence with more lines is finished line by line."""
LIST_ITEMS: Final = 40
"""A list with more items is finished item by item."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_HELD: Final = re.compile(r"\s*(?:`{1,2}|(?:```|~~~)[^`\n]*|~{1,2}|[-*_=+#>]{1,6}|\d{1,9}[.)]?|\|.*)\Z")
"""An unfinished line that may yet become something else."""


class _Fence:
    """An open fence that is finished line by line."""

    def __init__(self, *, start: int, at: int, mark: str, language: str, row: int) -> None:
        self.start = start
        """Where it begins in the source."""
        self.at = at
        """Up to where its lines are finished."""
        self.mark = mark
        self.language = language
        self.row = row
        """Its first row."""

    def closes(self, line: str) -> bool:
        """Whether a line ends it."""
        text = line.strip()
        return len(text) >= len(self.mark) and not text.strip(self.mark[0]) and text[:1] == self.mark[0]


class Stream:
    """The growing text and its rows."""

    def __init__(self, text: str = "") -> None:
        self.source = text
        self._cleaner = Cleaner()
        self.lines: list[Line] = []
        self.pieces: list[str] = []
        """Sources of the finished pieces."""
        self.cost_row = 0
        self.rough = script_estimate(text)
        """Tokens so far, roughly."""
        self._weighed = len(text)
        self._fixed = 0
        self._done = 0
        self._before: str | None = None
        """Type of the last finished piece; None: none, or a list that goes on."""
        self._loose = False
        """Whether a list that was finished item by item turned out to be set with blank rows."""
        self._fence: _Fence | None = None

    def feed(self, text: str) -> None:
        """More text, as it comes from outside."""
        self.source += self._cleaner.feed(text)
        if len(self.source) - self._weighed > max(200, self._weighed // 10):
            self.rough = script_estimate(self.source)
            self._weighed = len(self.source)

    def restart(self) -> None:
        """Forget all rows: another width or theme."""
        self.lines = []
        self.pieces = []
        self.cost_row = self._fixed = self._done = 0
        self._before = None
        self._loose = False
        self._fence = None

    def flush(self, engine: Engine | None, *, width: int, looks: Looks, gutter: Segment) -> int:
        """Bring the rows up to date; the first row that changed."""
        first = self._fixed
        del self.lines[first:]
        if engine is None:
            prefix = (gutter,)
            runs = [(self.source, looks.ink("text"))]
            self.lines += flow(runs, width=width, first=prefix, rest=prefix, piece=0)
            return first
        write = _Writer(engine, width, looks, gutter)
        if self._fence is not None:
            first = min(first, self._grow_fence(write, self._fence))
        if self._fence is None:
            self._tail(write)
        return first

    def seal(self, engine: Engine, *, width: int, looks: Looks, gutter: Segment) -> Rendered | None:
        """The rows of the complete text, made from what is finished already; None where the whole has to be
        rendered at once: it defines links for what stands above, or a long list is set loosely."""
        if self._loose or "]:" in self.source:
            return None
        self.flush(engine, width=width, looks=looks, gutter=gutter)
        if self._fence is not None or self._loose:
            return None
        del self.lines[self._fixed :]
        write = _Writer(engine, width, looks, gutter)
        base = self._done
        for piece in write.compose(self.source[base:]):
            self._commit(write, piece, base)
        if self._loose:
            return None
        if len(self.pieces) > 1:
            self.lines.append(BLANK)
        return Rendered(self.lines or [BLANK], self.cost_row, tuple(self.pieces))

    def _tail(self, write: "_Writer") -> None:
        tail = self.source[self._done :]
        pieces = write.compose(tail[: shown_until(tail)])
        base = self._done
        for piece in pieces[:-1]:
            self._commit(write, piece, base)
        if not pieces:
            return
        last = pieces[-1]
        self._done = base + last.start
        if last.kind == "fence" and self._open_fence(write):
            return
        if len(last.items) > LIST_ITEMS:
            self._cut_list(write, base + last.items[-1])
            return
        self._add(write, last)

    def _add(self, write: "_Writer", piece: Composed) -> None:
        """Rows that may still change, after a blank one where that is due."""
        self._part(piece.kind)
        self.lines += write.placed(piece.lines, len(self.pieces))
        if not self.pieces:
            self.cost_row = max(0, len(self.lines) - 1)

    def _part(self, kind: str) -> None:
        if self._before is not None and parted(self._before, kind):
            self.lines.append(BLANK)

    def _commit(self, write: "_Writer", piece: Composed, base: int) -> None:
        if self._before is None and self.pieces:
            self._loose = self._loose or "\n\n" in self.source[base + piece.start : base + piece.end].strip()
        self._add(write, piece)
        self._finish(base + piece.start, base + piece.end, piece.kind)

    def _finish(self, start: int, end: int, kind: str | None) -> None:
        self.pieces.append(self.source[start:end].rstrip("\n"))
        self._fixed = len(self.lines)
        self._done = end
        self._before = kind

    def _cut_list(self, write: "_Writer", at: int) -> None:
        """Finish the items before the last; what follows goes on without a blank row."""
        start = self._done
        self._loose = self._loose or "\n\n" in self.source[start:at].strip()
        for piece in write.compose(self.source[start:at]):
            self._add(write, piece)
        self._finish(start, at, None)
        self._tail(write)

    def _open_fence(self, write: "_Writer") -> bool:
        """Go over to finishing line by line if the text ends in a long open fence."""
        found = _FENCE.match(self.source, self._done)
        if found is None or self.source.count("\n", self._done) <= FENCE_LINES:
            return False
        info = found[2].split()
        fence = _Fence(
            start=self._done,
            at=min(found.end() + 1, len(self.source)),
            mark=found[1],
            language=info[0] if info else "",
            row=len(self.lines),
        )
        if any(fence.closes(line) for line in self.source[fence.at :].split("\n")):
            return False
        self._part("fence")
        if not self.pieces:
            self.cost_row = len(self.lines)
        self._fixed = len(self.lines)
        self._fence = fence
        self._grow_fence(write, fence)
        return True

    def _grow_fence(self, write: "_Writer", fence: _Fence) -> int:
        """Add the finished lines of the fence, and the last one as it stands; the first row that changed."""
        changed = self._fixed
        end = self.source.rfind("\n") + 1
        batch = self.source[fence.at : end].split("\n")[:-1] if end > fence.at else []
        at = fence.at
        for line in batch:
            at += len(line) + 1
            if fence.closes(line):
                del self.lines[fence.row :]
                self._fence = None
                for piece in write.compose(self.source[fence.start : at]):
                    self._add(write, piece)
                self._finish(fence.start, at, "fence")
                return fence.row
        label = fence.at <= self.source.find("\n", fence.start) + 1
        number = len(self.pieces)
        if batch:
            rows = write.code("\n".join(batch), fence.language, label=label)
            self.lines += write.placed(rows, number)
            self._fixed = len(self.lines)
            fence.at = end
        rest = self.source[fence.at :]
        if rest and not _HELD.match(rest):
            self.lines += write.placed(write.code(rest, "", label=False), number)
        return changed


class _Writer:
    """The engine with all that does not change during a flush."""

    def __init__(self, engine: Engine, width: int, looks: Looks, gutter: Segment) -> None:
        self._engine = engine
        self._width = width
        self._looks = looks
        self._gutter = gutter

    def compose(self, text: str) -> list[Composed]:
        """The pieces of a text."""
        return self._engine.compose(text, width=self._width, looks=self._looks)

    def code(self, text: str, language: str, *, label: bool) -> list[Line]:
        """Rows of code."""
        return self._engine.code(text, language=language, width=self._width, looks=self._looks, label=label)

    def placed(self, lines: list[Line], piece: int) -> list[Line]:
        """Rows behind the gutter, as a piece."""
        gutter, size = self._gutter, len(self._gutter.text)
        return [
            line._replace(segments=(gutter, *line.segments), at=line.at + size, piece=piece) for line in lines
        ]


def shown_until(text: str) -> int:
    """How much of an unfinished text can be shown without taking something back later."""
    end = len(text)
    begin = text.rfind("\n") + 1
    if _HELD.match(text, begin):
        end = begin
    if end == begin and begin:
        before = text.rfind("\n", 0, begin - 1) + 1
        above = text.rfind("\n", 0, before - 1) + 1 if before else 0
        if _row(text[before:begin]) and not (before and _row(text[above:before])):
            return before
    return end


def _row(line: str) -> bool:
    return line.lstrip().startswith("|")
