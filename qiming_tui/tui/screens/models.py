"""The picker of models: limits, who says so, price, and whether this session fits."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.figures import plural
from qiming_tui.model.limits import ModelRef
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.model_rows import ModelLine, detail_rows, head_row, model_row, rows_of
from qiming_tui.tui.picking import Row
from qiming_tui.tui.screens.picker import Picker, picking


class ModelsScreen(Picker[ModelRef]):
    """Dismissed with the model to go on with; None: stay. `used` is the session's."""

    heading = "Models"
    hint = "provider and name"

    BINDINGS: ClassVar[list[BindingType]] = picking(take="use")

    def __init__(
        self,
        lines: Sequence[ModelLine],
        *,
        used: ModelRef | None,
        glyphs: Glyphs = FULL,
        words: str = "",
    ) -> None:
        super().__init__(glyphs=glyphs, words=words)
        self._lines = {line.key: line for line in lines}
        self._used = "" if used is None else str(used)

    def rows(self, words: Sequence[str]) -> tuple[Row, ...]:
        """In groups, as they came."""
        return rows_of(tuple(self._lines.values()), words)

    def paint(self, row: Row, width: int, chosen: bool) -> Spans:
        """A heading or a model."""
        if row.head:
            first = bool(self.list.items) and self.list.items[0] is row
            return head_row(row.head, width, self.glyphs, first=first)
        line = self._lines[row.key]
        return model_row(line, self.words, width, self.glyphs, now=row.key == self._used, chosen=chosen)

    def about(self, key: str, width: int) -> tuple[Spans, ...]:
        """Name and fit, limits with their origin, price."""
        return detail_rows(self._lines[key], width, self.glyphs)

    def summary(self) -> str:
        """How many there are."""
        return plural(len(self._lines), "model")

    def on_mount(self) -> None:
        """The model in use is chosen first."""
        self.show(self._used)

    def take(self, key: str) -> None:
        """Use it."""
        self.dismiss(self._lines[key].info.ref)
