"""Program text in colours, by Pygments. Imported in a thread after the first paint: see `engine.py`."""

from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer  # type: ignore[import-untyped]  # Pygments ships no types
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # likewise
from pygments.token import Token, _TokenType  # type: ignore[import-untyped]  # likewise
from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # likewise
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from qiming_tui.tui.widgets.conversation.face import MEASURE
from qiming_tui.tui.widgets.conversation.lines import Line, spaces
from qiming_tui.tui.widgets.conversation.looks import Looks
from qiming_tui.tui.widgets.conversation.wrap import Run, hard, slice_runs

PAD: Final = 2
TOO_LARGE: Final = 200_000
"""Characters from which on code is shown without colours."""

_NAMES: Final = (
    (Token.Comment, "comment"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Name.Function, "function"),
    (Token.Name.Builtin, "builtin"),
    (Token.Name.Decorator, "builtin"),
    (Token.Name.Tag, "keyword"),
    (Token.Name.Attribute, "builtin"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Generic.Inserted, "add"),
    (Token.Generic.Deleted, "remove"),
    (Token.Generic.Prompt, "muted"),
)


@lru_cache(maxsize=256)
def _name(kind: _TokenType) -> str:
    return next((name for base, name in _NAMES if kind in base), "text")


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def highlight(text: str, *, language: str, looks: Looks) -> list[list[Run]]:
    """Lines of code as styled runs; plain where the language is not known."""
    lexer = _lexer(language.lower()) if language and len(text) <= TOO_LARGE else None
    if lexer is None:
        return [[(line, looks.ink("text"))] for line in text.split("\n")]
    lines: list[list[Run]] = [[]]
    for kind, value in lexer.get_tokens(text):
        style = looks.ink(_name(kind))
        first, *more = value.split("\n")
        if first:
            lines[-1].append((first, style))
        for part in more:
            lines.append([(part, style)] if part else [])
    return lines


def code_rows(text: str, *, language: str, width: int, looks: Looks, label: bool = True) -> list[Line]:
    """A block of code on its own tone, the language at the right end of its first row."""
    tone = looks.tone("code")
    box = max(PAD + 4, min(MEASURE, width))
    name = language[: box // 3] if label else ""
    out: list[Line] = []
    for runs in highlight(text.expandtabs(4), language=language, looks=looks):
        plain = "".join(part for part, _ in runs)
        taken = cell_len(name) + 2 if name and not out else 0
        cut = hard(plain, width=box - PAD - 1 - taken)
        start = 0
        for index, part in enumerate(cut):
            body = _toned(slice_runs(runs, start, start + len(part)), tone)
            right = box - PAD - cell_len(part)
            end = [spaces(right, tone)]
            if taken and index == 0:
                size = cell_len(name)
                end = [
                    spaces(right - size - 1, tone),
                    Segment(name, looks.ink("faint") + tone),
                    spaces(1, tone),
                ]
            lead = spaces(PAD, tone)
            if index:
                lead = Segment(looks.glyphs.cut[:1].ljust(PAD), looks.ink("faint") + tone)
            join = "" if index < len(cut) - 1 else "\n"
            out.append(Line((lead, *body, *end), part, PAD, join))
            start += len(part)
    return out


def _toned(segments: list[Segment], tone: Style) -> list[Segment]:
    return [Segment(text, style + tone if style else tone) for text, style, _ in segments]
