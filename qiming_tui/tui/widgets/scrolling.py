"""Scroll bars that are drawn in whole cells, where the terminal has no eighth blocks or draws them wide."""

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender

from qiming_tui.tui.glyphs import Glyphs


class WholeCells(ScrollBarRender):
    """No partial cells at the ends of the thumb."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def use_for_all(glyphs: Glyphs) -> None:
    """The scroll bars of the program are drawn with this set from now on."""
    ScrollBar.renderer = ScrollBarRender if glyphs.ends else WholeCells
