"""Blocks that are no Markdown as rows: prompts, tool calls, thoughts, notes (mock, Rows: Conversation)."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from qiming_tui.model.parts import PLACEHOLDER
from qiming_tui.tui.blocks import Block, Kind
from qiming_tui.tui.toolrow import Phase, ToolRow
from qiming_tui.tui.widgets.conversation.diff import diff_rows
from qiming_tui.tui.widgets.conversation.face import COST_CELLS, GUTTER, MEASURE, NAME, SUBJECT, Face, Hint
from qiming_tui.tui.widgets.conversation.figures import took_words
from qiming_tui.tui.widgets.conversation.lines import BLANK, Line, Rendered, flow, spaces
from qiming_tui.tui.widgets.conversation.looks import BOLD, ITALIC, Looks
from qiming_tui.tui.widgets.conversation.wrap import clip, hard

FOLD_ROWS: Final = 12
"""A longer prompt is folded."""
SHOWN_ROWS: Final = 10
NAME_CELLS: Final = 6
LONGEST_NAME: Final = 14
LEAST_SUBJECT: Final = 12


def text_cells(width: int) -> int:
    """Cells for text beside the token column, in a conversation of `width` cells."""
    return max(2, width - COST_CELLS - 1)


def prose_cells(width: int) -> int:
    """Cells for running text behind the gutter."""
    return max(2, min(MEASURE, text_cells(width) - GUTTER))


def plain_text(face: Face, width: int, looks: Looks) -> Rendered:
    """Text as it stands: before Markdown is at hand."""
    runs = [(face.block.text, looks.ink("text"))]
    gutter = (spaces(GUTTER),)
    lines = flow(runs, width=prose_cells(width), first=gutter, rest=gutter, piece=0)
    return Rendered(lines, 0, (face.block.text,))


def user(face: Face, width: int, looks: Looks) -> Rendered:
    """A turn's begin: accent edge and number, bold text; a blank row above it."""
    block = face.block
    number = f"T{block.turn}" if block.turn else ""
    edge = Segment(looks.glyphs.edge, looks.ink("turn"))
    first = [edge, spaces(1)]
    if number:
        first += [Segment(number, looks.ink("turn") + BOLD), spaces(2)]
    indent = sum(cell_len(part.text) for part in first)
    rest = [edge, spaces(indent - 1)]
    runs = [(block.text, looks.ink("text") + BOLD)]
    room = min(MEASURE, text_cells(width) - indent)
    lines = flow(runs, width=room, first=first, rest=rest, piece=0)
    lines = _folded(lines, face, looks, prefix=rest)
    return Rendered([BLANK, *lines], 1, (block.text,))


def _folded(lines: list[Line], face: Face, looks: Looks, *, prefix: Sequence[Segment]) -> list[Line]:
    if face.opened or len(lines) <= FOLD_ROWS:
        return lines
    more = f"{looks.glyphs.cut} {len(lines) - SHOWN_ROWS:,} more rows"
    return [*lines[:SHOWN_ROWS], hint_row(prefix, more, (("space", "open"),), looks)]


def hint_row(
    prefix: Sequence[Segment], words: str, hints: Sequence[Hint], looks: Looks, *, gap: int = 2
) -> Line:
    """A row that is about the rows: words in faint, keys in the accent, `gap` cells between them."""
    out = list(prefix)
    if words:
        out.append(Segment(words, looks.ink("faint")))
    for key, label in hints:
        if words or len(prefix) > 1 or out != list(prefix):
            out.append(spaces(gap))
        out += [Segment(key, looks.ink("key")), Segment(f" {label}", looks.ink("muted"))]
    return Line(tuple(out), copied=False)


def synthetic(face: Face, width: int, looks: Looks) -> Rendered:
    """What the program said in the user's place: a plus, italic."""
    style = looks.ink("muted") + ITALIC
    first = (Segment("+", looks.ink("muted")), spaces(GUTTER - 1))
    lines = flow(
        [(face.block.text, style)],
        width=prose_cells(width),
        first=first,
        rest=(spaces(GUTTER),),
        piece=0,
    )
    return Rendered(_folded(lines, face, looks, prefix=(spaces(GUTTER),)), 0, (face.block.text,))


