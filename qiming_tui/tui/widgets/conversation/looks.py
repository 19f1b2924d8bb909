"""The styles of the conversation, taken from the stylesheet once per theme, and its signs."""

from collections.abc import Mapping
from typing import Final

from rich.style import Style

from qiming_tui.tui.glyphs import Glyphs

TONES: Final = ("code", "add-row", "remove-row", "found", "new", "selected")
"""Names whose background is what matters."""

CHIPS: Final = ("chip-Z", "chip-U", "chip-A", "chip-R", "chip-none")
"""A letter on its class's colour, mixed into the page."""

INKS: Final = (
    "text",
    "muted",
    "faint",
    "key",
    "turn",
    "quote",
    "inline-code",
    "link",
    "success",
    "warning",
    "error",
    "limit",
    "add",
    "remove",
    "rule",
    "keyword",
    "function",
    "builtin",
    "string",
    "number",
    "comment",
)
"""Names whose foreground is what matters."""

PREFIX: Final = "conversation--"
NAMES: Final = frozenset(f"{PREFIX}{name}" for name in (*TONES, *CHIPS, *INKS))
"""The component classes."""

BOLD: Final = Style(bold=True)
ITALIC: Final = Style(italic=True)
STRIKE: Final = Style(strike=True)
REVERSE: Final = Style(reverse=True)


class Looks:
    """Styles by name; `plain` says that colours are not to be seen, so that words must do."""

    def __init__(self, styles: Mapping[str, Style], glyphs: Glyphs, *, plain: bool, compact: bool) -> None:
        self.glyphs = glyphs
        self.plain = plain
        self.compact = compact
        """A small screen: no blank rows around boundaries, no rows of hints."""
        self._ink = {name: _ink(styles[name]) for name in INKS}
        self._tone = {name: Style(bgcolor=styles[name].bgcolor) for name in TONES}
        self._whole = {name: styles[name] for name in (*TONES, *CHIPS)}
        self._key = (
            glyphs,
            plain,
            compact,
            tuple(sorted((name, str(style)) for name, style in styles.items())),
        )

    def same(self, other: "Looks") -> bool:
        """Whether everything is drawn alike."""
        return self._key == other._key

    def ink(self, name: str) -> Style:
        """Foreground and text attributes of a name."""
        return self._ink[name]

    def tone(self, name: str) -> Style:
        """Background of a name."""
        return self._tone[name]

    def whole(self, name: str) -> Style:
        """Foreground and background of a name."""
        return self._whole[name]

    def chip(self, letter: str) -> Style:
        """The chip of a class letter; letters without a colour of their own look like "not sent"."""
        if self.plain:
            return self._ink["text"] if f"chip-{letter}" in self._whole else self._ink["faint"]
        return self._whole.get(f"chip-{letter}", self._whole["chip-none"])


def _ink(style: Style) -> Style:
    return Style(
        color=style.color,
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
    )
