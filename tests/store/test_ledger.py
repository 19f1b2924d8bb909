"""The ledger: every manifest and blob comes back, and it grows by what changed, not by whole requests."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from qiming_tui.model.changes import PutMessage, PutPart, PutRequest
from qiming_tui.model.ledger import ManifestRow, Outcome
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import ItemState, Keep, PartFate, PrunePlan
from qiming_tui.store import ledger
from qiming_tui.store.store import Store
from tests.store.values import VERDICT, S, answer, blob, item, request, talk, text, user

LINES = st.builds(item, st.sampled_from("abcde"), tokens=st.integers(0, 9), state=st.sampled_from(ItemState))


@settings(deadline=None)
@given(st.lists(st.lists(LINES, max_size=8).map(tuple), min_size=1, max_size=12))
def test_every_manifest_comes_back(manifests: list[tuple[ManifestRow, ...]]) -> None:
    bases: list[ledger.Base] = []
    for number, manifest in enumerate(manifests):
        packed = ledger.pack(manifest, bases[-2:])
        start = next((base.manifest for base in bases if base.id == packed.base), ())
        back = ledger.unpack(start, prefix=packed.prefix, rows=packed.rows, shift=packed.shift)
        assert back == manifest
        assert {row.blob for row in manifest} <= set(packed.new) | {row.blob for row in start}
        bases.append(ledger.Base(str(number), packed.depth, manifest))


def test_a_chain_of_differences_ends() -> None:
    rows: tuple[ManifestRow, ...] = ()
    base: list[ledger.Base] = []
    depths = []
    for number in range(3 * ledger.CHAIN):
        rows += (item(f"i{number}"),)
        packed = ledger.pack(rows, base)
        base = [ledger.Base(str(number), packed.depth, rows)]
        depths.append(packed.depth)
    assert max(depths) == ledger.CHAIN - 1
    assert depths.count(0) == 3


def test_tokens_that_move_everywhere_cost_little() -> None:
    old = tuple(item(f"i{n}", tokens=100 + n) for n in range(500))
    new = tuple(msgspec.structs.replace(row, tokens=row.tokens + row.tokens // 50) for row in old)
    packed = ledger.pack(new, [ledger.Base("a", 0, old)])
    assert packed.prefix == 500
    assert packed.shift is not None
    assert len(packed.rows) + len(packed.shift) < 300
    assert ledger.unpack(old, prefix=500, rows=packed.rows, shift=packed.shift) == new


async def test_rows_and_blobs_come_back(store: Store) -> None:
    plan = PrunePlan(
        fates=(PartFate(part_id="p", tool="read", tokens=5, reason=Keep.PINNED),),
        tokens=0,
        candidates_tokens=5,
    )
    big = {"role": "user", "content": "words " * 400}
    first = request(1, [item("a"), item("b", words="x")], prune=plan, outcome=Outcome.OPEN)
    second = request(2, [item("a"), item("c")], odd=("a total that does not add up",), cost=0.25)
    title = request(0, [item("t")], id="req_t", seq=9, kind=RequestKind.TITLE)
    await store.apply(
        [*talk(), PutRequest(first, (blob("a"), blob(big))), PutRequest(second), PutRequest(title)]
    )
    assert await store.requests(S) == [first, second, title]
    assert await store.request(S, 2) == second
    record = await store.load(S)
    assert (record.last_request, record.requests) == (second, 2)
    hashes = [blob("a")[0], blob(big)[0], "f" * 64]
    assert await store.blobs(hashes) == dict([blob("a"), blob(big)])
    line = (await store.sessions())[0]
    assert line.model == "p/m"
    assert (line.requests, line.count, line.usable, line.percent, line.cost) == (3, 50, 100, 50, 0.25)


async def test_a_request_is_ended_without_losing_its_manifest(store: Store) -> None:
    sent = request(1, [item("a")], outcome=Outcome.OPEN)
    await store.apply([*talk(), PutRequest(sent), PutRequest(request(2, [item("a"), item("b")]))])
    after = msgspec.structs.replace(VERDICT, count=70, percent=70)
    ended = msgspec.structs.replace(
        sent, outcome=Outcome.OK, usage=Usage(input=5, total=5), after=after, cost=1.5
    )
    await store.apply([PutRequest(ended)])
    assert await store.request(S, 1) == ended
    await store.apply([PutRequest(msgspec.structs.replace(ended, manifest=()))])
    assert await store.request(S, 1) == ended, "what was sent is written once"
    assert (await store.request(S, 2)).manifest == (item("a"), item("b"))


async def test_a_step_tried_again_shows_the_last_try(store: Store) -> None:
    failed = request(1, [item("a")], outcome=Outcome.ERROR, id="req_1a")
    again = request(1, [item("a")], seq=2, id="req_1b")
    await store.apply([*talk(), PutRequest(failed), PutRequest(again)])
    assert await store.request(S, 1) == again


async def test_a_summary_between_turns_does_not_make_the_turns_whole(store: Store) -> None:
    window = [item(f"i{n}") for n in range(100)]
    summary = request(2, [item("other")], kind=RequestKind.SUMMARY)
    rows = [request(1, window), summary, request(3, [*window, item("new")])]
    await store.apply([*talk(), *map(PutRequest, rows)])
    assert await store.requests(S) == rows
    query = "SELECT base, prefix FROM request WHERE step = 3"
    assert store._reader.call(lambda db: db.execute_sql(query).fetchone()) == (rows[0].id, 100)


async def test_1000_steps_of_500_items_grow_the_ledger_linearly_and_little(store: Store) -> None:
    await store.apply(talk())
    sizes, manifest = [], [item(f"prt_{n:05}:result", words=f"{n} words of a result") for n in range(498)]
    for step in range(1, 1001):
        calibrated = 10 + step % 3
        if step % 100 == 0:
            manifest = [item(f"sum_{step}", words=f"summary {step}"), *manifest[-10:]]
            manifest += [item(f"old_{step}_{n}", words=f"{step} {n} back") for n in range(480)]
        added = [
            item(f"prt_{step:05}:{kind}", words=f"{step} {kind} of a result") for kind in ("call", "result")
        ]
        manifest = [*manifest, *added]
        shown = [msgspec.structs.replace(row, tokens=calibrated) for row in manifest]
        blobs = tuple(blob(words) for words in (f"{step} call of a result", f"{step} result of a result"))
        await store.apply([PutRequest(request(step, shown), blobs)])
        if step % 250 == 0:
            sizes.append(await size(store))
    assert (await store.load(S)).last_request.manifest == tuple(shown)
    steps = [later - earlier for earlier, later in zip([0, *sizes], sizes, strict=False)]
    assert sizes[-1] < 6_000_000, sizes
    assert max(steps[1:]) < 1.7 * min(steps[1:]), sizes


async def size(store: Store) -> int:
    """Bytes of the ledger's tables."""
    query = "SELECT sum(pgsize) FROM dbstat WHERE name IN ('request', 'blob', 'blobuse') OR name LIKE 'blob%'"
    return store._reader.call(lambda db: db.execute_sql(query).fetchone()[0])