def head(
    *,
    glyph: Segment,
    name: str,
    subject: str,
    right: Sequence[tuple[str, Style]],
    width: int,
    looks: Looks,
    styles: tuple[Style, Style],
) -> Line:
    """A row of glyph, name, subject and what is right of it. The subject is cut first, then the last of
    `right` goes, then the one before; the token column is not touched."""
    name = clip(name, width=LONGEST_NAME, mark=looks.glyphs.cut)
    begin = max(SUBJECT, NAME + cell_len(name) + 1)
    end = text_cells(width)
    shown = [(text, style) for text, style in right if text]
    while shown and end - begin - _taken(shown) < min(LEAST_SUBJECT, cell_len(subject)):
        shown.pop()
    taken = _taken(shown)
    subject_shown = clip(subject, width=max(0, end - begin - taken), mark=looks.glyphs.cut)
    out = [spaces(GUTTER), glyph, spaces(1), Segment(name, styles[0]), spaces(begin - NAME - cell_len(name))]
    out.append(Segment(subject_shown, styles[1]))
    if shown:
        out.append(spaces(end - begin - taken - cell_len(subject_shown)))
        for text, style in shown:
            out += [spaces(2), Segment(text, style)]
    text = f"{name}{' ' * (begin - NAME - cell_len(name))}{subject_shown}"
    return Line(tuple(out), text, NAME, "\n", 0)


def _taken(right: Sequence[tuple[str, Style]]) -> int:
    return sum(cell_len(text) + 2 for text, _ in right)


def tool(face: Face, width: int, looks: Looks) -> Rendered:
    """A call: one row, and below it, if it is opened, its arguments and its output; a change shows itself."""
    row = face.block.tool
    assert row is not None
    source = f"{row.name} {row.subject}".rstrip()
    if face.cleared:
        lines = _ghost(face, row, width, looks)
    else:
        lines = [_tool_head(face, row, width, looks)]
        if row.diff:
            lines += diff_rows(row.diff, width=width, looks=looks, whole=face.opened, piece=1)
    body = row.diff
    if face.opened and not (row.diff and not face.cleared):
        body = face.block.text
        lines += _output(face.block, row, width, looks, ghost=bool(face.cleared))
    return Rendered(lines, 0, (source, body))


