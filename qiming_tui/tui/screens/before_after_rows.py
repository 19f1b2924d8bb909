"""The rows of the page before / after: the fate of each turn, what the summary names, where its lines come
from. Pure: a report in, spans out."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.coverage import LABEL, Covered, Found, Line
from qiming_tui.context.dryrun import names_of
from qiming_tui.context.facts import FactKind
from qiming_tui.context.fate import Fate, TurnFate
from qiming_tui.context.figures import kilo, plural
from qiming_tui.model.sanitize import one_line
from qiming_tui.model.window import ItemState, Klass
from qiming_tui.session.acting import Report
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.spans import cells, clip, cut, spread

WIDE: Final = 100
"""Columns from which on before and after stand side by side."""
MIDDLE: Final = 17
BAR: Final = 24
STYLES: Final = {Fate.KEPT: "good", Fate.SUMMED: "limit", Fate.PINNED: "key"}


class PageRow(msgspec.Struct, frozen=True):
    """A row of the page; one with a key can be chosen."""

    spans: Spans
    key: str = ""
    raised: bool = False
    """It stands on a tone of its own."""


class Painter:
    """Makes the rows for a width and a set of glyphs."""

    def __init__(self, report: Report, columns: int, glyphs: Glyphs) -> None:
        self.report = report
        self.columns = columns
        self.glyphs = glyphs
        self.wide = columns >= WIDE - 2
        self.right = columns * 2 // 5 if self.wide else columns
        self.left = columns - MIDDLE - self.right if self.wide else columns

    def rows(self, picked: dict[FactKind, int]) -> list[PageRow]:
        """The whole page; `picked`: which of the missing items of a kind is chosen."""
        raised = [PageRow(()), *self._coverage(picked), PageRow(())]
        found = [*self._table(), PageRow(())]
        found += [PageRow(row.spans, row.key, raised=True) for row in raised]
        return [*found, PageRow(()), *self._lines()]

    # -- the table ---------------------------------------------------------------------------------------

    def _table(self) -> list[PageRow]:
        before, after = self._before(), self._after()
        if not self.wide:
            return [*before, PageRow(()), *(PageRow(spans) for spans in after)]
        summed = [i for i, row in enumerate(before) if self._fate_of(row.key) in (Fate.SUMMED, Fate.PINNED)]
        middle = summed[(len(summed) - 1) // 2] if summed else 3
        after = [*after[:4], *([()] * max(0, middle - 4)), *after[4:]]
        height = max(len(before), len(after))
        body = before[:-2] + [PageRow(cut((), self.left))] * (height - len(before)) + before[-2:]
        rest = after[:-2] + [()] * (height - len(after)) + after[-2:]
        return [
            PageRow((*row.spans, *self._arrow(i, summed, middle), *cut(rest[i], self.right)), row.key)
            for i, row in enumerate(body)
        ]

    def _arrow(self, place: int, summed: Sequence[int], middle: int) -> Spans:
        g = self.glyphs
        head = g.rule * 3
        if place == 2:
            return cut((("", "  "), ("good", g.rule * (MIDDLE - 5) + g.arrow)), MIDDLE)
        if place not in summed:
            inside = bool(summed) and summed[0] < place < summed[-1]
            return cut((("", "     "), ("limit", g.boundary if inside else " ")), MIDDLE)
        if place != middle:
            return cut((("", "  "), ("limit", f"{head}{g.boundary}")), MIDDLE)
        ratio = self.report.what.ratio
        words = "" if ratio is None else f" {ratio:.0f}:1 " if ratio >= 10 else f" {ratio:.1f}:1 "
        tail = g.rule * max(1, MIDDLE - 8 - len(words) - len(g.arrow))
        row = (("", "  "), ("limit", f"{head}{g.boundary}"), ("strong", words), ("limit", tail + g.arrow))
        return cut(row, MIDDLE)

    def _before(self) -> list[PageRow]:
        what = self.report.what
        count = plural(len(what.messages), "message")
        rule = PageRow((("rule", self.glyphs.rule * self.left),))
        rows = [
            PageRow(
                self._cells("", (("strong", "Before"), ("muted", f"  {count}")), ("faint", "tok"), "fate")
            ),
            rule,
            PageRow(
                self._cells("STM", (("text", self._fixed_words()),), ("strong", kilo(what.fixed)), "kept")
            ),
        ]
        rows.append(PageRow(cut((), self.left)))
        rows += [PageRow(self._turn(i, turn), f"turn:{i}") for i, turn in enumerate(what.turns)]
        if what.cleared:
            words = f"{plural(len(what.cleared), 'result')}, already not sent"
            size = f":{kilo(self.report.cleared_tokens)}" if self.report.cleared_tokens else ":"
            rows.append(PageRow(cut((), self.left)))
            rows.append(PageRow(self._cells(":", (("faint", words),), ("faint", size), "cleared")))
        rows.append(rule)
        total = ("strong", kilo(what.before.total))
        rows.append(PageRow(self._cells("", (("strong", "total"),), total, "")))
        return rows

    def _fixed_words(self) -> str:
        tools = sum(item.klass is Klass.TOOL for item in self.report.what.before.items)
        held = [i.source for i in self.report.what.before.items if i.klass is Klass.MEMORY]
        memory = [source.rsplit("/", 1)[-1] for source in held]
        return one_line(", ".join(["system", plural(tools, "tool"), *memory]))

    def _turn(self, index: int, turn: TurnFate) -> Spans:
        tag = f"T{turn.turn}" if turn.turn else ""
        words = one_line(turn.subject) or "before the first message"
        count = f"{len(turn.message_ids):>3} "
        return self._cells(tag, (("text", words),), ("strong", kilo(turn.tokens)), turn.fate.value, count)

    def _cells(self, tag: str, words: Spans, size: Span, fate: str, count: str = "") -> Spans:
        """Tag, words, number of messages, tokens, fate; the words give way."""
        amount = (size[0], f"{size[1]:>6}")
        end: Spans = (("muted", count), amount, ("", "  "), (_fate_style(fate), f"{fate:<7}"))
        gap = 2 if self.left >= 50 else 1
        room = self.left - gap - 4 - cells(end) - 1
        lead: Spans = (("", " " * gap), *self._chips(tag))
        return spread((*lead, *self._clipped(words, room)), end, self.left)

    def _chips(self, tag: str) -> Spans:
        if not tag or (tag[0] == "T" and tag[1:].isdecimal()):
            return (("muted", f"{tag:<4}"),)
        chips = tuple((f"seg-{'cleared' if c == ':' else c}", c) for c in tag[:3])
        return (*chips, ("", " " * (4 - len(chips))))

    def _clipped(self, words: Spans, room: int) -> Spans:
        first, *rest = words
        free = room - cells(rest)
        return ((first[0], clip(first[1], max(0, free), self.glyphs.cut)), *rest)

    def _fate_of(self, key: str) -> Fate | None:
        kind, _, index = key.partition(":")
        return self.report.what.turns[int(index)].fate if kind == "turn" else None

    # -- what is sent afterwards -------------------------------------------------------------------------

    def _after(self) -> list[Spans]:
        what = self.report.what
        rows = [
            self._sent(
                "", (("strong", "After"), ("muted", "  what the next request holds")), ("faint", "tok")
            ),
            (("rule", self.glyphs.rule * self.right),),
            self._sent("STM", (("text", self._fixed_words()),), ("strong", kilo(what.fixed))),
            (),
            self._sent(
                "Z", (("strong", f"summary {what.mark.name}"),), ("strong", kilo(what.summary_tokens))
            ),
        ]
        rows += [self._sent("", (("muted", line),), ("", "")) for line in _beginnings(self.report.summary)]
        rows += self._rest()
        promise = self.report.promise
        more = 0 if promise is None else promise.measured - what.after.total
        if promise is not None and more > 0:
            words = f"came before step {promise.step}"
            rows.append(self._sent("U", (("text", words),), ("text", kilo(more))))
        rows.append((("rule", self.glyphs.rule * self.right),))
        total = max(what.after.total, what.after.total + more)
        rows.append(self._sent("", (("strong", "total"),), ("strong", kilo(total))))
        return rows

    def _rest(self) -> Iterator[Spans]:
        """Pins, kept turns, Continue: each with what it weighs."""
        what = self.report.what
        boundary = {what.mark.asked_id, what.mark.summary_id}
        names = names_of([*what.archived])
        kept: dict[str, int] = {}
        for item in what.after.items:
            if item.key.startswith("pin:"):
                words = f"pinned: {names.get(item.part_id or '', item.source)}"
                yield self._sent("U", (("key", one_line(words)),), ("text", kilo(item.tokens)))
            elif item.message_id in boundary and item.klass is Klass.USER:
                yield self._sent("U", (("italic", "the request for it"),), ("text", kilo(item.tokens)))
            elif item.message_id is not None and item.message_id not in boundary:
                if item.state is ItemState.SYNTHETIC:
                    yield self._sent("U", (("italic", "Continue if you ..."),), ("text", kilo(item.tokens)))
                else:
                    kept[item.message_id] = kept.get(item.message_id, 0) + item.tokens
        for turn in what.turns:
            if turn.fate is Fate.KEPT:
                size = sum(kept.get(id, 0) for id in turn.message_ids)
                words = f"T{turn.turn} {one_line(turn.subject)}"
                yield self._sent("UAR", (("text", words),), ("text", kilo(size)))

    def _sent(self, tag: str, words: Spans, size: Span) -> Spans:
        lead: Spans = (("", " "), *self._chips(tag))
        end: Spans = (size, ("", " "))
        room = self.right - cells(lead) - cells(end) - 1
        return spread((*lead, *self._clipped(words, room)), end, self.right)

    # -- what the summary names --------------------------------------------------------------------------

    def _coverage(self, picked: dict[FactKind, int]) -> Iterator[PageRow]:
        turns = [turn.turn for turn in self.report.what.turns if turn.fate is not Fate.KEPT]
        span = f" over T{min(turns)}-T{max(turns)}" if turns else ""
        head: Spans = (("", "  "), ("strong", "What the summary still names"), ("faint", f"  {LABEL}{span}"))
        yield PageRow(cut(head, self.columns))
        for kind in FactKind:
            facts = self.report.coverage.of(kind)
            if facts:
                yield PageRow(self._kind(kind, facts, picked.get(kind, 0)), f"kind:{kind.value}")
        for name in self.report.coverage.unsupported:
            words = "named by the summary, but nowhere in the history"
            row: Spans = (("", "  "), ("warn", f"? {one_line(name)}"), ("muted", f"  {words}"))
            yield PageRow(cut(row, self.columns))

    def _kind(self, kind: FactKind, facts: Sequence[Covered], chosen: int) -> Spans:
        missing = self.report.coverage.missing(kind)
        kept = len(facts) - len(missing)
        lead: Spans = (
            ("", "  "),
            ("text", f"{kind.value:<17}"),
            ("strong", f"{kept:>4} of {len(facts):<4} "),
        )
        if self.wide:
            filled = (2 * kept * BAR + len(facts)) // (2 * len(facts))
            g = self.glyphs
            lead = (*lead, ("cached", g.half * filled), ("rule", g.half_track * (BAR - filled)), ("", "  "))
        if not missing:
            return cut((*lead, ("good", "all")), self.columns)
        row = [*lead]
        last: Found | None = None
        for index in range(chosen, len(missing)):
            covered = missing[index]
            if covered.found is not last:
                style = "limit" if covered.found is Found.LOST else "warn"
                row.append((style, f"{covered.found.value} "))
                last = covered.found
            style = "picked" if index == chosen else "text"
            comma = ", " if index + 1 < len(missing) else ""
            row += [(style, one_line(covered.fact.words)), ("muted", comma)]
        whole = clip(
            "".join(text for _, text in row[len(lead) :]), self.columns - cells(lead), self.glyphs.cut
        )
        return cut((*lead, *_cut_to(row[len(lead) :], whole)), self.columns)

    # -- where the lines of the summary come from --------------------------------------------------------

    def _lines(self) -> Iterator[PageRow]:
        lines = self.report.coverage.lines
        if not lines:
            return
        head: Spans = (("", "  "), ("strong", "Where its lines come from"), ("faint", f"  {LABEL}"))
        yield PageRow(cut(head, self.columns))
        for index, line in enumerate(lines):
            yield PageRow(self._line(line), f"line:{index}")

    def _line(self, line: Line) -> Spans:
        turns = ",".join(f"T{turn}" for turn in line.turns[:3])
        style = "warn" if line.unsupported else "muted"
        tag = f"{turns or '-':<9}" + ("? " if line.unsupported else "  ")
        text = clip(one_line(line.text), max(0, self.columns - 14), self.glyphs.cut)
        return cut((("", "  "), (style, tag), ("text", text)), self.columns)


def _cut_to(spans: Sequence[Span], whole: str) -> Spans:
    """The spans as far as a clipped text goes, with its end mark."""
    out: list[Span] = []
    used = 0
    for style, text in spans:
        piece = whole[used : used + len(text)]
        out.append((style, piece))
        used += len(text)
        if used >= len(whole):
            break
    return tuple(out)


def _fate_style(fate: str) -> str:
    return STYLES[Fate(fate)] if fate in {each.value for each in Fate} else "faint"


def _beginnings(summary: str) -> list[str]:
    """The first line below each of the first three headings, or the first three lines."""
    lines = [line.strip() for line in summary.splitlines() if line.strip()]
    below = [
        f"{head.lstrip('# ')}  {line.lstrip('- ')}"
        for head, line in pairwise(lines)
        if head.startswith("#") and not line.startswith("#")
    ]
    return [one_line(line) for line in (below or lines)[:3]]


def read_out(report: Report, key: str, picked: dict[FactKind, int]) -> str:
    """The chosen row in words."""
    kind, _, rest = key.partition(":")
    if kind == "turn":
        turn = report.what.turns[int(rest)]
        fate = {Fate.KEPT: "kept word for word", Fate.SUMMED: "archived", Fate.PINNED: "archived, pinned"}
        gone = [
            covered.fact.kind.value
            for covered in report.coverage.facts
            if covered.found is Found.LOST and covered.fact.message_id in turn.message_ids
        ]
        words = f"{plural(len(turn.message_ids), 'message')}, {kilo(turn.tokens)}, {fate[turn.fate]}."
        lost = f" Lost of it: {', '.join(dict.fromkeys(gone))}." if gone else ""
        return f"T{turn.turn}  {one_line(turn.subject, limit=40)}   {words}{lost}"
    if kind == "kind":
        covered = missing_of(report, FactKind(rest), picked)
        if covered is None:
            return f"{rest}: all are named"
        return f"{covered.fact.words}   T{covered.fact.turn}, {covered.found.value}: {covered.note}"
    if kind == "line":
        line = report.coverage.lines[int(rest)]
        if line.unsupported:
            return f"not in the history: {', '.join(line.unsupported)}"
        turns = ", ".join(f"T{turn}" for turn in line.turns)
        return f"goes back to {turns}" if turns else "no source found by its words"
    return ""


def missing_of(report: Report, kind: FactKind, picked: dict[FactKind, int]) -> Covered | None:
    """The chosen missing item of a kind."""
    missing = report.coverage.missing(kind)
    return missing[picked.get(kind, 0) % len(missing)] if missing else None
