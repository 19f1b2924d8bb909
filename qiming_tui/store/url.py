"""Where a store lies: a path, or `sqlite:///path?max_page_count=N`."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from qiming_tui.model.errors import InputError


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """A store's file. `max_pages` limits its size in pages of 4,096 bytes; None: the disk is the limit."""

    path: Path
    max_pages: int | None = None

    @property
    def url(self) -> str:
        """The URL that opens the same store again."""
        query = "" if self.max_pages is None else f"?max_page_count={self.max_pages}"
        return f"sqlite:///{self.path}{query}"


def parse(where: str | Path) -> Location:
    """Read a path or a URL; raises InputError for anything that this version cannot open."""
    if isinstance(where, Path) or "://" not in where:
        return Location(path=Path(where).expanduser().absolute())
    parts = urlsplit(where)
    if parts.scheme in {"postgres", "postgresql"}:
        raise InputError(
            "a store on PostgreSQL is not available in this version", "give a path or sqlite:///PATH"
        )
    if parts.scheme != "sqlite" or parts.netloc:
        raise InputError("a store is a path or sqlite:///PATH", "sqlite:////tmp/x.db has an absolute path")
    path = unquote(parts.path).removeprefix("/")
    if not path:
        raise InputError("the store's URL names no file", "give a path or sqlite:///PATH")
    return Location(path=Path(path).expanduser().absolute(), max_pages=_pages(parts.query))


def _pages(query: str) -> int | None:
    values = parse_qs(query)
    unknown = sorted(values.keys() - {"max_page_count"})
    if unknown:
        raise InputError(f"the store's URL has an unknown setting: {unknown[0]}", "known: max_page_count")
    text = values.get("max_page_count", [""])[0]
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError("max_page_count is not a positive number")
    return int(text)
