"""The invariants of a request, each broken on purpose."""

import msgspec

from qiming_tui.context.cache import Cache
from qiming_tui.context.health import health
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.edits import EditKind
from qiming_tui.model.window import Klass, Settings
from tests.context.make import (
    LIMITS,
    SYSTEM,
    TOOLS,
    asks,
    assistant,
    edit,
    goes_on,
    state,
    summary,
    tool,
    user,
)

PIN = edit(1, EditKind.PIN, "r1", text="keep me", source="read a.py")
TALK = (
    user("u1", "read it"),
    assistant("a1", tool("a1", "r1", "keep me"), tool("a1", "r2", "other")),
    asks("c1"),
    summary("s1", "c1"),
    goes_on("k1"),
    assistant("a2", tool("a2", "r3", "third")),
)


def checked(*edits, change=lambda items: items, growth=None, talk=TALK, **more):
    made = state(*talk, edits=edits, system=SYSTEM, tools=TOOLS, **more)
    view = build(made, Settings(), Tally(), cache=Cache())
    view = msgspec.structs.replace(view, items=tuple(change(list(view.items))))
    return health(view, window_of(made, Settings()), growth=growth)


def bad(found):
    return [check.name for check in found.checks if not check.good]


def test_all_is_well_and_said_in_words():
    found = checked(PIN, growth=1_000)
    assert found.good
    assert found.words.startswith("health good: 1 call with its result, in order, one active boundary, 1 pin")
    assert " + ~1,000 < 191,808 usable" in found.words
    assert checked(talk=TALK[:2]).words.startswith("health good: 2 calls with results, in order, no boundary")


def test_a_call_without_its_result_and_a_result_without_its_call():
    assert bad(checked(change=lambda items: [i for i in items if i.key != "r3:result"])) == ["pairs"]
    found = checked(change=lambda items: [i for i in items if i.key != "r3:call"])
    assert bad(found) == ["pairs"]
    assert found.words == "health BAD: a result of read without its call"


def test_what_is_out_of_order():
    assert "order" in bad(checked(change=lambda items: [items[-1], *items[:-1]]))
    assert "order" in bad(checked(change=lambda items: [i for i in items if i.klass is not Klass.USER]))
    swapped = checked(talk=(*TALK, user("u9", "x")), change=lambda i: [*i[:-2], i[-1], i[-2]])
    assert "order" in bad(swapped)


def test_a_second_summary_a_missing_one_and_what_is_archived():
    def twice(items):
        old = next(i for i in items if i.klass is Klass.SUMMARY)
        return [*items, msgspec.structs.replace(old, message_id="s0")]

    assert "boundary" in bad(checked(change=twice))
    assert bad(checked(change=lambda items: [i for i in items if i.klass is not Klass.SUMMARY])) == [
        "boundary"
    ]
    again = checked(change=lambda items: [*items, msgspec.structs.replace(items[-1], message_id="a1")])
    assert "boundary" in bad(again)


def test_a_pin_that_is_not_in_the_request_is_named():
    found = checked(PIN, change=lambda items: [i for i in items if i.key != "pin:r1"])
    assert bad(found) == ["pins"]
    assert found.words == "health BAD: 1 pin not sent: read a.py"
    live = TALK[:2]
    assert checked(PIN, talk=live).good
    assert bad(checked(edit(0, EditKind.CLEAR, "r1"), PIN, talk=live)) == ["pins"]


def test_a_window_that_the_next_turn_would_fill():
    found = checked(growth=191_800)
    assert bad(found) == ["fits"]
    assert " >= 191,808 usable" in found.words
    assert checked(limits=type(LIMITS)(0, None, 0)).good
