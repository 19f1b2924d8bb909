"""The colours of the columns: classes by the theme, archived and even turns mixed into the page."""

from collections.abc import Mapping
from typing import Final

from rich.style import Style
from textual.color import Color

Ink = tuple[str, str, str]
"""Name of the sign's colour, name of the cell's, tone. A name is a band's letter, `on-` and a letter for a
letter on it, a variable of the theme, or empty for the page."""

_NAMES: Final = {
    **{letter: f"seg-{letter}" for letter in "SZUAR"},
    "?": "seg-drift",
    "$": "secondary",
    "=": "secondary",
    "+": "seg-R",
    "w": "seg-drift",
    "a": "seg-A",
}
_ON: Final = {"?": "on-drift", "$": "on-T", "=": "on-T", "+": "on-R", "w": "on-drift", "a": "on-A"}
ARCHIVED: Final = "archived"
EVEN: Final = "even"
PLAIN: Final = ""
GHOST_TONE: Final = 0.07
"""How much of the drift's grey is in the ground of a ghost."""


class Inks:
    """Styles by ink, made once for a theme."""

    def __init__(self, variables: Mapping[str, str], *, dark: bool) -> None:
        self._variables = variables
        self._mixed = {ARCHIVED: 0.58 if dark else 0.50, EVEN: 0.13, PLAIN: 0.0}
        self._page = Color.parse(variables["background"])
        self._styles: dict[Ink, Style] = {}

    def style(self, ink: Ink) -> Style:
        """The style of a cell."""
        found = self._styles.get(ink)
        if found is None:
            sign, ground, tone = ink
            found = self._styles[ink] = Style(
                color=self._colour(sign or "foreground", tone).rich_color,
                bgcolor=self._colour(ground, tone).rich_color,
                bold=sign.startswith("on-") or None,
            )
        return found

    def _colour(self, name: str, tone: str) -> Color:
        if not name:
            return self._page
        if name == ":":
            return self._page.blend(Color.parse(self._variables["seg-drift"]), GHOST_TONE)
        if name.startswith("on-"):
            return Color.parse(self._variables[_ON.get(name[3:], name)])
        colour = Color.parse(self._variables[_NAMES.get(name, name)])
        return colour.blend(self._page, self._mixed[tone] if name in _NAMES else 0.0)
