"""The glyph sets: `full`, `safe` (no glyph of ambiguous width but the letters' own) and `ascii`.

Every sign on the screen comes from here, so that a terminal that cannot draw one gets another.
"""

from typing import Final

import msgspec

from qiming_tui.model.errors import InputError


class Glyphs(msgspec.Struct, frozen=True, kw_only=True):
    """One set; each sign is one cell wide unless its sentence says otherwise."""

    name: str
    letters: bool = False
    """Segments are drawn as repeated letters instead of filled cells."""
    ends: str = ""
    """One to seven eighths of a cell from the left; empty: whole cells only."""
    tops: str = ""
    """One to seven eighths of a cell from below; empty: whole cells only."""
    next: str
    """A cell that the next request is expected to fill."""
    tick: str
    """The threshold on the bar."""
    hollow: str
    """The same where nothing happens at it, because automatic compaction is off."""
    tick_arrow: str
    """Below the tick, at the end of its arithmetic."""
    reserve: str
    """A cell that is kept free."""
    cached_left: str
    cached: str
    cached_right: str
    ok: str
    failed: str
    running: str
    waiting: str
    cleared: str
    threshold: str
    """The dashed line of the timeline."""
    boundary: str
    """The vertical line of the timeline."""
    rule: str
    edge: str
    prompt: str
    star: str
    cursor: str
    arrow: str
    """From before to after; two cells in `safe` and `ascii`."""
    cut: str
    """Where a text was cut; two cells in `safe` and `ascii`."""
    dot: str
    """Between facts of one kind, and a step without an event."""
    folded: str
    open: str
    block: str
    """A full cell in the foreground colour."""
    half: str
    """A heavy horizontal line: small bars."""
    half_track: str
    """The free part of a small bar."""


FULL: Final = Glyphs(
    name="full",
    ends="▏▎▍▌▋▊▉",
    tops="▁▂▃▄▅▆▇",
    next="∙",
    tick="┃",
    hollow="╏",
    tick_arrow="▴",
    reserve="╱",
    cached_left="╰",
    cached="─",
    cached_right="╯",
    ok="✓",
    failed="✗",
    running="●",
    waiting="○",
    cleared="░",
    threshold="╌",
    boundary="│",
    rule="─",
    edge="▌",
    prompt="❯",
    star="✦",
    cursor="▲",
    arrow="→",
    cut="…",
    dot="·",
    folded="▸",
    open="▾",
    block="█",
    half="━",
    half_track="─",
)

SAFE: Final = Glyphs(
    name="safe",
    next="∙",
    tick="▐",
    hollow="╏",
    tick_arrow="▴",
    reserve="/",
    cached_left="=",
    cached="=",
    cached_right="=",
    ok="✓",
    failed="✗",
    running="~",
    waiting="?",
    cleared="░",
    threshold="╌",
    boundary="▐",
    rule="-",
    edge="▐",
    prompt="❯",
    star="✦",
    cursor="▴",
    arrow="->",
    cut="..",
    dot="-",
    folded="▸",
    open="▾",
    block="▐",
    half="=",
    half_track="-",
)

ASCII: Final = Glyphs(
    name="ascii",
    letters=True,
    next="+",
    tick="|",
    hollow=":",
    tick_arrow="^",
    reserve="/",
    cached_left="=",
    cached="=",
    cached_right="=",
    ok="o",
    failed="x",
    running="~",
    waiting="?",
    cleared=":",
    threshold="-",
    boundary="|",
    rule="-",
    edge="|",
    prompt=">",
    star="*",
    cursor="^",
    arrow="->",
    cut="..",
    dot=".",
    folded=">",
    open="v",
    block="#",
    half="=",
    half_track="-",
)

SETS: Final = {held.name: held for held in (FULL, SAFE, ASCII)}


def glyphs(name: str) -> Glyphs:
    """The set of that name. Raises `InputError` for an unknown one."""
    try:
        return SETS[name]
    except KeyError:
        raise InputError(f"no glyph set {name!r}", f"one of {', '.join(SETS)}") from None
