"""`qiming models`: limits, where they come from, and what may be used of them."""

import asyncio
import os
from collections.abc import Iterable

import click

from qiming_tui.cli.options import flags, json_option, preset_option, reserved_option, settings_from
from qiming_tui.cli.output import number, print_json, print_lines, table
from qiming_tui.config import Config
from qiming_tui.context.budget import bound
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import ConfigError, InputError
from qiming_tui.model.limits import ModelInfo, ModelRef
from qiming_tui.provider import local
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.models_fetch import fetch_models
from qiming_tui.runtime import data_dir

HEAD = ("model", "context", "input", "output", "usable", "origin")
RIGHT = frozenset({1, 2, 3, 4})


@click.command()
@click.argument("words", nargs=-1, metavar="[FILTER]")
@click.option("--refresh", is_flag=True, help="Fetch limits and prices from models.dev first.")
@preset_option
@reserved_option
@json_option
def models(
    words: tuple[str, ...], refresh: bool, preset: str | None, reserved: int | None, as_json: bool
) -> None:
    """List models with their limits, who says so, and what may be used under the preset.

    FILTER: words that must all occur in a model's name, as in: qiming models anthropic sonnet
    """
    config = settings_from(flags(preset=preset, reserved=reserved))
    if refresh:
        asyncio.run(fetch_models(env=os.environ, target=catalogue().cache_file))
    found = matching(config, " ".join(words))
    if as_json:
        print_json([answer(info, config) for info in found])
        return
    if not found:
        raise InputError(f"no model matches {' '.join(words)!r}", "fewer words find more")
    print_lines(table([HEAD, *(row(info, config) for info in found)], right=RIGHT))


def catalogue() -> Catalogue:
    """The catalogue with what was fetched last."""
    return Catalogue(env=os.environ, cache_dir=data_dir() / "cache")


def matching(config: Config, words: str) -> list[ModelInfo]:
    """The models whose names hold all the words, the user's own first."""
    known = catalogue()
    own = [
        ModelRef(provider, model) for provider, table in config.providers.items() for model in table.models
    ]
    found = {ref: known.lookup(ref, config.limits(ref)) for ref in own}
    if local.missing(local.SMOLLM2) is None:
        found[local.SMOLLM2] = local.offered(os.environ)
    for info in known.all():
        found.setdefault(info.ref, info)
    wanted = words.lower().split()
    return [info for info in found.values() if _matches(wanted, f"{info.ref} {info.name}".lower())]


def _matches(wanted: Iterable[str], name: str) -> bool:
    return all(word in name for word in wanted)


def usable(info: ModelInfo, config: Config) -> int | None:
    """What may be used under the preset; None where it is unknown or the settings rule the model out."""
    try:
        return bound(info.limits, config.settings).usable
    except ConfigError:
        return None


def row(info: ModelInfo, config: Config) -> tuple[str, ...]:
    """A model's cells, in the order of HEAD."""
    limits = info.limits
    return (
        str(info.ref),
        number(limits.context or None, "?"),
        number(limits.input, ""),
        number(limits.output or None, "?"),
        number(usable(info, config), "?"),
        limits.origin.value,
    )


def model_rows(config: Config, words: str) -> list[tuple[str, ...]]:
    """The table's rows, with its head; empty if nothing matches."""
    found = matching(config, words)
    return [HEAD, *(row(info, config) for info in found)] if found else []


def answer(info: ModelInfo, config: Config) -> dict[str, JSON]:
    """A model as JSON; tokens, and US dollars per million tokens; null where it is not known."""
    limits, price = info.limits, info.price
    return {
        "model": str(info.ref),
        "name": info.name,
        "context": limits.context or None,
        "input": limits.input,
        "output": limits.output or None,
        "origin": limits.origin.value,
        "preset": config.settings.preset.value,
        "usable": usable(info, config),
        "price": None if price is None else {"input": price.input, "output": price.output},
    }
