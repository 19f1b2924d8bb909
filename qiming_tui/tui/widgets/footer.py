"""At most six keys, from the widget that has the focus; what does not fit goes, help stays (`ux.md` 3.1)."""

from typing import Final

import msgspec
from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from qiming_tui.tui.keys import display, place_of
from qiming_tui.tui.widgets.looks import look

MOST: Final = 6
WIDE: Final = 100
"""From so many columns on the gaps are three cells and not two."""


class Entry(msgspec.Struct, frozen=True):
    """A key and what it does."""

    key: str
    label: str
    press: str
    """Textual's name of the key, for a click."""

    @property
    def cells(self) -> int:
        """Width."""
        return cell_len(self.key) + 1 + cell_len(self.label)


def entries(screen: Screen[object]) -> tuple[Entry, ...]:
    """The shown keys: at most three of the focused widget, then the application's; each id once."""
    shown = [active for active in screen.active_bindings.values() if active.binding.show and active.enabled]
    own: dict[str, Entry] = {}
    others: dict[str, Entry] = {}
    for active in sorted(shown, key=lambda one: place_of(one.binding)):
        place = own if active.node is screen.focused else others
        place.setdefault(active.binding.id or active.binding.action, _entry(active.binding))
    first, rest = list(own.values()), list(others.values())
    if len(rest) > MOST - 3:  # a demo's keys are among them: help stays
        rest = [*rest[: MOST - 4], others.get("help", rest[-1])]
    chosen = first[:3] + rest + first[3:]
    return tuple(chosen[:MOST])


def _entry(binding: Binding) -> Entry:
    return Entry(binding.key_display or display(binding.key), binding.description, binding.key)


def fitting(found: tuple[Entry, ...], *, width_cells: int, gap_cells: int) -> tuple[Entry, ...]:
    """As many as fit: the one before the last goes first, so that the last (help) stays."""
    kept = list(found)
    while len(kept) > 1 and sum(one.cells for one in kept) + gap_cells * (len(kept) - 1) > width_cells:
        del kept[-2]
    return tuple(kept)


class Footer(Widget):
    """One row, every entry a button."""

    COMPONENT_CLASSES = {"footer--key", "footer--label"}
    shown: reactive[tuple[Entry, ...]] = reactive(())
    said: reactive[str] = reactive("")
    """Stands at the right end where there is room: how a demo plays."""

    def on_mount(self) -> None:
        """Follow the focus and the keymap."""
        self.screen.bindings_updated_signal.subscribe(self, self._update)
        self._update(self.screen)

    def _update(self, screen: Screen[object]) -> None:
        self.shown = entries(screen)

    def render(self) -> Content:
        """The entries."""
        gap = 3 if self.size.width >= WIDE - 2 else 2
        parts: list[Content | str] = []
        for one in fitting(self.shown, width_cells=self.size.width, gap_cells=gap):
            click = Style.from_meta({"press": one.press})
            key = look(self, "footer--key")
            label = look(self, "footer--label")
            parts += [" " * gap] if parts else []
            parts.append(Content.assemble((f"{one.key} ", key), (one.label, label)).stylize(click))
        row = Content.assemble(*parts)
        room = self.size.width - row.cell_length - cell_len(self.said)
        if not self.said or room < gap:
            return row
        return Content.assemble(row, " " * room, (self.said, look(self, "footer--label")))

    def on_click(self, event: events.Click) -> None:
        """Press the key of the entry."""
        event.stop()
        key = event.style.meta.get("press")
        if isinstance(key, str):
            self.app.simulate_key(key)
