"""One provider child for all tests of the gateway: it takes six seconds to start."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import (
    Endpoint,
    ReasoningDelta,
    Request,
    RequestKind,
    TextDelta,
    ToolCallDelta,
    WireReport,
)
from qiming_tui.provider.litellm_gateway import LitellmGateway

KEY = "sk-loopback-0123456789-secret"
MODELS = {"openai": "mock", "anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}


def clean_env() -> dict[str, str]:
    """The environment of a child in tests: no keys but our own, no proxies."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**env, "QIMING_TEST_KEY": KEY, "NO_PROXY": "*"}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LitellmGateway]:
    made = LitellmGateway(env=clean_env(), log_path=tmp_path_factory.mktemp("gateway") / "child.log")
    made.start()
    await made.ready(120)
    yield made
    await made.close()


def request(server, wire: str, *, tap: bool = True, provider: str | None = None, **body) -> Request:
    """A request to a loopback server in one of the wire formats."""
    base = {"openai": "/v1", "gemini": "", "anthropic": ""}.get(wire, "/v1")
    body.setdefault("messages", [{"role": "user", "content": "hello"}])
    body.setdefault("max_tokens", 100)
    return Request(
        id="req1",
        kind=RequestKind.TURN,
        model=ModelRef(provider or wire, MODELS.get(wire, "mock")),
        body={"model": "x", **body},
        endpoint=Endpoint(wire=wire, base_url=server.url + base, key_env="QIMING_TEST_KEY"),
        tap=tap,
    )


def merge(events: list) -> list:
    """Events with neighbouring deltas joined, as gathering may cut them anywhere."""
    out: list = []
    for event in events:
        match (out[-1] if out else None), event:
            case TextDelta(one), TextDelta(other):
                out[-1] = TextDelta(one + other)
            case (ReasoningDelta(one, block, None, None), ReasoningDelta(other, same, None, None)) if (
                block == same
            ):
                out[-1] = ReasoningDelta(one + other, block)
            case (ToolCallDelta(slot, one), ToolCallDelta(same, other)) if slot == same:
                out[-1] = ToolCallDelta(slot, one + other)
            case _:
                out.append(event)
    return out


async def collect(gateway, made: Request, *, wire: bool = False) -> list:
    """All events of an answer, merged; the report of the bytes that left only if asked for."""
    events = []
    async with asyncio.timeout(30):
        async for event in gateway.stream(made):
            events.append(event)
    return merge([event for event in events if wire or not isinstance(event, WireReport)])