async def test_a_deleted_session_leaves_nothing_behind(store: Store) -> None:
    for name in (S, "ses_b"):
        parts = [text(f"prt_{name}", "unmistakable", f"msg_{name}", name)]
        row = request(1, [item("shared"), item(name)], name)
        await store.apply(
            [*talk(parts, id=name, message=f"msg_{name}"), PutRequest(row, (blob("shared"), blob(name)))]
        )
    assert await store.acquire(S, "me")
    await store.delete(S)
    assert [line.id for line in await store.sessions()] == ["ses_b"]
    assert await store.blobs([blob(S)[0], blob("shared")[0]]) == dict([blob("shared")])
    assert [hit.session_id for hit in await store.search("unmistakable")] == ["ses_b"]
    assert await store.lease(S) is None
    left = (
        "SELECT (SELECT count(*) FROM part), (SELECT count(*) FROM message), (SELECT count(*) FROM request)"
    )
    assert store._reader.call(lambda db: db.execute_sql(left).fetchone()) == (1, 1, 1)
    await store.apply(
        [*talk([text("prt_new", "again")]), PutRequest(request(1, [item("shared")]), (blob("shared"),))]
    )
    assert (await store.requests(S))[0].manifest == (item("shared"),)


async def test_ids_of_a_deleted_session_may_come_back(store: Store) -> None:
    await store.apply([*talk(), PutMessage(answer(), 1), PutPart(text("p", "x", "msg_s"), 0)])
    await store.delete(S)
    await store.apply([*talk(), PutMessage(user("msg_s"), 1)])
    assert [entry.id for entry in (await store.load(S)).entries] == ["msg_u", "msg_s"]
