"""L4, models made ready: which gateway, tokenizer and dialect each one gets."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import msgspec

from qiming_tui.config import Config
from qiming_tui.context.tokens import encoding_for
from qiming_tui.model.errors import GatewayError, NoModel
from qiming_tui.model.ids import Clock
from qiming_tui.model.limits import ModelInfo, ModelRef
from qiming_tui.model.stream import Counter, Failure, Fault, FaultKind, Gateway, Request, StreamEvent
from qiming_tui.provider import local
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.litellm_gateway import LitellmGateway
from qiming_tui.provider.models_fetch import fetch_models
from qiming_tui.session.services import ModelProfile

LOG = logging.getLogger("qiming.models")


class LocalGateway:
    """The local server behind the provider child; its address is asked for before every request."""

    def __init__(self, server: local.LocalServer, gateway: Gateway) -> None:
        self._server = server
        self._gateway = gateway

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        """Events of one answer; a server that cannot start is a failure that may be repeated."""
        try:
            running = await self._server.ready()
        except GatewayError as error:
            yield Failure(Fault(kind=FaultKind.CHILD, message=f"{error}. {error.hint}".strip()))
            return
        request = msgspec.structs.replace(request, endpoint=running.endpoint)
        async with aclosing(self._gateway.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """End the server."""
        await self._server.close()


class NoGateway:
    """Of a profile that is only looked at."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        """Refused."""
        yield Failure(Fault(kind=FaultKind.CHILD, message="this session is only looked at here"))

    async def close(self) -> None:
        """Nothing was started."""


class Models:
    """Makes models ready, each once; starts the provider child and local servers when first needed."""

    def __init__(
        self,
        *,
        config: Config,
        catalogue: Catalogue,
        counter: Counter,
        env: Mapping[str, str],
        log_dir: Path,
        new_key: Callable[[], str],
        clock: Clock,
    ) -> None:
        self._config = config
        self._catalogue = catalogue
        self._counter = counter
        self._env = local.with_key(env, new_key)
        self._log_dir = log_dir
        self._clock = clock
        self._gateway: LitellmGateway | None = None
        self._profiles: dict[ModelRef, ModelProfile] = {}
        self._servers: list[LocalGateway] = []
        self._refreshing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to start the provider child, so that it is ready when the first prompt is."""
        self._litellm()

    async def resolve(self, ref: ModelRef) -> ModelProfile:
        """The profile of a model. Raises NoModel when a key is missing, GatewayError when a local model
        cannot be started."""
        profile = self._profiles.get(ref)
        if profile is None:
            profile = await self._local(ref) if ref.provider == local.PROVIDER else self._remote(ref)
            self._profiles[ref] = profile
        return profile

    def ready(self, ref: ModelRef) -> bool:
        """Whether a model's provider can be asked: its key is set, or it needs none."""
        if ref.provider == local.PROVIDER:
            return local.missing(ref) is None
        given = self._config.endpoint(ref)
        if given is not None and given.key_env is None:
            return True
        key = (given or self._catalogue.endpoint(ref)).key_env
        return bool(key and self._env.get(key))

    def info(self, ref: ModelRef) -> ModelInfo:
        """What the catalogue and the user's settings say of a model."""
        return self._catalogue.lookup(ref, self._config.limits(ref))

    async def glance(self, ref: ModelRef) -> ModelProfile:
        """The profile of a model whose windows are shown and that is never asked: no key, no process."""
        at_home = ref.provider == local.PROVIDER
        try:
            info = local.offered(self._env) if ref == local.SMOLLM2 else self.info(ref)
        except GatewayError:  # its file is not here: nothing is known
            info = self.info(ref)
        endpoint = self._config.endpoint(ref) or self._catalogue.endpoint(ref)
        return ModelProfile(
            info=info,
            gateway=NoGateway(),
            counter=self._counter,
            encoding=encoding_for(ref),
            dialect="anthropic" if endpoint.wire == "anthropic" else "openai",
            tools=info.tools and not at_home,
            short_prompt=at_home,
        )

    async def close(self) -> None:
        """End every process that was started."""
        if self._refreshing is not None:
            self._refreshing.cancel()
        for server in self._servers:
            await server.close()
        if self._gateway is not None:
            await self._gateway.close()

    def _litellm(self) -> LitellmGateway:
        if self._gateway is None:
            self._gateway = LitellmGateway(env=self._env, log_path=self._log_dir / "provider.log")
            self._gateway.start()
        return self._gateway

    def _remote(self, ref: ModelRef) -> ModelProfile:
        given = self._config.endpoint(ref)
        if given is None and not self._catalogue.knows(ref.provider):
            raise NoModel(
                f"{ref}: no provider is called {ref.provider!r}",
                "qiming models lists them; a server of your own goes into config.toml under [providers.NAME]",
            )
        endpoint = given or self._catalogue.endpoint(ref)
        if endpoint.key_env and not self._env.get(endpoint.key_env):
            raise NoModel(
                f"{ref}: there is no key for this provider",
                f"set {endpoint.key_env} in the environment, or use --model local/smollm2",
            )
        self._refresh(ref)
        info = self.info(ref)
        return ModelProfile(
            info=info,
            gateway=self._litellm(),
            endpoint=endpoint,
            counter=self._counter,
            encoding=encoding_for(ref),
            dialect="anthropic" if endpoint.wire == "anthropic" else "openai",
            tools=info.tools,
        )

    def _refresh(self, ref: ModelRef) -> None:
        """Once a day, beside the work, fetch limits and prices anew, unless the settings state them."""
        stated = self._config.limits(ref)
        if (stated is not None and stated.context) or not self._catalogue.stale(now_ms=self._clock()):
            return
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._fetch())

    async def _fetch(self) -> None:
        try:
            await fetch_models(env=self._env, target=self._catalogue.cache_file)
        except GatewayError as error:
            LOG.warning("limits and prices stay as they were: %s", error)
            return
        self._catalogue.forget()

    async def _local(self, ref: ModelRef) -> ModelProfile:
        server = local.LocalServer(ref, env=self._env, log_path=self._log_dir / "local.log")
        gateway = LocalGateway(server, self._litellm())
        server.start()
        self._servers.append(gateway)
        running = await server.ready()
        return ModelProfile(
            info=running.info,
            gateway=gateway,
            endpoint=running.endpoint,
            counter=self._counter,
            encoding=encoding_for(ref),
            tools=False,
            short_prompt=True,
            titles=False,
            count_chat=server.count_chat,
        )
