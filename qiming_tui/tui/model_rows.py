"""The list of models in words and columns: limits, who says so, price, and whether this session fits."""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.bar_words import Span, Spans
from qiming_tui.context.figures import kilo, money
from qiming_tui.context.fit import Fit, Fits
from qiming_tui.model.limits import ModelInfo
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.picking import Cell, Row, clipped, columns, held_by, marked
from qiming_tui.tui.spans import cells, spread

_LEAST: Final = 20
_HEAD: Final = (
    ("this session", 21, 0, False),
    ("window", 6, 1, True),
    ("out", 6, 3, True),
    ("$ in / out", 11, 2, True),
    ("origin", 10, 4, False),
)
"""Name, width, rank and side of the columns."""
_FIT: Final = {Fits.UNKNOWN: "faint", Fits.FITS: "good", Fits.COMPACTS: "warn", Fits.TOO_LARGE: "limit"}


class ModelLine(msgspec.Struct, frozen=True):
    """A model, and how the open session fits it."""

    info: ModelInfo
    fit: Fit
    group: str = "all models"
    """Heading under which it stands; lines come ordered by group."""

    @property
    def key(self) -> str:
        """`provider/model`."""
        return str(self.info.ref)


def rows_of(lines: Sequence[ModelLine], words: Sequence[str]) -> tuple[Row, ...]:
    """Those whose name holds all the words, each group under its heading."""
    out: list[Row] = []
    group = ""
    for line in lines:
        if not held_by(f"{line.key} {line.info.name}", words):
            continue
        if line.group != group:
            out += [Row()] if out else []
            out.append(Row(head=line.group))
            group = line.group
        out.append(Row(line.key))
    return tuple(out)


def head_row(name: str, width: int, glyphs: Glyphs, *, first: bool) -> Spans:
    """A heading; the first one names the columns."""
    cells_of = (
        [Cell((("muted", text),), size, rank, right) for text, size, rank, right in _HEAD] if first else []
    )
    return columns((("muted", one_line(name)),), cells_of, width=width, least=_least(width), glyphs=glyphs)


def model_row(
    line: ModelLine, words: Sequence[str], width: int, glyphs: Glyphs, *, now: bool, chosen: bool
) -> Spans:
    """One model; `now`: it is the session's."""
    name: Spans = marked(one_line(line.key), words, "strong" if chosen else "text")
    limits = line.info.limits
    values: list[Spans] = [
        ((_FIT[line.fit.fits], line.fit.words),),
        (("text", kilo(limits.window) if limits.known else "?"),),
        (("muted", kilo(limits.output) if limits.output else "?"),),
        (("muted", _price(line.info)),),
        (("muted", "config" if line.info.overrides else one_line(limits.origin.value)),),
    ]
    found = [
        Cell(spans, size, rank, right) for spans, (_, size, rank, right) in zip(values, _HEAD, strict=True)
    ]
    tag: Spans = (("live", "  in use"),) if now else ()
    return columns(name, found, width=width, least=_least(width), glyphs=glyphs, tag=tag)


def _least(width: int) -> int:
    """Cells that a name keeps; few enough that the fit stays."""
    return min(_LEAST, max(12, width - 2 - _HEAD[0][1]))


def detail_rows(line: ModelLine, width: int, glyphs: Glyphs) -> tuple[Spans, ...]:
    """Three rows about the chosen model: name and fit, limits with their origin, price and abilities."""
    info, limits = line.info, line.info.limits
    state: Spans = ((_FIT[line.fit.fits], line.fit.words),)
    name = clipped((("strong", one_line(info.name or line.key)),), max(8, width - cells(state) - 2), glyphs)
    sizes: list[Span] = [("muted", "limits  "), ("text", _limits(info))]
    if line.fit.usable is not None:
        sizes.append(("text", f"  {kilo(line.fit.usable)} usable"))
    sizes.append(("muted", f"  from {one_line(_origin(info))}" if limits.known else ""))
    able = [word for word, on in (("tools", info.tools), ("reasoning", info.reasoning)) if on]
    price: list[Span] = [("muted", "price  "), ("text", _prices(info))]
    price.append(("muted", f"  {', '.join(able) or 'no tools'}"))
    rest = tuple(clipped(row, width, glyphs) for row in (sizes, price))
    return (spread(name, state, width), *rest)


def _origin(info: ModelInfo) -> str:
    if not info.overrides:
        return info.limits.origin.value
    return f"{info.limits.origin.value}, yours: {', '.join(info.overrides)}"


def _limits(info: ModelInfo) -> str:
    limits = info.limits
    if not limits.known:
        return "not known: it compacts only when the provider refuses"
    known = [(limits.context, "ctx"), (limits.input or 0, "in"), (limits.output, "out")]
    return "  ".join(f"{kilo(size)} {word}" for size, word in known if size)


def _price(info: ModelInfo) -> str:
    return "?" if info.price is None else f"{info.price.input:g} / {info.price.output:g}"


def _prices(info: ModelInfo) -> str:
    price = info.price
    if price is None:
        return "unknown"
    cached = f", {money(price.cache_read)} cached" if price.cache_read else ""
    return f"{money(price.input)} in{cached}, {money(price.output)} out per million tokens"
