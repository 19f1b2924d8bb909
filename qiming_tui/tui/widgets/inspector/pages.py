"""The five tabs as pages: request, difference, reasons, what if, cache."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.cachebook import CacheBook
from qiming_tui.context.figures import change, kilo, money, plural, signed
from qiming_tui.context.past_request import Step
from qiming_tui.context.request_diff import RequestDiff, words_of
from qiming_tui.context.whatif import Run
from qiming_tui.context.whatif_words import HEADS, backtest, cells
from qiming_tui.context.why_rows import WhyRow, fate_words
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import Klass, PrunePlan
from qiming_tui.tui.widgets.inspector.page import Head, Page, wrapped

SORTS: Final = ("order", "size", "newest", "class")
SIZES: Final = (0, 1_000, 5_000, 10_000)
AGES: Final = ("any age", "last turn", "older turns")
CLASSES: Final = ("", *(klass.value for klass in Klass))


class Sieve(msgspec.Struct, frozen=True, kw_only=True):
    """How the items of a request are sorted, and which are shown."""

    sort: str = "order"
    klass: str = ""
    least: int = 0
    """Tokens."""
    age: str = AGES[0]

    @property
    def words(self) -> str:
        """What is set."""
        found = [f"sort {self.sort}"]
        found += [f"class {self.klass}"] if self.klass else []
        found += [f"from {kilo(self.least)}"] if self.least else []
        found += [self.age] if self.age != AGES[0] else []
        return ", ".join(found)


def sifted(rows: Sequence[ManifestRow], sieve: Sieve) -> list[tuple[int, ManifestRow]]:
    """The items that are wanted, each with its place in the request."""
    last = max((n for n, row in enumerate(rows) if row.klass is Klass.USER), default=0)
    found = [
        (n, row)
        for n, row in enumerate(rows)
        if (not sieve.klass or row.klass.value == sieve.klass)
        and row.tokens >= sieve.least
        and (sieve.age == AGES[0] or (n >= last) is (sieve.age == AGES[1]))
    ]
    order: dict[str, Callable[[tuple[int, ManifestRow]], tuple[int, int]]] = {
        "size": lambda one: (-one[1].tokens, one[0]),
        "newest": lambda one: (-one[0], 0),
        "class": lambda one: (CLASSES.index(one[1].klass.value), one[0]),
    }
    if sieve.sort in order:
        found.sort(key=order[sieve.sort])
    return found


_ITEMS: Final = (
    Head("#", 5, right=True),
    Head("cl", 2),
    Head("tokens", 9, right=True),
    Head("what"),
    Head("state", 16),
)


def request_page(
    step: Step, names: Mapping[str, str], sieve: Sieve, checked: str, new: frozenset[str]
) -> Page:
    """The request as it was handed over. `checked`: what is known of its hash; `new`: keys it has and the one
    before had not."""
    found = sifted(step.manifest, sieve)
    total = sum(row.tokens for row in step.manifest)
    verdict = step.row.after or step.row.verdict
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    sums = f"sum ~{total:,}  {verdict.basis.value} {mark}{verdict.count:,}  drift {verdict.count - total:+,}"
    shown = "" if len(found) == len(step.manifest) else f"{len(found):,} of "
    rows = tuple(
        (f"{n}", row.klass.value, f"~{row.tokens:,}", words_of(row, names), _state(row, new))
        for n, row in found
    )
    return Page(
        lines=(f"{shown}{plural(len(step.manifest), 'item')}  {sums}  {sieve.words}", checked),
        heads=_ITEMS,
        rows=rows,
        keys=tuple(row.key for _, row in found),
    )


def _state(row: ManifestRow, new: frozenset[str]) -> str:
    words = [row.state.value]
    words += ["pinned"] if row.pinned else []
    words += ["new"] if row.key in new else []
    return " ".join(words)


_CHANGES: Final = (Head("", 1), Head("cl", 2), Head("what"), Head("tokens", 17, right=True))


def diff_page(
    diff: RequestDiff | None, step: Step, before: Step | None, arrow: str, names: Mapping[str, str]
) -> Page:
    """From the step before to this one."""
    if diff is None or before is None:
        first = f"step {step.row.step:,} is the first request: all of it is new"
        return Page(lines=(first,), heads=_CHANGES, rows=())
    head = f"step {before.row.step:,} {arrow} {step.row.step:,}  ~{diff.before:,} {arrow} ~{diff.after:,}"
    if diff.first is None:
        cache = f"cache: the request only goes on, ~{diff.same:,} can be read from it"
    else:
        at = next((row for row in step.manifest if row.key == diff.first), None)
        what = words_of(at, names) if at is not None else diff.first
        cache = f"cache breaks at item {diff.place}: {what}; ~{diff.again:,} behind it had to be sent anew"
    grew = "grew by  " + "  ".join(f"{signed(tokens)} {words}" for words, tokens in diff.drivers[:3])
    rows = tuple(
        (row.sign, row.klass, row.words, _sizes(row.before, row.after, row.sign, arrow)) for row in diff.rows
    )
    lines = (f"{head}  {diff.grew:+,}", cache, grew if diff.drivers else "grew by  nothing")
    return Page(lines=lines, heads=_CHANGES, rows=rows)


def _sizes(before: int, after: int, sign: str, arrow: str) -> str:
    if sign == "~":
        return f"~{before:,} {arrow} ~{after:,}"
    return change(-before if sign == "-" else after, "~")


_FACTS: Final = (Head("", 8), Head("", 10, right=True), Head(""))


def why_page(
    title: str, facts: Sequence[WhyRow], plan: PrunePlan | None, names: Mapping[str, str], columns: int
) -> Page:
    """The decision in words and integers, then every result's fate."""
    rows: list[tuple[str, ...]] = []
    strong: set[int] = set()
    room = max(12, columns - 24)
    for fact in facts:
        if fact.style in ("strong", "limit", "good"):
            strong.add(len(rows))
        first, *rest = wrapped(fact.words, room)
        rows.append((fact.label, fact.number, first))
        rows += [("", "", line) for line in rest]
    if plan is not None and plan.fates:
        strong.add(len(rows) + 1)
        rows += [("", "", ""), ("results", "~tokens", "what a prune does after this step, and why")]
        for fate in reversed(plan.fates):
            what = f"{fate_words(fate)} - {names.get(fate.part_id, fate.tool)}"
            first, *rest = wrapped(what, room)
            rows.append((fate.tool[:8], f"~{fate.tokens:,}", first))
            rows += [("", "", line) for line in rest]
    return Page(lines=(title,), heads=_FACTS, rows=tuple(rows), strong=frozenset(strong))


