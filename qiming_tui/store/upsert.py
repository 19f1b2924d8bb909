"""Writing one row: insert it, or bring the one with the same key to the new values."""

from collections.abc import Sequence
from typing import Any

from peewee import EXCLUDED, Field, SqliteDatabase

from qiming_tui.model.errors import StoreError
from qiming_tui.store.database import Prepared
from qiming_tui.store.schema import Base


class Upsert:
    """`INSERT ... ON CONFLICT` for one table.

    `keep` names columns that the first write decides. `mine` names a column that must not change: a row
    that has another value there belongs to something else, and the write fails.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        model: type[Base],
        names: Sequence[str],
        *,
        key: Sequence[str],
        keep: Sequence[str] = (),
        mine: str | None = None,
    ) -> None:
        fields: list[Field] = [getattr(model, name) for name in names]
        update = [f for name, f in zip(names, fields, strict=True) if name not in {*key, *keep, mine}]
        query = model.insert_many([["" for _ in fields]], fields=fields)
        target = [getattr(model, name) for name in key]
        if not update:
            query = query.on_conflict_ignore()
        elif mine is None:
            query = query.on_conflict(conflict_target=target, preserve=update)
        else:
            owner: Field = getattr(model, mine)
            where = owner == getattr(EXCLUDED, owner.column_name)
            query = query.on_conflict(conflict_target=target, preserve=update, where=where)
        self._statement = Prepared(database, query)
        self._owned = mine is not None

    def __call__(self, values: Sequence[Any]) -> None:
        """Write one row; the values in the order of the names."""
        cursor = self._statement(*values)
        if self._owned and cursor.rowcount == 0:
            raise StoreError("an id is in use in another session", "import it under new ids")
