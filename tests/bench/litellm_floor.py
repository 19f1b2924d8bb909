"""The floor of whatever streams through litellm: read an answer, show nothing. `litellm_floor.py URL`.

The first line printed is the time and CPU of the import. Then every line of input, `read PROMPT` or
`cancel EVENTS PROMPT`, is answered with a line of JSON. Run it with the interpreter that has litellm.
"""

import asyncio
import json
import os
import sys
import time

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["REPEATED_STREAMING_CHUNK_LIMIT"] = str(sys.maxsize)
BEGAN = time.monotonic()
import litellm  # noqa: E402  # its cost is measured


def _open(url: str, prompt: str):
    return litellm.acompletion(
        model="openai/mock",
        api_base=f"{url}/v1",
        api_key="none",
        stream=True,
        stream_options={"include_usage": True},
        messages=[{"role": "user", "content": prompt}],
    )


async def read(url: str, prompt: str) -> dict:
    """Seconds, CPU seconds, characters and events of an answer."""
    wall, cpu = time.monotonic(), time.process_time()
    events = chars = 0
    async for chunk in await _open(url, prompt):
        events += 1
        chars += len((chunk.choices[0].delta.content or "") if chunk.choices else "")
    used = time.process_time() - cpu
    return {"wall_s": time.monotonic() - wall, "cpu_s": used, "chars": chars, "events": events}


async def cancel(url: str, events: str, prompt: str) -> dict:
    """Read so many events, then cancel; when that was, and how many seconds it took to come back."""
    enough = asyncio.Event()

    async def reader() -> None:
        seen = 0
        async for _ in await _open(url, prompt):
            seen += 1
            if seen >= int(events):
                enough.set()

    task = asyncio.create_task(reader())
    await enough.wait()
    began = time.monotonic()
    task.cancel()
    await asyncio.wait([task])
    return {"at": began, "wall_s": time.monotonic() - began}


async def main(url: str) -> None:
    """Answer lines until there are none."""
    print(json.dumps({"wall_s": time.monotonic() - BEGAN, "cpu_s": time.process_time()}), flush=True)
    await read(url, "benchstream 5 0 warm")
    while line := await asyncio.to_thread(sys.stdin.readline):
        command, _, rest = line.strip().partition(" ")
        if command == "cancel":
            answer = await cancel(url, *rest.split(" ", 1))
        else:
            answer = await read(url, rest)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
