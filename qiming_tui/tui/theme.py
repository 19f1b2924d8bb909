"""The two themes: every colour of the screen stands here, looks refer to them by name.

Segment colours only ever fill cells; the `on-*` colours are for the letters drawn on them.
"""

from typing import Final

from textual.theme import Theme

DARK: Final = "qiming-dark"
LIGHT: Final = "qiming-light"

INK: Final = "#0B0D11"
PAPER: Final = "#FFFFFF"

SEGMENTS_DARK: Final = {
    "S": ("#0072B2", PAPER),
    "T": ("#56B4E9", INK),
    "M": ("#009E73", INK),
    "Z": ("#D55E00", INK),
    "U": ("#F0E442", INK),
    "A": ("#CC79A7", INK),
    "R": ("#E69F00", INK),
}
"""Class letter -> colour of its cells, colour of a letter on them."""

SEGMENTS_LIGHT: Final = {
    "S": ("#0B6CB0", PAPER),
    "T": ("#3D8FCA", INK),
    "M": ("#0B8A66", INK),
    "Z": ("#C4500A", PAPER),
    "U": ("#9C8700", INK),
    "A": ("#B05F90", INK),
    "R": ("#C07700", INK),
}


def _variables(
    own: dict[str, str], segments: dict[str, tuple[str, str]], *, foreground: str, on_drift: str
) -> dict[str, str]:
    """Names for stylesheets: own colours, `seg-S` and `on-S` for every class, `seg-drift`, and Textual's text
    colours set to fixed values, so that a stock widget wears the same greys."""
    found = {**own, "seg-drift": own["drift"], "on-drift": on_drift}
    for letter, (fill, label) in segments.items():
        found[f"seg-{letter}"] = fill
        found[f"on-{letter}"] = label
    found["text"] = foreground
    found["text-muted"] = own["muted"]
    found["text-disabled"] = own["faint"]
    return found


def _dark() -> Theme:
    own = {
        "boost": "#28303D",  # Textual 8.2.8 drops the theme's own boost when it has a panel
        "limit": "#F0703A",
        "faint": "#717C8E",
        "muted": "#919AAB",
        "add": "#7CC4F0",
        "remove": "#F2A071",
        "track": "#232A36",
        "rule": "#2C3442",
        "drift": "#6C7688",
    }
    return Theme(
        name=DARK,
        dark=True,
        primary="#9DA9FF",
        accent="#9DA9FF",
        secondary="#7FB4C9",
        success="#7FC8A9",
        warning="#E8A33D",
        error="#F0736A",
        foreground="#D9DDE6",
        background="#0F1218",
        surface="#151A22",
        panel="#1D232E",
        variables=_variables(own, SEGMENTS_DARK, foreground="#D9DDE6", on_drift=PAPER),
    )


def _light() -> Theme:
    own = {
        "boost": "#DEDAD0",
        "limit": "#B84300",
        "faint": "#737985",
        "muted": "#5C6370",
        "add": "#1B5E8C",
        "remove": "#9A4300",
        "track": "#E0DCD2",
        "rule": "#D2CDC1",
        "drift": "#7A808B",
    }
    return Theme(
        name=LIGHT,
        dark=False,
        primary="#464CC2",
        accent="#464CC2",
        secondary="#2D6E86",
        success="#1F7A55",
        warning="#8A5A00",
        error="#B3261E",
        foreground="#22262E",
        background="#FBFAF7",
        surface="#F3F1EC",
        panel="#E9E6DE",
        variables=_variables(own, SEGMENTS_LIGHT, foreground="#22262E", on_drift=INK),
    )


THEMES: Final = (_dark(), _light())
"""To be registered by the app; `DARK` is the one it starts with unless told otherwise."""
