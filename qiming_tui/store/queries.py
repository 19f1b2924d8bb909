"""The reading half of the store: every call is of one moment and runs in the reader's thread."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

from peewee import SqliteDatabase

from qiming_tui.model.changes import SessionLine, SessionRecord
from qiming_tui.model.ledger import Attempt, CalibrationRow, RequestRow
from qiming_tui.model.messages import Entry, Session
from qiming_tui.store import page as pages
from qiming_tui.store import read, read_ledger, search
from qiming_tui.store.database import Lane, snapshot

T = TypeVar("T")
STREAM_PAGE = 50
"""Messages that `stream` reads at a time."""


class Queries:
    """Reads by session, by folder and by words."""

    def __init__(self, reader: Lane) -> None:
        self._reader = reader

    async def _read(self, work: Callable[[SqliteDatabase], T]) -> T:
        def whole(database: SqliteDatabase) -> T:
            with snapshot(database):
                return work(database)

        return await self._reader.run(whole)

    async def load(self, session_id: str) -> SessionRecord:
        """A session whole; raises NotFound. Outputs of cleared parts stay in the store (`outputs`)."""
        return await self._read(lambda database: read.load(database, session_id))

    async def page(self, session_id: str, *, limit: int, cursor: str | None = None) -> pages.Page:
        """At most `limit` messages (1 to 499): the newest, or those before a page's cursor."""
        return await self._read(lambda database: pages.page(database, session_id, limit, cursor))

    async def stream(self, session_id: str) -> AsyncIterator[Entry]:
        """The messages one by one, the newest first; raises NotFound."""
        cursor: str | None = None
        while True:
            found = await self.page(session_id, limit=STREAM_PAGE, cursor=cursor)
            for entry in reversed(found.items):
                yield entry
            cursor = found.cursor
            if cursor is None:
                return

    async def message(self, session_id: str, message_id: str) -> Entry:
        """One message of a session with its parts; raises NotFound."""
        return await self._read(lambda database: pages.message(database, session_id, message_id))

    async def session(self, session_id: str) -> Session:
        """The session's own row; raises NotFound."""
        return await self._read(lambda database: read.session(database, session_id))

    async def sessions(self, *, directory: str | None = None, limit: int = 100) -> list[SessionLine]:
        """The list of sessions, the last changed first; of one folder, or of all."""
        return await self._read(lambda database: read.sessions(database, directory, limit))

    async def latest(self, directory: str) -> str | None:
        """The session of a folder that changed last; one in which nothing was said does not count."""
        return await self._read(lambda database: read.latest(database, directory))

    async def find(self, prefix: str) -> str:
        """The id that begins so (`ses_` may be left out); raises NotFound, or InputError if several do."""
        return await self._read(lambda database: read.find(database, prefix))

    async def outputs(self, part_ids: Iterable[str]) -> dict[str, str]:
        """The texts that tool parts returned, cleared or not; those without one are missing."""
        wanted = list(part_ids)
        return await self._read(lambda database: read.outputs(database, wanted))

    async def requests(self, session_id: str) -> list[RequestRow]:
        """The ledger of a session in order, manifests included; empty for an unknown session."""
        return await self._read(lambda database: read_ledger.requests(database, session_id))

    async def request(self, session_id: str, step: int) -> RequestRow:
        """The request of a step, the last one if it was tried again; raises NotFound."""
        return await self._read(lambda database: read_ledger.request(database, session_id, step))

    async def blobs(self, hashes: Iterable[str]) -> dict[str, bytes]:
        """The canonical bytes behind these hashes; what is not stored is missing."""
        wanted = list(hashes)
        return await self._read(lambda database: read_ledger.blobs(database, wanted))

    async def attempts(self, session_id: str) -> tuple[Attempt, ...]:
        """The session's tries to compact, in order."""
        return await self._read(lambda database: read.attempts(database, session_id))

    async def calibration(self, model: str) -> CalibrationRow:
        """What was learned of a model; factor 1 if nothing was."""
        return await self._read(lambda database: read.calibration(database, model))

    async def rules(self, directory: str) -> tuple[tuple[str, str, str], ...]:
        """(tool, pattern, action) of a folder in the order of giving: the last match wins."""
        return await self._read(lambda database: read.rules(database, directory))

    async def trust(self, directory: str) -> bool | None:
        """Whether the user trusts a folder; None: never asked."""
        return await self._read(lambda database: read.trust(database, directory))

    async def search(self, query: str, *, limit: int = 50) -> list[search.Hit]:
        """Parts that hold every word of the query, in any session, archived and cleared ones too."""
        return await self._read(lambda database: search.find(database, query, limit))
