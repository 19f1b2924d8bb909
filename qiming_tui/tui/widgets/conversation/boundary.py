"""The line at which the window was compacted, and the summary that stands for what is above it."""

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from qiming_tui.tui.blocks import BoundaryFacts
from qiming_tui.tui.widgets.conversation.face import GUTTER, Face
from qiming_tui.tui.widgets.conversation.figures import tokens_words
from qiming_tui.tui.widgets.conversation.lines import BLANK, Line, Rendered, spaces
from qiming_tui.tui.widgets.conversation.looks import BOLD, Looks
from qiming_tui.tui.widgets.conversation.rows import hint_row, text_cells
from qiming_tui.tui.widgets.conversation.wrap import clip

_Sides = tuple[list[Segment], list[Segment], list[Segment]]
"""What stands left, in the middle and right of a rule."""


def boundary(face: Face, width: int, looks: Looks) -> Rendered:
    """A full-width rule: chip and name left, before and after in the middle, right what was archived."""
    row = _rule(face, width, looks)
    lines = [row] if looks.compact else [BLANK, row]
    return Rendered(lines, -1, ())


def _rule(face: Face, width: int, looks: Looks) -> Line:
    facts = face.facts
    limit = looks.ink("limit")
    rule = looks.glyphs.rule
    name = _name(facts, step=not looks.compact)
    left = [Segment(rule * 2, limit), spaces(1), Segment("Z", looks.chip("Z")), spaces(1)]
    left += [Segment(name, looks.ink("text") + BOLD), spaces(1)]
    middle = _middle(face, looks)
    right = _right(facts, looks)
    tries: tuple[tuple[list[Segment], list[Segment], list[Segment]], ...] = (
        (left, middle, right),
        (left, middle, []),
        (left, [], []),
    )
    found = next((row for sides in tries if (row := _set(sides, width, limit, rule))), left)
    text = "".join(part.text for part in found)
    return Line(tuple(found), text, 0, "\n", -1, copied=False)


def _set(sides: _Sides, width: int, style: Style, rule: str) -> list[Segment]:
    """Left, middle and right on one rule; empty if they do not fit."""
    left, middle, right = sides
    sizes = [sum(cell_len(part.text) for part in side) for side in sides]
    if not middle:
        room = width - sizes[0]
        return [*left, Segment(rule * room, style)] if room >= 0 else []
    start = max(sizes[0] + 2, (width - sizes[1]) // 2)
    end = 2 if right else 0
    tail = width - start - sizes[1] - sizes[2] - end
    if tail < 2:
        start += tail - 2
        tail = 2
    if start - sizes[0] < 2:
        return []
    found = [*left, Segment(rule * (start - sizes[0]), style), *middle, Segment(rule * tail, style)]
    return [*found, *right, Segment(rule * end, style)] if right else found


def _name(facts: BoundaryFacts, *, step: bool) -> str:
    words = [f"C{facts.number}" if facts.number else "compaction", "auto" if facts.auto else "manual"]
    if facts.undone:
        words.append("undone")
    if step and facts.step is not None:
        words.append(f"step {facts.step}")
    return " ".join(words)


def _middle(face: Face, looks: Looks) -> list[Segment]:
    facts = face.facts
    muted = looks.ink("muted")
    if facts.running or facts.failed:
        style = looks.ink("error") if facts.failed else muted
        return [Segment(f" {facts.failed or facts.running} ", style)]
    if facts.before is None:
        return []
    out = [spaces(1), Segment(tokens_words(facts.before), muted), spaces(1)]
    out += [Segment(looks.glyphs.arrow, looks.ink("limit")), spaces(1)]
    if facts.after is None:
        return [*out, Segment("?", muted), spaces(1)]
    after = f"{'~' if facts.rough else ''}{tokens_words(facts.after)}"
    return [*out, Segment(after, looks.ink("text") + BOLD), spaces(1)]


def _right(facts: BoundaryFacts, looks: Looks) -> list[Segment]:
    if not facts.archived:
        return []
    word = "kept" if looks.compact else "archived"
    noun = "msg" if facts.archived == 1 else "msgs"
    return [Segment(f" {facts.archived:,} {noun} {word} ", looks.ink("muted"))]


def gist(text: str) -> str:
    """The first words of a summary, its headings folded in: "Goal: make retry deterministic. Done: ..."."""
    out: list[str] = []
    title = ""
    for line in text.split("\n"):
        words = line.strip().lstrip("-*+ ").strip()
        if line.lstrip().startswith("#"):
            title = line.strip().lstrip("#").strip()
        elif words:
            end = "" if words[-1] in ".!?:;。！？：；" else "."
            out.append(f"{title}: {words}{end}" if title else f"{words}{end}")
            title = ""
    return " ".join(out)


def folded_summary(face: Face, width: int, looks: Looks) -> Rendered:
    """The summary in one row, and the keys; nothing on a small screen, where the rule opens it."""
    if looks.compact:
        return Rendered([], -1, ())
    room = text_cells(width) - GUTTER
    shown = clip(gist(face.block.text), width=room, mark=looks.glyphs.cut)
    muted = looks.ink("muted")
    first = Line((spaces(GUTTER), Segment(shown, muted)), shown, GUTTER, "\n", 0)
    lines = [first]
    if face.hints:
        lines.append(hint_row((spaces(GUTTER),), "", face.hints, looks, gap=3))
    return Rendered([*lines, BLANK], 0, (face.block.text,))
