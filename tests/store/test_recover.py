"""What a dead process left open is ended once (cases C-111)."""

from qiming_tui.model.changes import PutAttempt, PutMessage, PutPart, PutRequest
from qiming_tui.model.ledger import Attempt, Outcome
from qiming_tui.model.messages import ABORTED
from qiming_tui.model.parts import INTERRUPTED_TEXT, Failed, Pending, ReasoningPart, Running, Span
from qiming_tui.store.store import Store
from tests.store.values import NOW, Clock, S, answer, item, request, talk, text, tool


async def test_c_111_everything_open_is_ended(store: Store, clock: Clock) -> None:
    running = Running(input={"command": "make"}, metadata={"output": "so far"}, time=Span(start=NOW))
    thinking = ReasoningPart(id="prt_r", session_id=S, message_id="msg_s", text="hm", time=Span(start=NOW))
    parts = [
        thinking,
        text("prt_x", "half a sen", "msg_s", time=Span(start=NOW)),
        tool("prt_run", state=running, message="msg_s"),
        tool("prt_pend", state=Pending(raw='{"a":'), message="msg_s"),
        tool("prt_done", "result", message="msg_s"),
    ]
    attempt = Attempt(id="a", session_id=S, seq=1, auto=True, form="prefix", before=9, started_at=NOW)
    await store.apply(
        [
            *talk([text("prt_u", "do it")]),
            PutMessage(answer(done=None), 1),
            *(PutPart(part, seq) for seq, part in enumerate(parts)),
            PutMessage(answer("msg_sum", summary=True, done=None), 2),
            PutMessage(answer("msg_fin", done=None, finish="stop"), 3),
            PutAttempt(attempt),
            PutRequest(request(1, [item("a")], outcome=Outcome.OPEN)),
        ]
    )
    clock.now += 500
    changes = await store.recover(S)
    record = await store.load(S)
    infos = {entry.id: entry.info for entry in record.entries}
    found = {part.id: part for entry in record.entries for part in entry.parts}
    assert found["prt_x"].time.end == found["prt_r"].time.end == NOW + 500
    failed = found["prt_run"].state
    assert isinstance(failed, Failed)
    assert (failed.input, failed.error, failed.time) == (
        {"command": "make"},
        INTERRUPTED_TEXT,
        Span(start=NOW, end=NOW + 500),
    )
    assert failed.metadata == {"output": "so far", "interrupted": True}
    assert found["prt_pend"].state.metadata == {"raw": '{"a":', "interrupted": True}
    assert found["prt_done"].state.output == "result"
    assert infos["msg_s"].error.name == infos["msg_sum"].error.name == ABORTED
    assert infos["msg_fin"].error is None
    assert {infos[name].time.completed for name in ("msg_s", "msg_sum", "msg_fin")} == {NOW + 500}
    assert (record.attempts[0].end, record.attempts[0].ended_at) == ("interrupted", NOW + 500)
    assert record.last_request.outcome is Outcome.INTERRUPTED
    assert record.last_request.manifest == (item("a"),)
    assert len(changes) == 4 + 3 + 1 + 1
    assert [hit.part_id for hit in await store.search("half sen")] == ["prt_x"]
    assert (await store.sessions())[0].boundaries == 0, "half a summary is no boundary"
    version = await store.version(S)
    assert await store.recover(S) == ()
    assert not await store.changed_since(version, S)


async def test_a_session_that_ended_well_is_left_alone(store: Store) -> None:
    await store.apply(
        [
            *talk([text("prt_u", "x")]),
            PutMessage(answer(finish="stop"), 1),
            PutPart(tool("t", message="msg_s"), 0),
        ]
    )
    before = await store.load(S)
    assert await store.recover(S) == ()
    assert await store.load(S) == before