def _tool_head(face: Face, row: ToolRow, width: int, looks: Looks) -> Line:
    glyphs = looks.glyphs
    sign, ink = {
        Phase.STREAMING: (glyphs.running, "key"),
        Phase.RUNNING: (glyphs.running, "key"),
        Phase.WAITING: (glyphs.waiting, "warning"),
        Phase.OK: (glyphs.ok, "success"),
        Phase.FAILED: (glyphs.failed, "error"),
    }[row.phase]
    running = row.phase.value if row.running else ""
    outcome = running or row.outcome
    style = looks.ink(ink if row.running else "error" if row.bad else "muted")
    took = row.took_ms
    if took is None and row.started is not None and face.now_ms is not None:
        took = max(0, (face.now_ms - row.started) // 1000 * 1000)
    time = "" if took is None else f"{took / 1000:.0f}s" if row.running else took_words(took)
    if row.regret:
        outcome = f"again, {outcome}" if outcome else "again"
    return head(
        glyph=Segment(sign, looks.ink(ink)),
        name=row.name,
        subject=row.subject,
        right=[(outcome, style), (time, looks.ink("faint"))],
        width=width,
        looks=looks,
        styles=(looks.ink("muted"), looks.ink("text")),
    )


def _ghost(face: Face, row: ToolRow, width: int, looks: Looks) -> list[Line]:
    """A cleared result in its place: when, how large it was, and what the model sees instead."""
    faint = looks.ink("faint")
    words = "cleared" if face.cleared == "now" else f"cleared {face.cleared}"
    if face.was:
        words = f"{words}, was {face.was}"
    lines = [
        head(
            glyph=Segment(looks.glyphs.cleared, faint),
            name=row.name,
            subject=row.subject,
            right=[(words, faint)],
            width=width,
            looks=looks,
            styles=(faint, faint),
        )
    ]
    if not looks.compact or face.opened:
        shown = clip(PLACEHOLDER, width=max(2, width - SUBJECT), mark=looks.glyphs.cut)
        prefix = (spaces(SUBJECT), Segment(shown, faint + ITALIC))
        hints = () if face.opened else face.hints
        lines.append(hint_row(prefix, "", hints, looks))
    return lines


def _output(block: Block, row: ToolRow, width: int, looks: Looks, *, ghost: bool) -> list[Line]:
    """Arguments, then the output as it stands, on the tone of code."""
    lines: list[Line] = []
    room = max(2, width - NAME - 2)
    style = looks.ink("faint" if ghost else "text")
    if len(row.arguments) > len(row.subject) + 20:
        for text in hard(row.arguments, width=room):
            lines.append(_toned(text, looks.ink("muted"), room, looks, piece=-1, join="\n", copied=False))
    if not row.loaded:
        lines.append(hint_row((spaces(NAME),), "the output is in the store and is being fetched", (), looks))
    if row.loaded and not block.text and not row.running:
        lines.append(hint_row((spaces(NAME),), "no output", (), looks))
    for source in block.text.split("\n") if block.text else ():
        cut = hard(source.expandtabs(8), width=room)
        for index, text in enumerate(cut):
            join = "\n" if index == len(cut) - 1 else ""
            lines.append(_toned(text, style, room, looks, piece=1, join=join, copied=True))
    return lines


def _toned(text: str, style: Style, room: int, looks: Looks, *, piece: int, join: str, copied: bool) -> Line:
    tone = looks.tone("code")
    body = (
        spaces(NAME),
        spaces(1, tone),
        Segment(text, style + tone),
        spaces(room - cell_len(text) + 1, tone),
    )
    return Line(body, text, NAME + 1, join, piece, copied)


def thinking(face: Face, width: int, looks: Looks) -> Rendered:
    """The model's thoughts: one row, folded; in italics when opened."""
    block = face.block
    spoken = [line.strip() for line in block.text.split("\n") if line.strip()]
    shown = (spoken[-1] if block.live else spoken[0]) if spoken else ""
    style = looks.ink("muted") + ITALIC
    glyphs = looks.glyphs
    outcome = "thinking" if block.live else f"{len(spoken):,} line{'s' * (len(spoken) != 1)}"
    sign = glyphs.running if block.live else glyphs.open if face.opened else glyphs.folded
    lines = [
        head(
            glyph=Segment(sign, looks.ink("key" if block.live else "faint")),
            name="think",
            subject="" if face.opened else shown,
            right=[(outcome, looks.ink("key" if block.live else "faint"))],
            width=width,
            looks=looks,
            styles=(looks.ink("muted"), style),
        )
    ]
    if face.opened:
        gutter = (spaces(NAME),)
        lines += flow(
            [(block.text, style)], width=prose_cells(width) - GUTTER, first=gutter, rest=gutter, piece=1
        )
    return Rendered(lines, 0, ("", block.text))


def note(face: Face, width: int, looks: Looks) -> Rendered:
    """A sentence on what happened."""
    block = face.block
    glyph, ink = (looks.glyphs.failed, "error") if block.failed else (looks.glyphs.dot, "muted")
    first = (spaces(GUTTER), Segment(glyph, looks.ink(ink)), spaces(1))
    lines = flow(
        [(block.text, looks.ink(ink))],
        width=prose_cells(width) - GUTTER,
        first=first,
        rest=(spaces(NAME),),
        piece=0,
    )
    return Rendered(_folded(lines, face, looks, prefix=(spaces(NAME),)), 0, (block.text,))


PLAIN: Final = {
    Kind.USER: user,
    Kind.SYNTHETIC: synthetic,
    Kind.TOOL: tool,
    Kind.THINKING: thinking,
    Kind.NOTE: note,
}
