"""Apps without a terminal, as lines of text: every screen is looked at in the same sizes and looks.

async with frame(lambda: MyApp(), Look(size=(80, 24))) as held:
    assert held.lines()[0].startswith("...")
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from qiming_tui.tui.glyphs import Glyphs, glyphs
from qiming_tui.tui.theme import DARK, LIGHT, THEMES

STYLES = Path(__file__).parents[2] / "styles"
SIZES = ((80, 24), (120, 40), (200, 50), (60, 20), (40, 12))


@dataclass(frozen=True)
class Look:
    """One way in which a screen is looked at."""

    size: tuple[int, int] = (120, 40)
    no_color: bool = False
    glyphs: str = "full"
    theme: str = DARK
    zh: bool = False
    """Whether the data has Chinese titles and paths: up to the test."""

    def __str__(self) -> str:
        kinds = {"mono": self.no_color, "light": self.theme == LIGHT, "zh": self.zh}
        words = [f"{self.size[0]}x{self.size[1]}", *(name for name, on in kinds.items() if on)]
        return "-".join([*words, *([self.glyphs] if self.glyphs != "full" else [])])

    @property
    def glyph_set(self) -> Glyphs:
        """The set itself."""
        return glyphs(self.glyphs)


def looks(*sizes: tuple[int, int]) -> list[Look]:
    """Every size (all five, if none is named) in colour, NO_COLOR, ASCII, light and Chinese."""
    found = []
    for size in sizes or SIZES:
        plain = Look(size=size)
        others = (
            replace(plain, no_color=True),
            replace(plain, no_color=True, glyphs="ascii"),
            replace(plain, theme=LIGHT),
            replace(plain, zh=True),
        )
        found += [plain, *others]
    return found


class Bench(App[None]):
    """An app that holds nothing but the widgets under test, with the real themes and styles."""

    AUTO_FOCUS = ""

    def __init__(self, *widgets: Widget, styles: tuple[str, ...] = ("base", "context")) -> None:
        super().__init__(css_path=[STYLES / f"{name}.tcss" for name in styles])
        self._widgets = widgets
        self.heard: list[Any] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        """The widgets, from top to bottom."""
        yield from self._widgets


class Frame:
    """A running app; what it shows can be read at any time."""

    def __init__(self, app: App[Any], pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    def lines(self) -> list[str]:
        """The screen as it is painted now, one text per row, with the filters (NO_COLOR) applied."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        """All rows, blanks at their ends left out."""
        return "\n".join(line.rstrip() for line in self.lines())

    def colours(self, y: int) -> list[tuple[str, str | None, str | None]]:
        """(text, colour, background) of the spans of a row, as a terminal gets them."""
        strip = self.app.screen._compositor.render_strips()[y]
        for each in self.app._filters:
            if each.enabled:
                strip = strip.apply_filter(each, self.app.screen.styles.background)
        out = []
        for text, style, _ in strip:
            named = (
                [c.get_truecolor().hex if c else None for c in (style.color, style.bgcolor)] if style else []
            )
            out.append((text, *(named or [None, None])))
        return out

    async def settle(self) -> None:
        """Until every message that waits has been dealt with."""
        await self.pilot.pause()

    async def wear(self, look: Look) -> None:
        """The same app in another size, theme and set of glyphs. NO_COLOR is read at its start only."""
        if (self.app.size.width, self.app.size.height) != look.size:
            await self.pilot.resize_terminal(*look.size)
        self.app.theme = look.theme
        for widget in self.app.screen.walk_children():
            if getattr(widget, "glyphs", look.glyph_set) != look.glyph_set:
                widget.glyphs = look.glyph_set
        await self.settle()
        await self.settle()


@contextmanager
def _environment(look: Look) -> Iterator[None]:
    """The variables that Textual reads at start. Textual takes NO_COLOR out itself."""
    held = {name: os.environ.pop(name, None) for name in ("NO_COLOR", "COLORTERM")}
    os.environ["COLORTERM"] = "truecolor"
    if look.no_color:
        os.environ["NO_COLOR"] = "1"
    try:
        yield
    finally:
        for name, value in held.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@asynccontextmanager
async def frame(make: Callable[[], App[Any]], look: Look) -> AsyncIterator[Frame]:
    """The app that `make` returns, running without a terminal, in a look. The app registers its themes."""
    with _environment(look):
        app = make()
    async with app.run_test(size=look.size) as pilot:
        app.theme = look.theme
        await pilot.pause()
        yield Frame(app, pilot)


PATIENCE = 20
"""So often a look that does not hold is looked at, each time after all that waited was dealt with."""
Check = Callable[[Frame, Look], Awaitable[None]]


async def each_look(make: Callable[[], App[Any]], check: Check, wanted: Iterable[Look] = ()) -> None:
    """One app in colour and one without, each shown in look after look: `check` looks at it."""
    held = list(wanted) or looks()
    for no_color in (False, True):
        group = [look for look in held if look.no_color is no_color]
        group.sort(key=lambda look: (look.theme, look.size, look.glyphs))  # what costs most changes least
        if not group:
            continue
        async with frame(make, group[0]) as shown:
            for look in group:
                await shown.wear(look)
                for left in reversed(range(PATIENCE)):
                    try:
                        await check(shown, look)
                        break
                    except AssertionError as error:
                        if not left:
                            error.add_note(f"in look {look}")
                            raise
                        await shown.settle()  # the last repaint may still be under way
