"""The style of a component class alone, its opaque background included.

Textual's own partial style leaves an opaque background out (8.2.8), and what is painted on a tone needs it.
"""

from textual.color import Color
from textual.style import Style
from textual.widget import Widget


def look(widget: Widget, name: str) -> Style:
    """What the stylesheet says for the component class, and nothing of what is below it."""
    styles = widget.get_component_styles(name)
    below: Color = widget.background_colors[1]
    return Style(
        background=below + styles.background if styles.has_rule("background") else None,
        foreground=styles.color if styles.has_rule("color") else None,
        bold=True if styles.text_style.bold else None,
        italic=True if styles.text_style.italic else None,
        underline=True if styles.text_style.underline else None,
        reverse=True if styles.text_style.reverse else None,
    )
