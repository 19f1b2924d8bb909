"""A session in pages, the newest first (conformance facts 115 to 119)."""

import base64
import binascii

import msgspec
from peewee import SqliteDatabase

from qiming_tui.model.errors import InputError, NotFound
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Ms
from qiming_tui.store import read
from qiming_tui.store import schema as t
from qiming_tui.store.database import PAGE, fetch, first


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some messages in stored order; `cursor` leads to the ones before them, None: there are none."""

    items: tuple[Entry, ...]
    cursor: str | None

    @property
    def more(self) -> bool:
        """Whether there are older messages."""
        return self.cursor is not None


class Cursor(msgspec.Struct, frozen=True):
    """The oldest message of a page: its id, and when it was made (milliseconds since the epoch)."""

    id: str
    time: Ms

    def encode(self) -> str:
        """base64url of its JSON."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Raises InputError for anything else."""
        try:
            padded = text + "=" * (-len(text) % 4)
            return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=Cursor)
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise InputError("the cursor of a page is not valid") from None


def page(database: SqliteDatabase, session_id: str, limit: int, cursor: str | None) -> Page:
    """At most `limit` messages (1 to 500): the newest, or those before a cursor."""
    read.session(database, session_id)
    m = t.Message
    query = m.select(m.id).where(m.session == session_id).order_by(m.seq.desc(), m.id.desc())
    if cursor is not None:
        last = Cursor.decode(cursor).id
        row = first(database, m.select(m.seq).where(m.session == session_id, m.id == last))
        if row is None:
            raise InputError("the cursor of a page names a message that is gone")
        query = query.where((m.seq < row[0]) | ((m.seq == row[0]) & (m.id < last)))
    wanted = max(1, min(limit, PAGE - 1))
    ids = [str(row[0]) for row in fetch(database, query.limit(wanted + 1))]
    items = read.entries(database, session_id, ids[:wanted])
    if len(ids) <= wanted:
        return Page(items=items, cursor=None)
    return Page(items=items, cursor=Cursor(items[0].id, items[0].info.time.created).encode())


def message(database: SqliteDatabase, session_id: str, message_id: str) -> Entry:
    """One message of a session; raises NotFound."""
    found = read.entries(database, session_id, [message_id])
    if not found:
        raise NotFound(f"Message not found: {message_id}")
    return found[0]
