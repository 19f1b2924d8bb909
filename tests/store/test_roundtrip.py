"""What is written comes back as it was, also when it is written twice (cases C-110, C-141)."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from qiming_tui.model.changes import (
    Change,
    DropQueue,
    PutAttempt,
    PutCalibration,
    PutEdit,
    PutMessage,
    PutPart,
    PutQueue,
    PutRule,
    PutSession,
    PutTrust,
)
from qiming_tui.model.codec import from_raw
from qiming_tui.model.edits import Edit, EditKind, Switch
from qiming_tui.model.errors import InputError, NotFound, StoreError
from qiming_tui.model.ledger import Attempt, CalibrationRow, QueueItem
from qiming_tui.model.messages import MessageError, Session, entry_from_raw, entry_to_raw
from qiming_tui.model.parts import Completed, ToolPart, part_from_raw
from qiming_tui.store.store import Store
from tests.store.values import NOW, S, answer, session, talk, text, tool, user


async def test_c_110_a_summary_keeps_its_marks(store: Store) -> None:
    summary = answer(summary=True, finish="stop", mode="compaction")
    failed = answer("msg_f", summary=True, error=MessageError(name="X", data={"message": "no"}), done=None)
    cleared = tool("prt_t", compacted=NOW + 7, message="msg_s")
    await store.apply([*talk(), PutMessage(summary, 1), PutMessage(failed, 2), PutPart(cleared, 0)])
    record = await store.load(S)
    assert [entry.info for entry in record.entries] == [user(), summary, failed]
    part = record.entries[1].parts[0]
    assert isinstance(part, ToolPart)
    assert isinstance(part.state, Completed)
    assert part.state.time.compacted == NOW + 7
    assert (await store.sessions())[0].boundaries == 1


async def test_unknown_fields_and_parts_survive(store: Store) -> None:
    raw = {
        "info": {
            "id": "m",
            "sessionID": S,
            "role": "user",
            "time": {"created": 1.5, "zone": "x"},
            "new": [1],
        },
        "parts": [
            {
                "id": "p1",
                "sessionID": S,
                "messageID": "m",
                "type": "text",
                "text": "a",
                "ignored": False,
                "z": {},
            },
            {"id": "p2", "sessionID": S, "messageID": "m", "type": "hologram", "beam": None},
            {"id": "p3", "sessionID": S, "messageID": "m", "type": "text", "text": 5},
        ],
    }
    entry = entry_from_raw(raw, 3)
    head = from_raw({"id": S, "time": {"created": 1, "updated": 2}, "share": {"url": "u"}}, Session)
    await store.apply(
        [PutSession(head), PutMessage(entry.info, 3), *(PutPart(p, i) for i, p in enumerate(entry.parts))]
    )
    record = await store.load(S)
    assert record.session == head
    assert record.entries == (entry,)
    assert entry_to_raw(record.entries[0]) == raw


async def test_outputs_of_cleared_parts_stay_in_the_store(store: Store) -> None:
    long = "ä🙂" * 100
    await store.apply(talk([tool("prt_1", long, compacted=5), tool("prt_2", "kept"), text("prt_3", "x")]))
    one, two, _ = (await store.load(S)).entries[0].parts
    assert isinstance(one, ToolPart)
    assert isinstance(one.state, Completed)
    assert one.state.output == ""
    assert one.state.stored is not None
    assert (one.state.stored.bytes, one.state.stored.units) == (600, 300)
    assert two == tool("prt_2", "kept")
    assert await store.outputs(["prt_1", "prt_2", "prt_3", "?"]) == {"prt_1": long, "prt_2": "kept"}
    await store.apply([PutPart(one, 0)])
    assert await store.outputs(["prt_1"]) == {"prt_1": long}, "writing a part without its output keeps it"
    restored = msgspec.structs.replace(
        one, state=msgspec.structs.replace(one.state, time=tool("x").state.time)
    )
    await store.apply([PutPart(restored, 0)])
    assert (await store.load(S)).entries[0].parts[0] == tool("prt_1", long), "restored: loaded again"


def everything() -> list[Change]:
    edit = Edit(
        id="e1",
        session_id=S,
        seq=1,
        group="g",
        kind=EditKind.PIN,
        targets=("prt_1",),
        params={"text": "t"},
        at=1,
    )
    switch = Switch(id="e2", session_id=S, seq=2, group="g", on=False, at=2)
    attempt = Attempt(id="a1", session_id=S, seq=1, auto=True, form="prefix", before=10, started_at=1)
    queue = [
        QueueItem(id=f"q{n}", session_id=S, seq=9 - n, text=f"{n}", steer=n == 2, at=n, files=({"a": 1},))
        for n in (1, 2)
    ]
    return [
        *talk([text("prt_1", "words"), tool("prt_2", "found")]),
        PutEdit(edit),
        PutEdit(switch),
        PutAttempt(attempt),
        *map(PutQueue, queue),
        PutCalibration(CalibrationRow(model="p/m", factor=1.25, samples=3, error=0.5)),
        PutRule("/a", "bash", "git *", "allow"),
        PutRule("/a", "bash", "git push", "deny"),
        PutTrust("/a", True),
        PutTrust("/b", False),
    ]


def dump(path: Path) -> list[str]:
    """Everything in the file but what counts changes and what numbers rules (their order is asserted)."""
    with closing(sqlite3.connect(path)) as database:
        lines = list(database.iterdump())
    return sorted(line for line in lines if not re.match(r'INSERT INTO "(counter|session|rule)"', line))


async def test_every_change_may_be_handed_over_twice(store: Store, path: Path) -> None:
    await store.apply(everything())
    once, before = await store.load(S), dump(path)
    await store.apply(everything())
    assert await store.load(S) == once
    assert dump(path) == before
    assert [item.id for item in once.queue] == ["q2", "q1"]
    assert once.queue[0].files == ({"a": 1},)
    assert [type(record).__name__ for record in once.edits] == ["Edit", "Switch"]
    assert await store.attempts(S) == once.attempts
    assert await store.calibration("p/m") == CalibrationRow(model="p/m", factor=1.25, samples=3, error=0.5)
    assert await store.calibration("p/other") == CalibrationRow(model="p/other")
    assert await store.rules("/a") == (("bash", "git *", "allow"), ("bash", "git push", "deny"))
    assert (await store.trust("/a"), await store.trust("/b"), await store.trust("/c")) == (True, False, None)


async def test_a_rule_given_again_is_the_last_one(store: Store) -> None:
    await store.apply([PutRule("/a", "bash", "x", "allow"), PutRule("/a", "bash", "y", "deny")])
    await store.apply([PutRule("/a", "bash", "x", "deny")])
    assert await store.rules("/a") == (("bash", "y", "deny"), ("bash", "x", "deny"))


async def test_a_queue_item_is_taken_once(store: Store) -> None:
    item = QueueItem(id="q1", session_id=S, seq=1, text="do", at=1)
    await store.apply([*talk(), PutQueue(item)])
    version = await store.version(S)
    await store.apply([DropQueue("q1")])
    await store.apply([DropQueue("q1")])
    assert (await store.load(S)).queue == ()
    assert await store.changed_since(version, S)


async def test_the_place_of_a_message_and_a_part_never_changes(store: Store) -> None:
    await store.apply([*talk([text("prt_1", "a"), text("prt_2", "b")]), PutMessage(answer(), 1)])
    await store.apply([PutMessage(user(), 7), PutPart(text("prt_1", "A"), 9)])
    entries = (await store.load(S)).entries
    assert [(entry.id, entry.seq) for entry in entries] == [("msg_u", 0), ("msg_s", 1)]
    assert [part.id for part in entries[0].parts] == ["prt_1", "prt_2"]


async def test_a_transaction_is_whole_or_not_at_all(store: Store) -> None:
    await store.apply(talk())
    with pytest.raises(StoreError):
        await store.apply([PutPart(text("prt_1", "x"), 0), PutPart(text("prt_2", "x", "msg_none"), 0)])
    assert (await store.load(S)).entries[0].parts == ()


async def test_an_id_is_never_taken_over_by_another_session(store: Store) -> None:
    await store.apply([*talk([text("prt_1", "mine")]), *talk(id="ses_b", message="msg_b")])
    for change in (
        PutMessage(user("msg_u", "ses_b"), 0),
        PutPart(text("prt_1", "theirs", "msg_b", "ses_b"), 0),
    ):
        with pytest.raises(StoreError, match="in use in another session"):
            await store.apply([change])
    assert (await store.load(S)).entries[0].parts == (text("prt_1", "mine"),)


async def test_c_141_errors_hold_no_values(store: Store) -> None:
    secret = "sk-very-secret"
    with pytest.raises(StoreError) as caught:
        await store.apply([PutPart(text("prt_1", secret, secret), 0)])
    seen: BaseException | None = caught.value
    while seen is not None:
        assert secret not in str(seen)
        seen = seen.__cause__ or seen.__context__


async def test_half_a_surrogate_pair_does_no_harm(store: Store) -> None:
    odd = part_from_raw({"id": "p", "sessionID": S, "messageID": "msg_u", "type": "text", "text": "a\ud83db"})
    await store.apply(talk([odd, tool("prt_2", "c\udc00")], title="t\ud83d"))
    first, second = (await store.load(S)).entries[0].parts
    assert first.text == "a\ufffdb"
    assert second.state.output == "c\ufffd"


async def test_what_is_not_there_is_said_so(store: Store) -> None:
    for call in (store.load, store.session, store.find, store.delete):
        with pytest.raises(NotFound, match=r"^Session not found: ses_x$"):
            await call("ses_x")
    assert await store.latest("/a") is None
    assert await store.requests("ses_x") == []


async def test_a_session_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    ids = ["ses_abc1", "ses_abc2", "ses_b%d"]
    await store.apply([PutSession(session(id, updated=n, directory="/a")) for n, id in enumerate(ids)])
    assert await store.find("ses_abc1") == "ses_abc1"
    assert await store.find("abc2") == "ses_abc2"
    assert await store.find("b%") == "ses_b%d"
    with pytest.raises(NotFound):
        await store.find("%")
    with pytest.raises(InputError, match="2 sessions begin with abc"):
        await store.find("abc")
    assert await store.latest("/a") is None, "nothing was said in any of them"
    await store.apply([PutMessage(user("msg_1", session_id="ses_abc1"), 0)])
    assert await store.latest("/a") == "ses_abc1"
    assert [line.id for line in await store.sessions(directory="/a", limit=2)] == ["ses_b%d", "ses_abc2"]
    assert await store.sessions(directory="/b") == []


async def test_odd_numbers_of_other_programs_do_no_harm(store: Store) -> None:
    head = from_raw({"id": S, "time": {"created": 1e300, "updated": -(2**70)}, "cost": "free"}, Session)
    await store.apply([PutSession(head)])
    assert await store.session(S) == head
    assert (await store.sessions())[0].cost is None
