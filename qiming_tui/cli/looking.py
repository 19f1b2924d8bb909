"""A session of the store as a screen that only looks at it has it: its engine, without its provider."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from qiming_tui.cli.options import settings_from
from qiming_tui.cli.start import Start, wiring_of
from qiming_tui.runtime import Runtime
from qiming_tui.session.context import Context
from qiming_tui.store.store import Store


@asynccontextmanager
async def looking(store: Store, session_id: str) -> AsyncIterator[Context]:
    """The session's context; nothing is written. The store is closed at the end."""
    runtime = Runtime(store, wiring_of(settings_from({}), Start(directory=Path.cwd()), os.environ))
    try:
        watch = await runtime.watch(session_id)
        watch.close()
        yield watch.worker.ctx
    finally:
        await runtime.close()