_POLICIES: Final = tuple(
    Head(name, width, right=1 <= n <= 6 and n != 2)
    for n, (name, width) in enumerate(zip(HEADS, (0, 8, 17, 6, 8, 8, 8, 9), strict=True))
)


def whatif_page(was: Run, again: Run, others: Sequence[Run], words: str) -> Page:
    """Policies side by side, the recorded one first."""
    runs = (was, *others)
    rows = tuple((f"{'~ ' if run.modelled else ''}{run.name}", *cells(run)[1:]) for run in runs)
    rows = (("recorded", *cells(was)[1:]), *rows[1:])
    return Page(
        lines=(f"what if  nothing is sent; modelled figures are ~  {words}", backtest(was, again)),
        heads=_POLICIES,
        rows=rows,
        strong=frozenset({0}),
    )


_CACHE: Final = (
    Head("step", 5, right=True),
    Head("read", 9, right=True),
    Head("hit", 5, right=True),
    Head("new", 9, right=True),
    Head("write", 9, right=True),
    Head("break"),
    Head("again", 8, right=True),
    Head("price", 8, right=True),
)


def cache_page(book: CacheBook) -> Page:
    """Read, written and new tokens of every step; its breaks with cause and price."""
    rows = tuple(
        (
            f"{line.step}{'Z' if line.summary else ''}",
            _known(line.read),
            "?" if line.hit is None else f"{line.hit}%",
            _known(line.new),
            _known(line.write),
            line.cause,
            f"~{kilo(line.again)}" if line.cause else "",
            "" if line.price is None else f"~{money(line.price)}",
        )
        for line in book.steps
    )
    strong = frozenset(n for n, line in enumerate(book.steps) if line.cause)
    return Page(lines=(book.words,), heads=_CACHE, rows=rows, strong=strong)


def _known(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"
