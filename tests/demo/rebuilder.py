"""A process that knows nothing of how the requests came about, in a world that has changed: it rebuilds them
from the ledger alone, and says what the next request would look like now. Jobs are a JSON list in argv."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from qiming_tui.config import Config, ToolSettings
from qiming_tui.context.assemble import assemble, items_from
from qiming_tui.model.codec import canonical
from qiming_tui.runtime import Runtime
from qiming_tui.store.store import Store
from tests.session import harness


async def rebuild(job: dict[str, str]) -> dict[str, Any]:
    path, session_id = Path(job["store"]), job["session"]
    setup = harness.Setup(environment="Another machine, in the year 2031", user_folder=path.parent / "user")
    wiring = setup.wiring(path.parent, harness.Model(), harness.Ticks(), [])
    config = Config(settings=wiring.config.settings, tools=ToolSettings(disabled=("bash", "edit", "grep")))
    wiring = msgspec.structs.replace(wiring, config=config)
    runtime = Runtime(Store.open(str(path), clock=harness.Ticks()), wiring)
    try:
        worker = await runtime.open_session(session_id, harness.REF)
        view = await worker.ctx.engine.view(worker.ctx.profile)
        rows = await runtime.store.requests(session_id)
        blobs = await runtime.store.blobs({item.blob for row in rows for item in row.manifest})
        bodies = [canonical(assemble(row.params, items_from(row.manifest, blobs))) for row in rows]
        return {
            "rows": [
                {"kind": row.kind.value, "hash": row.view_hash, "body": body.hex()}
                for row, body in zip(rows, bodies, strict=True)
            ],
            "now": canonical(assemble(view.params, view.items)).hex(),
        }
    finally:
        await runtime.close()


async def main(jobs: list[dict[str, str]]) -> None:
    print(json.dumps([await rebuild(job) for job in jobs]))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
