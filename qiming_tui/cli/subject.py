"""What `inspect` looks at: a session of a file or of the store, with the settings that hold for it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import click
import msgspec

from qiming_tui.cli.options import (
    Decorator,
    flags,
    json_option,
    limits_of,
    limits_option,
    preset_option,
    reserved_option,
    settings_from,
    store_option,
)
from qiming_tui.cli.output import print_note
from qiming_tui.config import Config
from qiming_tui.context.state import SessionState, Window
from qiming_tui.context.tokens import Tally, encoding_for
from qiming_tui.context.view import window_of
from qiming_tui.importers import opencode
from qiming_tui.model.changes import SessionRecord
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import InputError
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import AssistantMessage, UserMessage
from qiming_tui.model.window import Preset, Settings
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.counter import TokenCounter

MAX_FILE_BYTES: Final = 1024 * 1024 * 1024


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The command line of `inspect window|prune|request`."""

    file: str | None
    session: str | None
    step: int | None
    store: str | None
    preset: str | None
    reserved: int | None
    model_limits: tuple[int, ...] | None
    as_json: bool


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A session, the rules for it, and the stored request that was asked about, if one was."""

    record: SessionRecord
    state: SessionState
    settings: Settings
    calibration: float = 1.0
    stored: RequestRow | None = None
    blobs: dict[str, bytes] = {}


T = TypeVar("T")
Command = Callable[[Asked, Subject], Awaitable[None]]


def asks(command: Command) -> Callable[..., None]:
    """Give a coroutine the options of these commands; it is called with them and with what they name."""

    def ask(**given: JSON) -> None:
        asyncio.run(_answer(command, Asked(**given)))

    ask.__doc__ = command.__doc__
    call: Callable[..., None] = ask
    options: tuple[Decorator, ...] = (
        click.argument("file", required=False, metavar="[FILE]"),
        click.option("--session", metavar="ID", help="A session of the store, instead of a file."),
        click.option("--step", type=click.IntRange(min=1), metavar="N", help="One of its stored requests."),
        store_option,
        preset_option,
        reserved_option,
        limits_option,
        json_option,
    )
    for option in reversed(options):
        call = option(call)
    return call


async def _answer(command: Command, asked: Asked) -> None:
    if (asked.file is None) == (asked.session is None):
        raise InputError("give either a FILE or --session ID", "qiming sessions lists the sessions")
    if asked.file is not None and asked.step is not None:
        raise InputError("--step belongs to --session", "a file has no stored requests")
    given = flags(preset=asked.preset, reserved=asked.reserved)
    config = settings_from(given)
    subject = of_file(asked, config) if asked.file is not None else await of_store(asked, config)
    await command(asked, subject)


def read_file(name: str) -> bytes:
    """A file's bytes, `-` for stdin; raises InputError."""
    try:
        with click.open_file(name, "rb") as file:
            data: bytes = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{name}: larger than {MAX_FILE_BYTES:,} bytes")
    return data


def of_file(asked: Asked, config: Config) -> Subject:
    """A recorded session. Nothing is written anywhere."""
    imported = opencode.read(read_file(asked.file or "-"))
    for note in imported.notes:
        print_note(note)
    record = imported.record
    settings = _settings(config, record, asked)
    model = model_of(record) or ModelRef("unknown", "unknown")
    state = SessionState(
        entries=record.entries, edits=record.edits, model=model, limits=_limits(asked, config, model)
    )
    return Subject(record=record, state=state, settings=settings)


async def of_store(asked: Asked, config: Config) -> Subject:
    """A session of the store, opened for reading only, with every output."""
    from qiming_tui.cli.stores import opened_store, whole

    with opened_store(asked.store, config, read_only=True) as store:
        session_id = await store.find(asked.session or "")
        record = await whole(store, await store.load(session_id))
        settings = _settings(config, record, asked)
        model = model_of(record) or config.model or ModelRef("unknown", "unknown")
        stored = await store.request(session_id, asked.step) if asked.step else record.last_request
        limits = _limits(asked, config, model, stored if asked.step else None)
        state = SessionState(entries=record.entries, edits=record.edits, model=model, limits=limits)
        calibration = (await store.calibration(str(model))).factor
        blobs = await store.blobs(row.blob for row in stored.manifest) if stored else {}
    return Subject(
        record=record, state=state, settings=settings, calibration=calibration, stored=stored, blobs=blobs
    )


def _settings(config: Config, record: SessionRecord, asked: Asked) -> Settings:
    """The user's settings with the session's own preset, unless one was asked for."""
    own = record.session.preset
    if asked.preset is None and own in set(Preset):
        return msgspec.structs.replace(config.settings, preset=Preset(own))
    return config.settings


def _limits(asked: Asked, config: Config, model: ModelRef, stored: RequestRow | None = None) -> Limits:
    """Those that were asked for, else those that a stored request was made for, else the model's of today."""
    if asked.model_limits is not None:
        return limits_of(asked.model_limits)
    if stored is not None:
        return stored.limits
    catalogue = Catalogue(env=os.environ, cache_dir=Path(os.devnull))
    return catalogue.lookup(model, config.limits(model)).limits


def model_of(record: SessionRecord) -> ModelRef | None:
    """The model that a session was working with last."""
    for entry in reversed(record.entries):
        info = entry.info
        if isinstance(info, AssistantMessage) and not info.summary:
            return info.model
        if isinstance(info, UserMessage) and info.model is not None:
            return ModelRef(info.model.provider_id, info.model.model_id)
    return None


async def settled(subject: Subject, work: Callable[[Tally], T]) -> T:
    """`work` with exact counts: done again until the counter has counted all that it asked for."""
    tally = Tally(encoding_for(subject.state.model), subject.calibration)
    result = work(tally)
    if tally.exact:
        return result
    counter = TokenCounter(env=os.environ, log_path=Path(os.devnull))
    try:
        while not tally.exact:
            texts = list(tally.missing.values())
            tally.learn(texts, await counter.count(tally.encoding, texts))
            result = work(tally)
        if counter.problem:
            print_note(counter.problem)
    finally:
        await counter.close()
    return result


def window_of_subject(subject: Subject) -> Window:
    """The live window of the subject."""
    return window_of(subject.state, subject.settings)
