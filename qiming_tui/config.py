"""L1, the settings: defaults < user file < project file < environment < flags; errors name file and key.

A project's file is somebody else's text even in a trusted folder: it may tune and narrow, but it cannot send
keys elsewhere, hand on variables, move the store, move keys or widen permissions (cases C-139).
"""

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import platformdirs

from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import ConfigError, InputError
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import Endpoint
from qiming_tui.model.window import Settings

MAX_FILE_BYTES: Final = 1024 * 1024


class Action(StrEnum):
    """What a permission rule says, in rising strictness."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class RuleOrigin(StrEnum):
    """Who made a rule. `permissions.decide` says what each may do to the others."""

    DEFAULT = "default"
    USER = "user"
    FLAG = "flag"
    PROJECT = "project"
    ALWAYS = "always"
    SESSION = "session"


class Rule(msgspec.Struct, frozen=True):
    """`permission` and `pattern` may hold the wildcards `*` and `?`; the last rule that matches decides."""

    permission: str
    pattern: str
    action: Action
    origin: RuleOrigin = RuleOrigin.SESSION
    """The weakest one, if nobody says: an answer of this session."""


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps of the tools (`design.md` 8)."""

    max_lines: int = 2_000
    """Lines of one result that the model sees."""
    max_bytes: int = 51_200
    """UTF-8 bytes of one result that the model sees."""
    bash_timeout_s: int = 120
    """Time limit of a shell command that names none."""
    env_allow: tuple[str, ...] = ()
    """Variables that sub-processes get although they look like secrets."""
    disabled: tuple[str, ...] = ()
    """Tools that the model is not told about."""


class LimitsTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Token limits as the user states them; None: the catalogue's. An input limit of 0 means: none."""

    context: int | None = None
    input: int | None = None
    output: int | None = None


class ModelTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[providers.NAME.models."MODEL"]`."""

    limits: LimitsTable = LimitsTable()


class ProviderTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[providers.NAME]`: how a provider is reached. Keys themselves are never in a file."""

    base_url: str | None = None
    wire: Literal["openai", "anthropic", "gemini", "other"] | None = None
    key_env: str | None = None
    """Name of the environment variable that holds the key; "" means: no key."""
    prefix: str | None = None
    """litellm's name of the provider, where it is not ours."""
    models: dict[str, ModelTable] = {}


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shape of a settings file."""

    model: str | None = None
    small_model: str | None = None
    compaction_model: str | None = None
    store: str | None = None
    context: dict[str, JSON] = {}
    tools: ToolSettings = ToolSettings()
    providers: dict[str, ProviderTable] = {}
    permission: dict[str, Action | dict[str, Action]] = {}
    keymap: dict[str, str] = {}


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the user may set, merged."""

    settings: Settings = Settings()
    model: ModelRef | None = None
    small_model: ModelRef | None = None
    """For titles; None: the model itself."""
    compaction_model: ModelRef | None = None
    """For summaries; None: the model itself."""
    store: str | None = None
    """Path or URL of the store; None: the user's data folder."""
    tools: ToolSettings = ToolSettings()
    providers: dict[str, ProviderTable] = {}
    rules: tuple[Rule, ...] = ()
    """The files' permission rules, each with its origin; the defaults are not among them."""
    keymap: dict[str, str] = {}
    """Ids of key bindings and the user's keys for them; the screen checks them."""
    sources: tuple[str, ...] = ()
    """The files that were read."""

    def limits(self, ref: ModelRef) -> LimitsTable | None:
        """What the user says about a model's limits; None: nothing."""
        provider = self.providers.get(ref.provider)
        model = provider.models.get(ref.model) if provider else None
        return model.limits if model else None

    def endpoint(self, ref: ModelRef) -> Endpoint | None:
        """How a model is reached by the user's word or the built-in table; None: neither says anything."""
        known, own = PROVIDERS.get(ref.provider), self.providers.get(ref.provider)
        if known is None and (own is None or own == ProviderTable(models=own.models)):
            return None
        table = _overlay(known or ProviderTable(), own or ProviderTable())
        wire = table.wire or ("openai" if table.base_url else "other")
        prefix = table.prefix or ("openai" if wire == "openai" else ref.provider)
        key_env = table.key_env if table.key_env is not None else _key_name(ref.provider)
        model = f"{prefix}/{ref.model}"
        return Endpoint(wire=wire, base_url=table.base_url, key_env=key_env or None, litellm_model=model)

    def key_names(self) -> frozenset[str]:
        """Names of all variables that hold a provider's key: no tool may see them."""
        tables = {**PROVIDERS, **self.providers}
        own = {table.key_env or _key_name(name) for name, table in tables.items()}
        return frozenset(own | {table.key_env for table in PROVIDERS.values() if table.key_env})


