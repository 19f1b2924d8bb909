"""A store in a folder of its own, closed at the end of each test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qiming_tui.store.store import Store
from tests.store.values import Clock

Opener = Callable[..., Store]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "qiming.db"


@pytest.fixture
def opener(path: Path, clock: Clock) -> Iterator[Opener]:
    """Opens stores, on `path` if nothing else is said, and closes them all."""
    opened: list[Store] = []

    def open_store(where: Path | str | None = None, **options: Any) -> Store:
        store = Store.open(where or path, clock=options.pop("clock", clock), **options)
        opened.append(store)
        return store

    yield open_store
    for store in reversed(opened):
        store.close()


@pytest.fixture
def store(opener: Opener) -> Store:
    return opener()
