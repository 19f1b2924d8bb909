"""Full text over everything, in step with what is written."""

from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qiming_tui.model.changes import PutPart
from qiming_tui.model.parts import Failed, FilePart, Running, Span
from qiming_tui.store import search
from qiming_tui.store.store import Store
from tests.store.values import S, talk, text, tool


async def ids(store: Store, query: str) -> list[str]:
    return sorted(hit.part_id for hit in await store.search(query))


async def test_texts_calls_results_and_errors_are_found(store: Store) -> None:
    failed = Failed(
        input={"command": ["make", {"deep": "argument"}]}, error="exit code 2", time=Span(start=1)
    )
    name = FilePart(
        id="prt_f", session_id=S, message_id="msg_u", mime="x/y", url="data:,", filename="plan.pdf"
    )
    parts = [
        text("prt_a", "The Budget is full"),
        tool("prt_b", "def budget():"),
        tool("prt_c", state=failed),
        name,
    ]
    await store.apply(talk(parts, title="My session"))
    assert await ids(store, "budget") == ["prt_a", "prt_b"]
    assert await ids(store, "budget full") == ["prt_a"]
    assert await ids(store, "a.py") == ["prt_b"]
    assert await ids(store, "argument") == await ids(store, "exit code") == ["prt_c"]
    assert await ids(store, "plan.pdf") == ["prt_f"]
    assert await ids(store, "BÜDGET") == ["prt_a", "prt_b"], "accents and case do not matter"
    assert await ids(store, "budge") == await ids(store, "") == await ids(store, "...") == []
    hit = (await store.search("FULL"))[0]
    assert (hit.session_id, hit.message_id, hit.title) == (S, "msg_u", "My session")
    assert hit.snippet == "The Budget is full"


async def test_cleared_results_are_found(store: Store) -> None:
    await store.apply(talk([tool("prt_a", "needle in the past")]))
    await store.apply([PutPart(tool("prt_a", "needle in the past", compacted=5), 0)])
    part = (await store.load(S)).entries[0].parts[0]
    assert part.state.output == ""
    await store.apply([PutPart(part, 0)])
    hits = await store.search("needle")
    assert [hit.snippet for hit in hits] == ["read a.py needle in the past"]


async def test_chinese_words_are_found_by_their_characters(store: Store) -> None:
    await store.apply(talk([text("prt_a", "上下文窗口已满，请压缩。"), text("prt_b", "压力 and 缩小")]))
    assert await ids(store, "压缩") == ["prt_a"]
    assert await ids(store, "窗口 上下") == ["prt_a"]
    assert await ids(store, "缩压") == []
    assert (await store.search("压缩"))[0].snippet == "上下文窗口已满，请压缩。"


async def test_only_what_is_finished_is_in_the_index_and_old_words_leave_it(store: Store) -> None:
    await store.apply(talk([text("prt_a", "first draft", time=Span(start=1))]))
    assert await ids(store, "draft") == []
    await store.apply([PutPart(text("prt_a", "first version", time=Span(start=1, end=2)), 0)])
    assert await ids(store, "version") == ["prt_a"]
    await store.apply([PutPart(text("prt_a", "last word", time=Span(start=1, end=2)), 0)])
    assert await ids(store, "version") == []
    assert await ids(store, "word") == ["prt_a"]
    running = Running(input={"x": "word"}, time=Span(start=1))
    await store.apply([PutPart(tool("prt_t", state=running), 1)])
    assert await ids(store, "word") == ["prt_a"]
    await store.apply([PutPart(tool("prt_t", "word"), 1)])
    assert await ids(store, "word") == ["prt_a", "prt_t"]


def test_a_snippet_is_one_line_around_the_match() -> None:
    found = search.snippet("a " * 200 + "\nthe needle\n" + "b " * 200, "nEEdle")
    assert found.startswith("…a a")
    assert found.endswith("b b…")
    assert "the needle b" in found
    assert len(found) < 2 * search.AROUND + 10


@settings(deadline=None)
@given(st.text(max_size=30))
def test_no_query_is_an_operator(query: str) -> None:
    for phrase in search.phrases(query):
        assert phrase[0] == phrase[-1] == '"'
        assert '"' not in phrase[1:-1]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(["a", "b", "压", "c\0d", 'x"y', "NOT"]), max_size=6),
    query=st.text(max_size=12),
)
async def test_the_index_holds_what_the_parts_say(store: Store, words: list[str], query: str) -> None:
    await store.apply(talk([text("prt_a", " ".join(words)), tool("prt_b", " ".join(words[::-1]))]))
    await store.search(query)
    assert store._hand is not None
    check = f"INSERT INTO {search.SEARCH}({search.SEARCH}) VALUES ('integrity-check')"
    await store._hand.lane.run(lambda database: database.execute_sql(check))
    for word in _plain(words):
        assert await ids(store, word) == ["prt_a", "prt_b"]


def _plain(words: Iterable[str]) -> list[str]:
    return [word for word in words if word.isalpha() and word != "a"]
