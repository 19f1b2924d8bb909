"""How the front ends open a session: settings, store, trust, model, in this order."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.config import PROVIDERS, Config, RuleOrigin, load, project_file, user_file, user_folder
from qiming_tui.model.changes import PutTrust
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import InputError, NoModel
from qiming_tui.model.limits import ModelRef
from qiming_tui.provider import local
from qiming_tui.runtime import Runtime, Wiring, data_dir, now_ms
from qiming_tui.session.worker import Worker
from qiming_tui.store.store import Store
from qiming_tui.tools.permissions import check_names, parse_rule
from qiming_tui.tools.registry import default_tools

STORE_NAME: Final = "qiming.db"

LOCAL: Final = ModelRef("local", "smollm2")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about the session to open."""

    directory: Path
    model: str | None = None
    session: str | None = None
    """Id, or the beginning of one."""
    resume: bool = False
    """Go on with the newest session of the folder."""
    store: str | None = None
    flags: dict[str, JSON] = {}
    allow: tuple[str, ...] = ()
    interactive: bool = True
    trust: bool = False


def store_place(config: Config, given: str | None) -> str:
    """Path or URL of the store: the command line's, the settings', else the user's data folder."""
    return given or config.store or str(data_dir() / STORE_NAME)


def open_store(config: Config, given: str | None, *, read_only: bool = False) -> Store:
    """Open the store. Raises StoreError with what to do."""
    return Store.open(store_place(config, given), clock=now_ms, read_only=read_only)


async def open_runtime(start: Start, env: Mapping[str, str] = os.environ) -> Runtime:
    """Settings and store. Raises InputError or StoreError; nothing is left open then."""
    config = settings(start, env, trusted=False)
    store = open_store(config, start.store)
    try:
        trusted = start.trust or bool(await store.trust(str(start.directory)))
        config = settings(start, env, trusted=trusted)
        if start.trust:
            await store.apply([PutTrust(str(start.directory), True)])
    except BaseException:
        store.close()
        raise
    return Runtime(store, wiring_of(config, start, env))


def wiring_of(config: Config, start: Start, env: Mapping[str, str]) -> Wiring:
    """What a runtime of the user's own store is made of."""
    return Wiring(
        config=config,
        folder=data_dir(),
        outputs=data_dir() / "tool-output",
        env=env,
        interactive=start.interactive,
        user_folder=user_folder(),
    )


def settings(start: Start, env: Mapping[str, str], *, trusted: bool) -> Config:
    """The merged settings with the command line's rules; a project's file only when it is trusted."""
    project = project_file(start.directory) if trusted else None
    config = load(user_file(env), project, env, start.flags)
    allowed = tuple(parse_rule(text, origin=RuleOrigin.FLAG) for text in start.allow)
    rules = (*config.rules, *allowed)
    check_names(rules, (tool.name for tool in default_tools()))
    return msgspec.structs.replace(config, rules=rules)


async def decide_trust(runtime: Runtime, start: Start, trusted: bool) -> None:
    """Remember the user's word about the folder, and read its settings if it is trusted."""
    await runtime.trust(start.directory, trusted)
    runtime.config = settings(start, runtime.wiring.env, trusted=trusted)


def with_model(start: Start, model: ModelRef) -> Start:
    """The same start with another model."""
    return msgspec.structs.replace(start, model=str(model))


async def find_session(runtime: Runtime, start: Start) -> str | None:
    """The session that is to be gone on with: a named one, or the newest of the folder; None: a new one."""
    if start.session and start.resume:
        raise InputError("--session and --continue name two sessions", "give one of them")
    if start.session:
        return await runtime.store.find(start.session)
    if not start.resume:
        return None
    session_id = await runtime.store.latest(str(start.directory))
    if session_id is None:
        raise InputError("there is no session in this folder yet", "start one without --continue")
    return session_id


async def open_worker(runtime: Runtime, start: Start, *, take: bool = False) -> Worker:
    """The session that was asked for: a named one, the newest of the folder, or a new one. `take` takes it
    from another program. Raises SessionBusy while another program writes it."""
    model = ModelRef.parse(start.model) if start.model else None
    session_id = await find_session(runtime, start)
    if session_id is not None:
        return await runtime.open_session(session_id, model, take=take)
    return await runtime.new_session(start.directory, model or default_model(runtime.config, os.environ))


def default_model(config: Config, env: Mapping[str, str]) -> ModelRef:
    """The settings' model, else the local one. Raises NoModel that says how to choose."""
    if config.model is not None:
        return config.model
    if local.missing(LOCAL) is None:
        return LOCAL
    keys = [table.key_env for table in PROVIDERS.values() if table.key_env and env.get(table.key_env)]
    found = f" ({', '.join(keys)} is set)" if keys else ""
    raise NoModel(
        f"no model is chosen{found}",
        "name one with --model PROVIDER/MODEL, install the local one (see README), or try: qiming demo",
    )


def waits_for_trust(directory: Path) -> tuple[str, ...]:
    """Files of a folder that are read only when it is trusted."""
    names = (directory / "AGENTS.md", project_file(directory))
    return tuple(str(path.relative_to(directory)) for path in names if path.is_file())
