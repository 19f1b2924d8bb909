"""What is typed, piped and pasted into the plain front end."""

import asyncio
import os

import pytest

from qiming_tui.cli.plain_input import Draft, Lines
from qiming_tui.cli.plain_questions import CHOICE_LINE, LATE_S, asking, late
from qiming_tui.model.events import PermissionAsked

pty = pytest.importorskip("pty")


def asked(**values):
    return PermissionAsked(session="ses_1", request_id="per_1", pattern="", **values)


async def test_lines_that_come_at_once_from_a_terminal_are_one_text():
    master, slave = pty.openpty()
    with os.fdopen(slave, "r", encoding="utf-8") as source:
        lines = Lines(source)
        os.write(master, b"typed\n")
        assert await asyncio.wait_for(lines.queue.get(), 5) == "typed"
        os.write(master, b"one\n/quit\n1\nlast")
        assert await asyncio.wait_for(lines.queue.get(), 5) == "one\n/quit\n1"
        os.write(master, b"\n")
        assert await asyncio.wait_for(lines.queue.get(), 5) == "last"
        os.write(master, b"\x04")
        assert await asyncio.wait_for(lines.queue.get(), 5) is None
    os.close(master)


async def test_lines_of_a_pipe_stay_lines():
    read, write = os.pipe()
    os.write(write, b"one\ntwo\n")
    os.close(write)
    with os.fdopen(read, "r", encoding="utf-8") as source:
        lines = Lines(source)
        assert [await asyncio.wait_for(lines.queue.get(), 5) for _ in range(3)] == ["one", "two", None]


def test_a_paste_is_sent_by_the_next_enter_with_its_last_line():
    draft = Draft()
    assert draft.take("typed") == ("typed", False)
    assert draft.add("one\ntwo") == 2
    assert draft.add("three\nfour") == 4
    assert draft.take("five") == ("one\ntwo\nthree\nfour\nfive", True)
    assert draft.take("/quit") == ("/quit", False)
    draft.add("one\ntwo")
    assert draft.take("/drop") == ("", True)
    assert draft.take("typed") == ("typed", False)


@pytest.mark.parametrize(
    ("text", "closed_s", "is_late"),
    [
        ("1", 0.5, True),
        ("5", LATE_S, True),
        ("1", LATE_S + 0.1, False),
        ("6", 0.5, False),
        ("1 more", 0.5, False),
    ],
)
def test_an_answer_that_comes_too_late_is_no_message(text, closed_s, is_late):
    assert late(text, closed_s) is is_late


def test_a_question_says_what_the_lasting_answers_allow_and_nothing_twice():
    command = "sleep 1; make all"
    text = asking(asked(tool="bash", title=command, detail=command), ("bash:sleep 1", "bash:make *"))
    assert text.split("\n") == [
        f"bash: {command}",
        CHOICE_LINE,
        "(2 and 3 allow: bash sleep 1, bash make *)",
    ]
    text = asking(asked(tool="write", title="create a.txt", detail="+one\n+two"), ("edit:*",))
    assert text.split("\n")[1:3] == ["+one", "+two"]
    assert text.endswith("(2 and 3 allow: every edit)")
    assert asking(asked(tool="bash", title="$(x)", detail="$(x)\n# cannot be judged"), ()).endswith(
        f"# cannot be judged\n{CHOICE_LINE}\n(2 and 3 allow this call only)"
    )
