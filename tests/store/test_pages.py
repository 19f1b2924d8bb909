"""A session in pages (conformance facts 115 to 119)."""

import base64
import json

import pytest

from qiming_tui.model.changes import PutMessage, PutPart
from qiming_tui.model.errors import InputError, NotFound
from qiming_tui.store.page import Cursor
from qiming_tui.store.store import Store
from tests.store.values import S, talk, text, tool, user


async def fill(store: Store, count: int) -> list[str]:
    """Messages at the same time, or at fractions of a millisecond; and another session."""
    await store.apply(talk(id="ses_b", message="msg_other"))
    ids = [f"msg_{n:02}" for n in range(count)]
    messages = [PutMessage(user(id, at=1000 + n // 2 * 0.5), n) for n, id in enumerate(ids)]
    await store.apply([talk()[0], *messages])
    return ids


async def test_fact_115_pages_from_the_newest_to_the_oldest(store: Store) -> None:
    ids = await fill(store, 6)
    seen, cursor = [], None
    for _ in range(3):
        page = await store.page(S, limit=2, cursor=cursor)
        seen.append([entry.id for entry in page.items])
        cursor = page.cursor
    assert seen == [ids[4:], ids[2:4], ids[:2]]
    assert (page.more, page.cursor) == (False, None)


async def test_fact_115_the_exact_number_is_all(store: Store) -> None:
    await fill(store, 6)
    assert (await store.page(S, limit=6)).more is False
    assert (await store.page(S, limit=5)).more is True


async def test_fact_115_an_unknown_session_is_said(store: Store) -> None:
    with pytest.raises(NotFound, match=r"^Session not found: ses_x$"):
        await store.page("ses_x", limit=2)


async def test_fact_116_a_stream_of_many_pages(store: Store) -> None:
    ids = await fill(store, 60)
    assert [entry.id async for entry in store.stream(S)] == ids[::-1]


async def test_fact_117_parts_are_in_order(store: Store) -> None:
    await store.apply(talk([tool("prt_b"), text("prt_a", "x")]))
    page = await store.page(S, limit=1)
    assert [part.id for part in page.items[0].parts] == ["prt_b", "prt_a"]
    await store.apply([PutPart(text("prt_0", "y"), 2)])
    assert [part.id for part in (await store.message(S, "msg_u")).parts] == ["prt_b", "prt_a", "prt_0"]


async def test_fact_118_a_message_belongs_to_its_session(store: Store) -> None:
    ids = await fill(store, 1)
    assert (await store.message(S, ids[0])).id == ids[0]
    for wrong in ("msg_x", "msg_other"):
        with pytest.raises(NotFound, match=f"^Message not found: {wrong}$"):
            await store.message(S, wrong)


async def test_fact_119_a_cursor_is_the_id_and_time(store: Store) -> None:
    ids = await fill(store, 4)
    cursor = (await store.page(S, limit=2)).cursor
    assert cursor is not None
    assert Cursor.decode(cursor) == Cursor(ids[2], 1000.5)
    assert Cursor.decode(cursor).encode() == cursor
    assert json.loads(base64.urlsafe_b64decode(cursor + "==")) == {"id": ids[2], "time": 1000.5}


@pytest.mark.parametrize(
    "cursor", ["", "?", "e30", "ä", Cursor("msg_gone", 1).encode(), Cursor("msg_other", 1).encode()]
)
async def test_another_cursor_is_refused_in_words(store: Store, cursor: str) -> None:
    await fill(store, 2)
    with pytest.raises(InputError, match="cursor"):
        await store.page(S, limit=1, cursor=cursor)
