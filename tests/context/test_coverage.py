"""What a summary still names of what it stands for, on summaries with planted misses."""

from qiming_tui.context.coverage import Found, cover
from qiming_tui.context.facts import (
    FactKind,
    errors_in,
    facts_of,
    identifiers_in,
    numbers_in,
    paths_in,
)
from qiming_tui.model.parts import Completed, Failed, Span
from tests.context.make import assistant, tool, user


def ran(message, part, command, output, status):
    state = Completed(
        input={"command": command}, output=output, metadata={"exit": status}, time=Span(start=1, end=2)
    )
    return tool(message, part, name="bash", state=state)


WORK = (
    user("u1", "Why does src/retry.py fail on the build machine? Never put a sleep in tests/."),
    assistant(
        "a1",
        "I look at `backoff_delay` first.",
        tool("a1", "r1", "def backoff_delay(): ...", input={"filePath": "src/retry.py"}),
        tool("a1", "r2", "raise RetryGaveUpError(11317)", input={"filePath": "tests/conftest.py"}),
        ran("a1", "r3", "pytest -q tests", "FAILED tests/test_retry.py::test_jitter\n1 failed", 1),
    ),
    user("u2", "The limit is 4,711 tries.\n- [ ] write the changelog entry for maintainers"),
    assistant(
        "a2",
        ran("a2", "r4", "pytest -q tests", "5 passed", 0),
        tool("a2", "r5", state=Failed(input={"filePath": "setup.cfg"}, error="FileNotFoundError")),
    ),
)

GOOD = """\
## Goal
Mend `backoff_delay` in src/retry.py; the limit is 4711 tries.
- Never put a sleep in tests/ (the user said so).
- tests/conftest.py raises RetryGaveUpError; test_jitter of tests/test_retry.py is green again.
- `pytest -q tests` passes. setup.cfg is missing: FileNotFoundError.
- Open: write the changelog entry for maintainers."""


def found(summary, **more):
    return {(covered.fact.kind, covered.fact.text): covered for covered in cover(WORK, summary, **more).facts}


def test_every_kind_of_fact_is_found_once_with_its_turn():
    facts = {(fact.kind, fact.text): fact for fact in facts_of(WORK)}
    assert {text for kind, text in facts if kind is FactKind.FILE} == {
        "src/retry.py",
        "tests/",
        "tests/conftest.py",
        "setup.cfg",
    }
    assert facts[FactKind.COMMAND, "pytest -q tests"].words == "pytest -q tests (exit 0)"
    assert facts[FactKind.NUMBER, "4,711"].turn == 2
    assert (FactKind.IDENTIFIER, "backoff_delay") in facts
    assert facts[FactKind.CONSTRAINT, "Never put a sleep in tests/."].message_id == "u1"
    assert facts[FactKind.TODO, "write the changelog entry for maintainers"].turn == 2
    errors = {text for kind, text in facts if kind is FactKind.ERROR}
    assert {"RetryGaveUpError", "FileNotFoundError", "FAILED tests/test_retry.py::test_jitter"} <= errors


def test_a_full_summary_keeps_all_but_what_it_leaves_out():
    kept = found(GOOD)
    gone = {key for key, covered in kept.items() if covered.found is not Found.KEPT}
    assert gone == {(FactKind.ERROR, "FAILED tests/test_retry.py::test_jitter")}
    assert kept[FactKind.NUMBER, "4,711"].found is Found.KEPT


def test_planted_misses_are_recoverable_where_a_call_can_be_made_again_and_lost_where_only_said():
    poor = "src/retry.py was looked at; `pytest -q tests` ran. conftest of the tests is odd."
    what = found(poor)
    assert what[FactKind.FILE, "src/retry.py"].found is Found.KEPT
    assert what[FactKind.FILE, "tests/conftest.py"].found is Found.RECOVERABLE
    assert what[FactKind.NUMBER, "4,711"].found is Found.LOST
    assert what[FactKind.CONSTRAINT, "Never put a sleep in tests/."].found is Found.LOST
    assert what[FactKind.TODO, "write the changelog entry for maintainers"].found is Found.LOST
    failed = what[FactKind.ERROR, "FAILED tests/test_retry.py::test_jitter"]
    assert (failed.found, failed.note) == (Found.RECOVERABLE, "in the result of pytest -q tests")
    assert what[FactKind.ERROR, "RetryGaveUpError"].found is Found.LOST
    again = found(poor, still_sent=["The limit is 4711; no sleep in tests, never put one."])
    assert again[FactKind.NUMBER, "4,711"].found is Found.KEPT
    assert again[FactKind.CONSTRAINT, "Never put a sleep in tests/."].found is Found.KEPT


def test_a_command_that_failed_must_be_named_with_its_failure():
    work = (user("u1", "go"), assistant("a1", ran("a1", "r1", "make all", "no rule", 2)))
    (plain,) = [c for c in cover(work, "`make all` was run.").facts if c.fact.kind is FactKind.COMMAND]
    assert (plain.found, plain.note) == (Found.RECOVERABLE, "named without its exit status")
    piped = (user("u1", "go"), assistant("a1", ran("a1", "r1", "pnpm test 2>&1 | tail -5", "ok", 0)))
    (bare,) = [c for c in cover(piped, "`pnpm test` is green.").facts if c.fact.kind is FactKind.COMMAND]
    assert bare.found is Found.KEPT
    (said,) = [c for c in cover(work, "`make all` failed.").facts if c.fact.kind is FactKind.COMMAND]
    assert said.found is Found.KEPT


def test_lines_go_back_to_their_sources_and_what_was_never_there_is_flagged():
    text = f"{GOOD}\n- Also changed src/clock.py and ran `pytest -x --slow`."
    report = cover(WORK, text)
    lines = {line.text: line for line in report.lines}
    assert "## Goal" not in lines
    constraint = lines["- Never put a sleep in tests/ (the user said so)."]
    assert constraint.sources[0] == "u1"
    assert constraint.turns[0] == 1
    assert constraint.unsupported == ()
    assert report.lines[-1].unsupported == ("src/clock.py", "pytest -x --slow")
    assert report.unsupported == ("src/clock.py", "pytest -x --slow")


def test_outputs_that_lie_in_the_store_are_read_from_there():
    work = (user("u1", "go"), assistant("a1", tool("a1", "r1", "")))
    assert not [f for f in facts_of(work) if f.kind is FactKind.ERROR]
    assert [f.text for f in facts_of(work, {"r1": "KeyError: x"}) if f.kind is FactKind.ERROR] == ["KeyError"]


def test_patterns_take_what_is_meant_and_leave_what_only_looks_so():
    assert paths_in("see ./a/b.py, and/or https://x.y/z.html; e.g. setup.cfg. os.path ~/.bashrc v1.2") == [
        "a/b.py",
        "setup.cfg",
        "~/.bashrc",
    ]
    assert numbers_in("12.40 euros at 23:20 on 7 days, 102,013 of a1b22 and 3/44") == ["12.40", "102,013"]
    assert identifiers_in("`fare` day_return camelCase HttpError2 Plain README.md") == [
        "fare",
        "day_return",
        "camelCase",
        "HttpError2",
    ]
    assert errors_in("it is an ERROR of sorts") == ["it is an ERROR of sorts"]
