"""Options that several commands share, and how their values are read."""

import os
import re
from collections.abc import Callable
from typing import Any, Final

import click

from qiming_tui.config import Config, load, user_file
from qiming_tui.model.codec import JSON
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.model.window import Preset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option: Final[Decorator] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
preset_option: Final[Decorator] = click.option(
    "--preset",
    type=click.Choice([preset.value for preset in Preset]),
    help="Rules that count and decide; your setting, else guarded.",
)
store_option: Final[Decorator] = click.option(
    "--store", metavar="URL", help="Path or URL of the store; your setting, else the usual place."
)
reserved_option: Final[Decorator] = click.option(
    "--reserved", type=click.IntRange(min=0), metavar="N", help="Tokens of the window that stay free."
)


Callback = Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]


def counts(*names: str, optional: int = 0) -> Callback:
    """Reads whole numbers separated by commas, one for each name; the last `optional` may be missing."""
    low, high = len(names) - optional, len(names)

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
        if value is None:
            return None
        words = [word.strip() for word in value.split(",")]
        if not low <= len(words) <= high or not all(re.fullmatch(r"[0-9]{1,15}", word) for word in words):
            many = str(high) if low == high else f"{low} to {high}"
            raise click.BadParameter(f"{value!r} is not {many} whole numbers {','.join(names)}", ctx, param)
        return tuple(int(word) for word in words)

    return read


limits_option: Final[Decorator] = click.option(
    "--model-limits",
    callback=counts("CONTEXT", "OUTPUT", "INPUT", optional=1),
    metavar="CONTEXT,OUTPUT[,INPUT]",
    help="The model's limits in tokens; else what the catalogue knows of the session's model.",
)


def limits_of(numbers: tuple[int, ...]) -> Limits:
    """The limits of `--model-limits`; an input limit of 0 means that there is none."""
    context, output, *rest = numbers
    return Limits(context, (rest[0] or None) if rest else None, output, Origin.ARGUMENT)


def flags(**values: JSON) -> dict[str, JSON]:
    """Settings of `[context]` that were given on the command line."""
    return {f"context.{key}": value for key, value in values.items() if value is not None}


def settings_from(given: dict[str, JSON], *, files: bool = True) -> Config:
    """The user's settings with those of the command line over them; `files` false: environment only."""
    return load(user_file(os.environ) if files else None, None, os.environ, given)
