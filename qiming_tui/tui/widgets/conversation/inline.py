"""The inside of a Markdown paragraph as styled runs."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token
from rich.cells import get_character_cell_size
from rich.style import Style

from qiming_tui.tui.widgets.conversation.lines import HREF
from qiming_tui.tui.widgets.conversation.looks import BOLD, ITALIC, STRIKE, Looks
from qiming_tui.tui.widgets.conversation.wrap import Run

_URL: Final = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]")
_MARKS: Final = {"strong_open": BOLD, "em_open": ITALIC, "s_open": STRIKE}


def runs_of(children: Sequence[Token], looks: Looks, base: Style) -> list[Run]:
    """Runs of an inline token's children. Links carry their address in their meta; nothing is markup."""
    styles = [base]
    out: list[Run] = []
    for token in children:
        kind = token.type
        if looks.plain and kind in {"s_open", "s_close"}:
            out.append(("~~", styles[-1]))
        elif kind in _MARKS:
            styles.append(styles[-1] + _MARKS[kind])
        elif kind == "link_open":
            styles.append(styles[-1] + link_style(str(token.attrs.get("href", "")), looks))
        elif kind in {"strong_close", "em_close", "s_close", "link_close"}:
            if len(styles) > 1:
                styles.pop()
        elif kind == "code_inline":
            text = f"`{token.content}`" if looks.plain else token.content
            out.append((text, styles[-1] + looks.ink("inline-code")))
        elif kind == "hardbreak":
            out.append(("\n", styles[-1]))
        elif kind == "softbreak":
            out.append((" ", styles[-1]))
        elif kind == "image":
            out.append((f"[image {token.content}]".replace(" ]", "]"), styles[-1] + looks.ink("muted")))
        elif kind == "text":
            out += _linked(token.content, styles[-1], looks)
        else:
            out.append((token.content, styles[-1]))
    return list(_joined(out))


def link_style(href: str, looks: Looks) -> Style:
    """The style of a link."""
    return looks.ink("link") + Style(meta={HREF: href})


def _linked(text: str, style: Style, looks: Looks) -> Iterator[Run]:
    """Text with the addresses in it made links, unless it stands in one already."""
    if "://" not in text or style.meta.get(HREF):
        yield text, style
        return
    at = 0
    for found in _URL.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], style
        yield found[0], style + link_style(found[0], looks)
        at = found.end()
    if at < len(text):
        yield text[at:], style


def _joined(runs: Sequence[Run]) -> Iterator[Run]:
    """Runs without the space of a soft line break between two wide characters, which write none."""
    for index, (text, style) in enumerate(runs):
        if text == " " and 0 < index < len(runs) - 1:
            before, after = runs[index - 1][0], runs[index + 1][0]
            if before and after and _wide(before[-1]) and _wide(after[0]):
                continue
        if text:
            yield text, style


def _wide(char: str) -> bool:
    return get_character_cell_size(char) == 2