def _key_name(provider: str) -> str:
    return re.sub(r"\W", "_", provider).upper() + "_API_KEY"


def _overlay(below: ProviderTable, above: ProviderTable) -> ProviderTable:
    names = ("base_url", "wire", "key_env", "prefix")
    given = {name: getattr(above, name) for name in names if getattr(above, name) is not None}
    return msgspec.structs.replace(below, **given, models=above.models)


def _server(url: str, key_env: str) -> ProviderTable:
    return ProviderTable(wire="openai", base_url=url, key_env=key_env)


PROVIDERS: Final[dict[str, ProviderTable]] = {
    "anthropic": ProviderTable(wire="anthropic", key_env="ANTHROPIC_API_KEY"),
    "openai": ProviderTable(wire="openai", key_env="OPENAI_API_KEY"),
    "gemini": ProviderTable(wire="gemini", key_env="GEMINI_API_KEY"),
    "google": ProviderTable(wire="gemini", key_env="GEMINI_API_KEY", prefix="gemini"),
    "openrouter": _server("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "deepseek": _server("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "groq": _server("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": _server("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "xai": _server("https://api.x.ai/v1", "XAI_API_KEY"),
    "ollama": _server("http://127.0.0.1:11434/v1", ""),
    "lmstudio": _server("http://127.0.0.1:1234/v1", ""),
    "local": ProviderTable(wire="openai", key_env=""),
}
"""Providers that need no settings but a key. `local` is our own child: its address is not known here."""


class Variable(msgspec.Struct, frozen=True):
    """An environment variable that stands for one setting."""

    name: str
    key: str
    """Dotted key of the setting; "" where another part of the program reads the variable."""
    words: str


ENVIRONMENT: Final[tuple[Variable, ...]] = (
    Variable("QIMING_CONFIG", "", "the user's settings file, instead of the usual place"),
    Variable("QIMING_MODEL", "model", "the model, as provider/model"),
    Variable("QIMING_SMALL_MODEL", "small_model", "the model for titles"),
    Variable("QIMING_COMPACTION_MODEL", "compaction_model", "the model for summaries"),
    Variable("QIMING_STORE", "store", "path or URL of the store"),
    Variable("QIMING_PRESET", "context.preset", "opencode, qiming or guarded"),
    Variable("QIMING_AUTO", "context.auto", "whether to compact by itself: true or false"),
    Variable("QIMING_PRUNE", "context.prune", "whether to clear old tool results: true or false"),
    Variable("QIMING_RESERVED", "context.reserved", "tokens of the window that stay free"),
    Variable("QIMING_OUTPUT_TOKEN_MAX", "context.output_token_max", "the most tokens of one answer"),
    Variable("QIMING_MODELS_URL", "", "where limits and prices are fetched from"),
    Variable("QIMING_MODELS_PATH", "", "a file with limits and prices, instead of fetching"),
)
"""Every variable that the program reads, in one table."""


def user_file(env: Mapping[str, str]) -> Path:
    """Where the user's settings are: QIMING_CONFIG, or `config.toml` in the system's settings folder."""
    given = env.get("QIMING_CONFIG")
    return Path(given).expanduser() if given else user_folder() / "config.toml"


def user_folder() -> Path:
    """The system's folder for the user's settings: config.toml and the global AGENTS.md."""
    return platformdirs.user_config_path("qiming-tui")


def project_file(directory: Path) -> Path:
    """Where a project's settings are; to be read only when the folder is trusted."""
    return directory / ".qiming" / "config.toml"


def load(
    user: Path | None,
    project: Path | None,
    env: Mapping[str, str],
    flags: Mapping[str, JSON] | None = None,
) -> Config:
    """The merged settings. A file that is not there is no error, unless QIMING_CONFIG names it.

    `project` must be None for a folder that is not trusted. `flags` maps dotted keys to values.
    Raises ConfigError that names the file (or variable, or flag) and the key.
    """
    merged: dict[str, Any] = {}
    rules: list[Rule] = []
    sources: list[str] = []
    for path, origin in ((user, RuleOrigin.USER), (project, RuleOrigin.PROJECT)):
        raw = _read(path, required=origin is RuleOrigin.USER and bool(env.get("QIMING_CONFIG")))
        if path is None or raw is None:
            continue
        file = _decode(raw, str(path))
        if origin is RuleOrigin.PROJECT:
            _check_project(raw, str(path))
        rules += _rules(file, origin)
        _merge(merged, raw)
        sources.append(str(path))
    for variable in ENVIRONMENT:
        text = env.get(variable.name)
        if variable.key and text:
            _set(merged, variable.key, _value(variable.key, text, variable.name), variable.name)
    for key, value in (flags or {}).items():
        _set(merged, key, value, f"--{key.rpartition('.')[2].replace('_', '-')}")
    return _config(_decode(merged, "settings"), tuple(rules), tuple(sources))


def _read(path: Path | None, *, required: bool) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_FILE_BYTES:,} bytes")
        return tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"{path}: there is no such file", "QIMING_CONFIG names it") from None
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _decode(raw: dict[str, Any], source: str) -> _File:
    """Raises ConfigError with the dotted key where the shape is not a settings file's."""
    try:
        file = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error), source), "see README, settings") from error
    _settings(file.context, source)
    for name, table in file.providers.items():
        if table.base_url is not None and not re.match(r"https?://[^/\s]", table.base_url):
            raise ConfigError(f"{source}: providers.{name}.base_url: not an http address")
    return file


