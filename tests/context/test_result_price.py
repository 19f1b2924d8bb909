"""What the result of a call will probably weigh: the median of the calls before it (`ux.md` 3.3)."""

import pytest

from qiming_tui.context.result_price import result_price
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.parts import Failed, Span
from qiming_tui.model.window import Settings
from tests.context.make import assistant, state, tool, user


def bash(part, command, size, **more):
    return tool("a1", part, "word " * size, name="bash", input={"command": command}, **more)


PARTS = (
    bash("r1", "pytest -q", 100),
    bash("r2", "FAST=1 pytest -x", 300),
    bash("r3", "ls", 10),
    bash("r4", "pytest", 2_000, compacted=5),
    tool("a1", "r5", "word " * 50),
)


def priced(name, command="", parts=PARTS):
    now = state(user("u1", "hi"), assistant("a1", *parts))
    view = build(now, Settings(), Tally())
    return view, result_price(view, now.entries, tool=name, command=command)


def test_a_command_is_priced_by_those_of_the_same_program_cleared_ones_by_what_they_were():
    view, found = priced("bash", "pytest tests")
    shown = {item.part_id: item.tokens for item in view.items if item.key.endswith(":result")}
    assert (found.tokens, found.samples) == (shown["r2"], 3)
    count = view.verdict.count + found.tokens
    assert found.lands_percent == (200 * count + view.usable) // (2 * view.usable)


def test_another_program_is_priced_by_all_of_the_tool():
    assert priced("bash", "make all")[1].samples == 4
    assert priced("read")[1].samples == 1


@pytest.mark.parametrize("parts", [(), PARTS[4:]], ids=["no call", "another tool"])
def test_a_tool_that_has_not_run_has_no_price(parts):
    assert priced("bash", "pytest", parts)[1] is None


def test_a_call_that_failed_is_no_sample():
    failed = Failed(input={}, error="no", time=Span(start=1, end=2))
    assert priced("read", parts=(tool("a1", "r1", state=failed),))[1] is None


def test_only_the_newest_calls_are_looked_at():
    parts = [bash(f"r{n}", "make", 1_000) for n in range(10)]
    parts += [bash(f"s{n}", "make", 5) for n in range(20)]
    found = priced("bash", "make", parts)[1]
    assert found.samples == 20
    assert found.tokens < 50
