"""The price of an edit, shown before it is made (`landscape.md` b1)."""

from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.price import break_even, price_of, ratios
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.edits import EditKind
from qiming_tui.model.limits import Price
from qiming_tui.model.window import Settings
from tests.context.make import assistant, edit, state, tool, user

SONNET = Price(3.0, 15.0, 0.3, 3.75)
TALKED = (
    user("u1", "read both"),
    assistant("a1", tool("a1", "r1", "word " * 400), tool("a1", "r2", "word " * 100)),
    user("u2", "and now?"),
    assistant("a2", tool("a2", "r3", "word " * 300)),
)


def views(*edits):
    tally = Tally()
    return tuple(build(state(*TALKED, edits=log), Settings(), tally) for log in ((), edits))


def test_clearing_in_a_warm_cache_rereads_what_stands_behind_it():
    before, after = views(edit(1, EditKind.CLEAR, "r1"))
    found = price_of(before, after, cached=before.total, price=SONNET)
    place = next(i for i, item in enumerate(before.items) if item.key == "r1:result")
    behind = sum(item.tokens for item in before.items[place + 1 :])
    assert found.first == place
    assert found.freed == before.total - after.total > 300
    assert found.reread == behind
    assert found.dropped == before.items[place].tokens
    assert found.break_even == -(-1.15 * behind // (0.1 * found.freed))
    assert found.words.startswith(f"frees ~0.{round(found.freed / 100)}k; reads ~")
    assert f"pays back after {found.break_even} requests" in found.words


def test_a_cold_cache_and_the_end_of_the_request_are_free():
    before, after = views(edit(1, EditKind.CLEAR, "r1"))
    cold = price_of(before, after, cached=0, price=SONNET)
    assert (cold.reread, cold.break_even) == (0, 0)
    assert "nothing cached is read again" in cold.words
    before, after = views(edit(1, EditKind.CLEAR, "r3"))
    last = price_of(before, after, cached=before.total, price=SONNET)
    assert (last.reread, last.break_even) == (0, 0)
    assert last.dropped > 200


def test_a_restore_adds_and_never_earns_the_reading_back():
    after, before = views(edit(1, EditKind.CLEAR, "r1"))
    found = price_of(before, after, cached=before.total, price=None)
    assert found.freed < 0
    assert found.break_even is None
    assert found.assumed
    assert found.words.startswith("adds ~")
    assert "never earns that back" in found.words


def test_prices_give_the_shares_and_where_there_are_none_a_tenth_is_assumed():
    assert ratios(SONNET) == (0.1, 1.25)
    assert ratios(None) == (0.1, 1.0)
    assert ratios(Price(2.0, 8.0)) == (1.0, 1.0)
    assert break_even(reread=1000, saved=1000, read=0.1, write=1.25) == 12
    assert break_even(reread=1000, saved=1000, read=1.0, write=1.0) == 0
    assert break_even(reread=10, saved=0, read=0.1, write=1.0) is None


@given(
    st.integers(0, 100_000),
    st.integers(1, 100_000),
    st.sampled_from([(0.1, 1.0), (0.1, 1.25), (0.1, 2.0), (0.25, 1.0), (0.5, 1.0)]),
)
def test_replayed_request_by_request_the_edit_is_cheaper_from_the_break_even_on(reread, saved, shares):
    read, write = shares
    found = break_even(reread=reread, saved=saved, read=read, write=write)

    def extra(requests):
        """Cost with the edit less cost without it, over so many requests."""
        with_edit = write * reread + read * reread * (requests - 1)
        return with_edit - read * (reread + saved) * requests

    if found:
        assert extra(found) <= 1e-6 * (reread + saved)
        if found > 1:
            assert extra(found - 1) > -1e-6 * (reread + saved)
