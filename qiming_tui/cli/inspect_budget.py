"""`qiming inspect budget`: one decision, from figures alone (`data.md` 1 and 4)."""

import click
import msgspec

from qiming_tui.cli.options import counts, flags, json_option, preset_option, reserved_option, settings_from
from qiming_tui.cli.output import number, print_json, print_lines, table
from qiming_tui.context import budget as rules
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Verdict

FIELDS = (
    "preset",
    "count",
    "reserved",
    "max_output",
    "usable",
    "overflow",
    "percent",
    "over_by",
    "state",
    "auto",
    "arithmetic",
)
TOKENS = click.IntRange(min=0)


@click.command()
@click.option("--context", type=TOKENS, required=True, metavar="N", help="Context window; 0: unknown.")
@click.option("--input", "input_", type=TOKENS, metavar="N", help="Input limit, where the model has one.")
@click.option("--output", type=TOKENS, required=True, metavar="N", help="Output limit; 0: unknown.")
@click.option("--total", type=TOKENS, metavar="N", help="Tokens as the provider's total.")
@click.option(
    "--tokens",
    callback=counts("IN", "OUT", "CACHE_READ", "CACHE_WRITE"),
    metavar="IN,OUT,CACHE_READ,CACHE_WRITE",
    help="Tokens as the provider's parts; IN without cache.",
)
@preset_option
@reserved_option
@click.option("--no-auto", is_flag=True, help="With automatic compaction switched off.")
@json_option
def budget(
    context: int,
    input_: int | None,
    output: int,
    total: int | None,
    tokens: tuple[int, ...] | None,
    preset: str | None,
    reserved: int | None,
    no_auto: bool,
    as_json: bool,
) -> None:
    """Whether a count of tokens overflows a window, with the arithmetic.

    Settings files are not read: the figures and the environment alone decide.
    """
    if (total is None) == (tokens is None):
        raise InputError("give either --total or --tokens", "for instance --total 102013")
    given = flags(preset=preset, reserved=reserved, auto=False if no_auto else None)
    settings = settings_from(given, files=False).settings
    usage = Usage(total=total)
    if tokens is not None:
        usage = Usage(input=tokens[0], output=tokens[1], cache_read=tokens[2], cache_write=tokens[3])
    verdict = rules.verdict(
        settings=settings,
        limits=Limits(context, input_ or None, output, Origin.ARGUMENT),
        count=rules.count_usage(settings.preset, usage),
        basis=Basis.MEASURED,
        counted="" if tokens is None else rules.count_words(settings.preset, usage),
    )
    if as_json:
        print_json(answer(verdict))
    else:
        print_lines(words(verdict))


def answer(verdict: Verdict) -> dict[str, JSON]:
    """The fields of the contract."""
    raw = msgspec.to_builtins(verdict)
    return {field: raw[field] for field in FIELDS}


def words(verdict: Verdict) -> list[str]:
    """The verdict for people."""
    percent = "" if verdict.percent is None else f"{verdict.percent}% "
    rows = [
        ("state", f"{percent}{verdict.state}" + ("" if verdict.auto else ", auto off")),
        ("count", number(verdict.count)),
        ("usable", number(verdict.usable)),
        ("reserved", number(verdict.reserved, "not used")),
        ("max output", number(verdict.max_output)),
        ("over by", number(verdict.over_by)),
        ("compaction", "yes" if verdict.overflow else "no"),
        ("preset", verdict.preset),
    ]
    return [*table(rows), *verdict.arithmetic.split("; ")]