def _explain(error: str, source: str) -> str:
    """msgspec's `... - at `$.tools`` as `FILE: tools.max_line: unknown key`."""
    words, _, where = error.partition(" - at `")
    key = re.sub(r"^\$\.?|`$", "", where).replace("[...]", ".*")
    unknown = re.search(r"unknown field `(.*)`", words)
    if unknown:
        key, words = f"{key}.{unknown[1]}".strip("."), "unknown key"
    return f"{source}: {key}: {words}" if key else f"{source}: {words}"


def _settings(table: dict[str, JSON], source: str) -> Settings:
    for key in table:
        if key not in Settings.__struct_fields__:
            raise ConfigError(f"{source}: context.{key}: unknown key", "see README, settings")
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        words, _, where = str(error).partition(" - at `$.")
        raise ConfigError(f"{source}: context.{where.rstrip('`')}: {words}") from error
    for key in table:
        value = getattr(settings, key)
        if isinstance(value, int) and value < (1 if key == "output_token_max" else 0):
            raise ConfigError(f"{source}: context.{key}: {value} is too small")
    if settings.summary_form not in (None, "messages", "prefix", "transcript"):
        raise ConfigError(f"{source}: context.summary_form: not messages, prefix or transcript")
    return settings


def _check_project(raw: dict[str, Any], source: str) -> None:
    """Raises ConfigError for what a project may not set: where keys go, what is handed on, where we store."""
    found: list[str] = [key for key in ("store", "keymap") if key in raw]
    found += ["tools.env_allow"] if "env_allow" in raw.get("tools", {}) else []
    for name, table in raw.get("providers", {}).items():
        found += [f"providers.{name}.{key}" for key in table if key != "models"]
    if found:
        raise ConfigError(f"{source}: {found[0]}: a project may not set this", "set it in your own settings")


def _rules(file: _File, origin: RuleOrigin) -> list[Rule]:
    out: list[Rule] = []
    for permission, value in file.permission.items():
        table = {"*": value} if isinstance(value, Action) else value
        out += [Rule(permission, pattern, action, origin) for pattern, action in table.items()]
    return out


def _merge(below: dict[str, Any], above: dict[str, Any]) -> None:
    for key, value in above.items():
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value)
        else:
            below[key] = value


def _set(raw: dict[str, Any], key: str, value: JSON, source: str) -> None:
    """Put one value in its place, and judge it alone so that an error names where it came from."""
    one: dict[str, Any] = {}
    *tables, last = key.split(".")
    place = one
    for table in tables:
        place = place.setdefault(table, {})
    place[last] = value
    _decode(one, source)
    _merge(raw, one)


def _value(key: str, text: str, source: str) -> JSON:
    """A variable's text as the setting's own type: whole number, true or false, or text."""
    usual: object = getattr(Settings(), key.rpartition(".")[2]) if key.startswith("context.") else ""
    if isinstance(usual, bool):
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return lowered in ("1", "true", "yes", "on")
        raise ConfigError(f"{source}: expected true or false, not {text!r}")
    if isinstance(usual, int) or key == "context.reserved":
        if re.fullmatch(r"\s*\d[\d_]*\s*", text):
            return int(text)
        raise ConfigError(f"{source}: expected a whole number, not {text!r}")
    return text


def _config(file: _File, rules: tuple[Rule, ...], sources: tuple[str, ...]) -> Config:
    def ref(key: str, text: str | None) -> ModelRef | None:
        try:
            return ModelRef.parse(text) if text else None
        except InputError as error:
            raise ConfigError(f"{key}: {error}", error.hint) from error

    return Config(
        settings=_settings(file.context, "settings"),
        model=ref("model", file.model),
        small_model=ref("small_model", file.small_model),
        compaction_model=ref("compaction_model", file.compaction_model),
        store=file.store,
        tools=file.tools,
        providers=file.providers,
        keymap=file.keymap,
        rules=rules,
        sources=sources,
    )
