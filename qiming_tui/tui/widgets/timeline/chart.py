"""The timeline in full: columns, cursor, modes, zoom; a read-out in words (`ux.md` 5.6).

Painted by the line API. What a key changes is repainted as regions: two columns and the rows of words.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.strip_words import spoken
from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_cells import ruler
from qiming_tui.context.timeline_layout import Layout, fitting_zoom, laid_out, scrolled_to
from qiming_tui.context.timeline_modes import Axis, axis_of
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.spans import strip_of
from qiming_tui.tui.widgets.timeline.columns import Painted, Painter, kept
from qiming_tui.tui.widgets.timeline.ink import Inks
from qiming_tui.tui.widgets.timeline.moves import KEYS, Moves
from qiming_tui.tui.widgets.timeline.rows import (
    RULER,
    Scene,
    event_row,
    legend_row,
    readout_row,
    title_row,
    turn_row,
)

LEGEND_FROM: Final = 14
"""Rows from which on one explains the letters."""

_PREFIX: Final = "chart--"
_NAMES: Final = (
    *("rule", "key", "strong", "text", "muted", "faint", "warn", "line", "cursor", "match", "error"),
    *("limit", "limit-cursor", "event", "event-cursor", "error-cursor"),
)


class TimelineChart(Moves, Widget, can_focus=True):
    """As high as it is made; at least the words when there is no room for columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + name for name in _NAMES}
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    glyphs: reactive[Glyphs] = reactive(FULL)

    class Jump(Message):
        """The conversation is to show this step."""

        def __init__(self, column: Column) -> None:
            super().__init__()
            self.column = column

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[Column, ...] = ()
        self.painter = Painter()
        self._inks: Inks | None = None
        self._base: tuple[tuple[object, ...], Layout] | None = None
        self._held: tuple[int, Layout] | None = None
        self._axis: tuple[tuple[object, ...], Axis] | None = None
        self._labels: tuple[object, frozenset[int]] | None = None
        self._drawn: tuple[Layout, int, list[Painted]] | None = None
        self._figures: dict[int, str] = {}
        self._start = 0

    # -- what is shown ----------------------------------------------------------------------------------

    def show(self, columns: Sequence[Column]) -> None:
        """Show other columns. The cursor follows the newest, or stays on the step that it was put on."""
        before = self.scene() if self.columns and self.is_attached else None
        self.columns = kept(self.columns, tuple(columns))
        self.fit()
        if self.place is not None and self.place >= len(self.columns):
            self.place = None
        self.changed(before)

    def bars(self) -> int:
        """Rows of the columns."""
        return max(0, self.size.height - 4 - (self.size.height >= LEGEND_FROM))

    def held(self) -> Layout:
        """Where the steps stand; keeps its place as long as the cursor stays inside."""
        key = (self.columns, self.zoom, self.size.width, self.live)
        if self._base is None or not _same(self._base[0], key):
            room = max(1, self.size.width - RULER)
            self._base = (key, laid_out(self.columns, zoom=self.zoom, room=room, live=self.live))
            self._held = None
        if self._held is None or self._held[0] != self.cursor:
            held = scrolled_to(self._base[1], cursor=max(0, self.cursor), start=self._start)
            self._start = held.start
            self._held = (self.cursor, held)
        return self._held[1]

    def axis(self) -> Axis:
        """What the height stands for."""
        key = (self.columns, self.mode)
        if self._axis is None or not _same(self._axis[0], key):
            self._axis = (key, axis_of(self.columns, self.mode))
        return self._axis[1]

    def scene(self) -> Scene:
        """Everything that the rows of words are made of."""
        return Scene(
            columns=self.columns,
            held=self.held(),
            cursor=self.cursor,
            mode=self.mode,
            zoom=self.zoom,
            follow=self.place is None,
            live=self.live,
            glyphs=self.glyphs,
            width=self.size.width,
            focused=self.has_focus,
            letters=self.letters,
            going=self.going,
            found=self.found,
        )

    @property
    def letters(self) -> bool:
        """Whether bands are letters, because colours are not there or not wanted."""
        return self.glyphs.letters or self.app.no_color

    def changed(self, before: Scene | None) -> None:
        """Something of the scene is another: repaint the columns that are, and the words."""
        if not self.is_attached or self.size.width <= 0:
            return
        now = self.scene()
        same = before is not None and _ground(before) == _ground(now) and before.columns is self.columns
        if before is None or not same:
            self.refresh()
            return
        width, bars = self.size.width, self.bars()
        regions = [Region(0, 0, width, 1), Region(0, 1 + bars, width, self.size.height - 1 - bars)]
        for place in {before.cursor, now.cursor} - {-1}:
            left, right = now.held.span(now.held.slot_of(place))
            regions.append(Region(RULER + left, 1, right - left, bars))
        self.refresh(*regions)

    def on_resize(self) -> None:
        """Until somebody zooms, the columns are as wide as lets all of them be seen."""
        self.fit()

    def fit(self) -> None:
        """The zoom for this many steps and this much room, unless one was chosen."""
        if not self.zoomed and self.size.width > RULER:
            self.zoom = fitting_zoom(len(self.columns), room=self.size.width - RULER)

    def watch_glyphs(self) -> None:
        """Other signs: all anew."""
        self._labels = None

    def notify_style_update(self) -> None:
        """Another theme: other colours."""
        super().notify_style_update()
        self._inks = None

    def bell(self) -> None:
        """There is nothing to go to."""
        self.app.bell()

    # -- painting ---------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One row."""
        width, bars = self.size.width, self.bars()
        if 0 < y <= bars:
            return self._bar_line(bars - y, bars)
        scene = self.scene()
        rows = (turn_row, event_row, readout_row, legend_row)
        row: Spans = title_row(scene) if y == 0 else ()
        if bars < y <= bars + len(rows):
            row = rows[y - bars - 1](scene)
        return strip_of(row, width, self._style)

    def _bar_line(self, row: int, bars: int) -> Strip:
        """A row of the columns, counted from the bottom."""
        held, painted = self._drawn_columns(bars)
        axis = self.painter.axis
        figure = self._figures.get(row, "")
        limit = figure and axis.threshold is not None and figure == axis.figure(axis.threshold)
        segments = [Segment(f"{figure:>{RULER - 1}} ", self._style("limit" if limit else "faint"))]
        for column in painted:
            segments += column[row]
        strip = Strip(segments)
        shown = held.shown()
        if shown and (over := max(0, -held.span(shown[0])[0])):  # the first column begins left of the screen
            strip = Strip.join([strip.crop(0, RULER), strip.crop(RULER + over)])
        free = self.size.width - strip.cell_length
        if free > 0:
            strip = Strip.join([strip, Strip([self.painter.page(free, row)])])
        return strip.crop(0, self.size.width)

    def _drawn_columns(self, bars: int) -> tuple[Layout, list[Painted]]:
        """The columns on the screen, painted; the same list for every row of a frame."""
        held = self.held()
        self.painter.prepare(
            self.columns, self.axis(), self.inks, rows=bars, glyphs=self.glyphs, letters=self.letters
        )
        if self._drawn is None or self._drawn[0] is not held or self._drawn[1] != self.painter.generation:
            labels = self._labelled(held)
            at = held.slot_of(self.cursor) if self.columns else -1
            painted = [
                self.painter.slot(held.slots[n], cursor=n == at, labelled=n in labels) for n in held.shown()
            ]
            self._drawn = (held, self.painter.generation, painted)
            self._figures = ruler(self.painter.axis, rows=bars)
        return held, self._drawn[2]

    def _labelled(self, held: Layout) -> frozenset[int]:
        key = (held.slots, self.painter.axis, self.painter.rows, self.letters)
        if self._labels is None or not _same(self._labels[0], key):
            self._labels = (key, self.painter.labelled(held))
        return self._labels[1]

    @property
    def inks(self) -> Inks:
        """The colours of the theme."""
        if self._inks is None:
            self._inks = Inks(self.app.theme_variables, dark=self.app.current_theme.dark)
        return self._inks

    def _style(self, name: str) -> Style:
        if name.startswith("band-"):
            letter = name[5:]
            if letter == ":":
                return self.inks.style(("faint", ":", ""))
            return self.inks.style((f"on-{letter}", letter, ""))
        return self.get_component_rich_style(_PREFIX + name) if name else self.rich_style

    # -- mouse ------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, one on the cursor jumps."""
        place = self._at(event)
        if place is None:
            return
        if place == self.cursor:
            self.action_jump()
        else:
            self.move(place)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The exact numbers of the step that the pointer is on."""
        place = self._at(event)
        self.tooltip = Content(spoken(self.columns[place].mark)) if place is not None else None

    def on_mouse_scroll_up(self) -> None:
        """The wheel goes through the steps."""
        self.action_step(-1)

    def on_mouse_scroll_down(self) -> None:
        """Likewise."""
        self.action_step(1)

    def _at(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or not 1 <= offset.y <= self.bars() + 2:
            return None
        return self.held().place_at(offset.x - RULER)


def _same(old: object, new: object) -> bool:
    """Equal, and long tuples by identity: to compare them would cost what it saves."""
    if not isinstance(old, tuple) or not isinstance(new, tuple):
        return False
    return all(a is b or (not isinstance(a, tuple) and a == b) for a, b in zip(old, new, strict=True))


def _ground(scene: Scene) -> tuple[object, ...]:
    """What all columns depend on."""
    held = scene.held
    return (held.start, held.total, held.room, scene.mode, scene.zoom, scene.live, scene.glyphs)
