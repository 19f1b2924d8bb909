"""Repair: damaged histories become legal, sound ones stay as they are (cases C-046, C-047, C-111)."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.assemble import assemble
from qiming_tui.context.cache import weighed
from qiming_tui.context.render import fixed_items, render_entry
from qiming_tui.context.repair import LEAD_TEXT, NO_OUTPUT_TEXT, repair
from qiming_tui.context.scene import Scene
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.context.weigh import recount
from qiming_tui.model.parts import INTERRUPTED_TEXT
from qiming_tui.model.window import Item, RequestParams, Settings
from tests.context.histories import DIALECTS, damaged_entries, histories
from tests.context.legal import legal
from tests.context.make import (
    MEMORY,
    MODEL,
    SYSTEM,
    TOOLS,
    assistant,
    numbered,
    png,
    start,
    state,
    think,
    tool,
    user,
)

SOUND = (
    user("u1", "hi"),
    assistant(
        "a1", start("a1", "s"), think("a1", "t", "hm", signature="s"), "one", tool("a1", "p"), tool("a1", "q")
    ),
    user("u2", "on"),
)


def rendered(*entries, dialect="openai") -> list[Item]:
    scene = Scene(model=MODEL, dialect=dialect)
    fixed = fixed_items(SYSTEM, MEMORY, TOOLS)
    return [*fixed, *(item for entry in entries for item in render_entry(entry, scene))]


def body(items, dialect="openai") -> dict:
    made = assemble(RequestParams(model=MODEL, dialect=dialect), repair(items, dialect=dialect))
    assert legal(made, dialect) == []
    return made


def roles(made: dict) -> list[str]:
    return [m["role"] for m in made["messages"]]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_sound_history_stays_as_it_is(dialect):
    items = rendered(*SOUND, dialect=dialect)
    assert all(a is b for a, b in zip(repair(items, dialect=dialect), items, strict=True))


def test_c_111_a_call_without_result_gets_one():
    items = [item for item in rendered(*SOUND) if item.key != "p:result"]
    tools = [m for m in body(items)["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in tools] == [INTERRUPTED_TEXT, "out"]


def test_a_result_without_call_is_left_out():
    items = [item for item in rendered(*SOUND) if item.key != "p:call"]
    assert [m["tool_call_id"] for m in body(items)["messages"] if m["role"] == "tool"] == ["call_q"]


def test_a_result_in_the_wrong_place_goes_back_to_its_call():
    items = rendered(*SOUND)
    place = next(index for index, item in enumerate(items) if item.key == "p:result")
    moved = [*items[:place], *items[place + 1 :], items[place]]
    assert body(moved) == body(items)


def test_equal_call_ids_are_told_apart():
    twice = (
        user("u1", "hi"),
        assistant("a1", tool("a1", "p", "first", call_id="call_0")),
        assistant("a2", tool("a2", "q", "second", call_id="call_0")),
        assistant("a3", tool("a3", "r", "third", call_id="")),
    )
    messages = body(rendered(*twice))["messages"]
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"][:2] == ["call_0", "call_0_2"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["first", "second", "third"]


def test_anthropic_takes_only_its_own_kind_of_ids():
    odd = (user("u1", "hi"), assistant("a1", tool("a1", "p", call_id="call__thought__A+/=")))
    made = body(rendered(*odd, dialect="anthropic"), "anthropic")
    assert made["messages"][2]["tool_calls"][0]["id"].removeprefix("call_").isalnum()


def test_a_conversation_begins_with_a_user_message():
    made = body(rendered(*SOUND[1:]))
    assert made["messages"][1] == {"role": "user", "content": LEAD_TEXT}


def test_an_empty_result_says_so():
    made = body(rendered(user("u1", "hi"), assistant("a1", tool("a1", "p", " "))))
    assert made["messages"][-1]["content"] == NO_OUTPUT_TEXT
    kept = rendered(
        user("u1", "x"), assistant("a1", tool("a1", "p", "", attachments=[png()])), dialect="anthropic"
    )
    assert [block["type"] for block in body(kept, "anthropic")["messages"][-1]["content"]] == [
        "text",
        "image_url",
    ]


def test_fixed_items_in_disorder_are_put_first():
    items = rendered(*SOUND)
    assert body([*items[4:], *items[:4], items[2]]) == body(items)


@st.composite
def damage(draw, items: list[Item]) -> list[Item]:
    """Items deleted, doubled, moved and torn."""
    out = list(items)
    for _ in range(draw(st.integers(0, 6))):
        if not out:
            break
        place = draw(st.integers(0, len(out) - 1))
        kind = draw(st.sampled_from(["delete", "double", "swap", "blank", "regroup", "rename"]))
        item = out[place]
        if kind == "delete":
            out.pop(place)
        elif kind == "double":
            out.insert(draw(st.integers(0, len(out))), item)
        elif kind == "swap":
            other = draw(st.integers(0, len(out) - 1))
            out[place], out[other] = out[other], out[place]
        elif kind == "regroup":
            out[place] = msgspec.structs.replace(item, group=draw(st.sampled_from(out)).group)
        else:
            name = {"blank": ("text", "content"), "rename": ("id",)}[kind]
            filled = draw(st.sampled_from(["", " ", "call_x"]))
            value = {k: filled if k in name else v for k, v in item.value.items()}
            out[place] = msgspec.structs.replace(item, value=value)
    return out


@given(data=st.data(), dialect=st.sampled_from(DIALECTS), history=histories())
def test_damaged_items_become_legal_and_stay_so(data, dialect, history):
    items = data.draw(damage(rendered(*numbered(*history), dialect=dialect)))
    once = repair(items, dialect=dialect)
    made = assemble(RequestParams(model=MODEL, dialect=dialect), once)
    if any(item.value["role"] == "user" for item in once):
        assert legal(made, dialect) == []
    again = repair(once, dialect=dialect)
    assert all(a is b for a, b in zip(again, once, strict=True))
    tally = Tally()
    assert sum(item.tokens for item in weighed(once, tally)) == recount(made, tally)


@given(data=st.data(), dialect=st.sampled_from(DIALECTS), history=histories())
def test_damaged_histories_become_legal(data, dialect, history):
    entries = data.draw(damaged_entries(history))
    made = state(*entries, dialect=dialect, system=SYSTEM, tools=TOOLS)
    tally = Tally()
    view = build(made, Settings(), tally)
    whole = assemble(view.params, view.items)
    assert legal(whole, dialect) == []
    assert recount(whole, tally) == view.total
