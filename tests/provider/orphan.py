"""A parent for the tests: starts a gateway, says the child's pid, streams; somebody kills it."""

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace

from qiming_tui.provider.litellm_gateway import LitellmGateway
from tests.provider.conftest import clean_env, request


async def main() -> None:
    gateway = LitellmGateway(env=clean_env(), log_path=Path(sys.argv[1]))
    gateway.start()
    while gateway.pid is None:
        await asyncio.sleep(0)
    print(gateway.pid, flush=True)
    if sys.argv[2] != "-":
        async for _ in gateway.stream(request(SimpleNamespace(url=sys.argv[2]), "openai")):
            print("event", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    os.environ.pop("QIMING_TEST_NOISE", None)
    asyncio.run(main())
