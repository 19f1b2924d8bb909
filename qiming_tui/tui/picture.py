"""The screen as an SVG that asks nobody for anything: no font from the web, blanks kept everywhere."""

import re
from typing import Any, Final

from textual.app import App

FONTS: Final = (
    "'DejaVu Sans Mono', 'Noto Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', 'PingFang SC', "
    "'Microsoft YaHei', monospace"
)
"""Fonts of the reader's own machine, those with the signs of the screen first."""

_WEB_FONT: Final = re.compile(r"\s*@font-face\s*\{[^}]*\}")
_FAMILY: Final = re.compile(r"font-family:\s*[^;}]+;")
_TEXT: Final = re.compile(r"<text ")


def picture(app: App[Any], title: str | None = None) -> str:
    """What the app shows now, as SVG."""
    return local_fonts(app.export_screenshot(title=title or app.title))


def local_fonts(svg: str) -> str:
    """An SVG of Textual's with the web font's block taken out and local fonts named in its place. Every text
    keeps its blanks, also where a viewer would trim them."""
    svg = _WEB_FONT.sub("", svg)
    svg = _FAMILY.sub(f"font-family: {FONTS};", svg)
    return _TEXT.sub('<text xml:space="preserve" ', svg)
