"""Fetching models.dev's api.json into the cache (`design.md` 5.1); the catalogue itself needs no HTTP."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx
import msgspec

from qiming_tui.model.errors import GatewayError
from qiming_tui.provider.sources import Provider

URL_ENV: Final = "QIMING_MODELS_URL"
DEFAULT_URL: Final = "https://models.dev/api.json"
MAX_BYTES: Final = 64 << 20


async def fetch_models(*, env: Mapping[str, str], target: Path, timeout_s: float = 10.0) -> int:
    """Fetch api.json to `target`, in one step, after checking that it is one; returns its size in bytes.

    Raises GatewayError in words when it cannot; the old file is left as it was.
    """
    url = env.get(URL_ENV) or DEFAULT_URL
    try:
        data = await _get(url, timeout_s)
        if not msgspec.json.decode(data, type=dict[str, Provider]):
            raise GatewayError(f"{url} lists no provider")
        _replace(target, data)
    except httpx.HTTPError as fault:
        raise GatewayError(f"{url} could not be fetched: {fault or type(fault).__name__}") from fault
    except msgspec.DecodeError as fault:
        raise GatewayError(f"{url} is not models.dev data: {fault}") from fault
    except OSError as fault:
        raise GatewayError(f"{target} could not be written: {fault.strerror}") from fault
    return len(data)


async def _get(url: str, timeout_s: float) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async with (
        httpx.AsyncClient(timeout=timeout_s, follow_redirects=True) as client,
        client.stream("GET", url) as reply,
    ):
        reply.raise_for_status()
        async for chunk in reply.aiter_bytes():
            size += len(chunk)
            if size > MAX_BYTES:
                raise GatewayError(f"{url} is larger than {MAX_BYTES:,} bytes")
            chunks.append(chunk)
    return b"".join(chunks)


def _replace(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(data)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
