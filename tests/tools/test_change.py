"""edit and write: exact, asked for with the difference, all or nothing (cases C-134)."""

import os

import pytest

from qiming_tui.tools.base import OUTSIDE, Refused, ToolError
from qiming_tui.tools.diff import unified
from qiming_tui.tools.edit import Edit, substitute
from qiming_tui.tools.write import Write


async def edit(context, path, old, new, **more):
    return await Edit().run({"filePath": str(path), "oldString": old, "newString": new, **more}, context)


async def write(context, path, content):
    return await Write().run({"filePath": str(path), "content": content}, context)


async def test_edit_replaces_once_and_asks_with_the_difference(project, context, gate):
    file = project / "a.py"
    file.write_text("one\ntwo\nthree\n")
    file.chmod(0o755)
    result = await edit(context, "a.py", "two", "2")
    assert file.read_text() == "one\n2\nthree\n"
    assert file.stat().st_mode & 0o777 == 0o755
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    assert result.metadata == {"path": str(file), "diff": diff, "additions": 1, "deletions": 1}
    (ask,) = gate.people
    assert (ask.detail, ask.title, ask.always) == (diff, "edit a.py (+1 -1)", ("edit:*",))
    assert os.listdir(project) == ["a.py"]


async def test_a_no_changes_nothing(project, context, gate):
    (project / "a.py").write_text("one\n")
    gate.say = False
    with pytest.raises(Refused):
        await edit(context, "a.py", "one", "1")
    with pytest.raises(Refused):
        await write(context, "b/c.py", "x")
    assert (project / "a.py").read_text() == "one\n"
    assert os.listdir(project) == ["a.py"]


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("a b a\n", "a", r"oldString occurs 2 times \(lines 1, 1\): take in more"),
        ("x\n" * 9, "x", r"occurs 9 times \(lines 1, 2, 3, 4, 5, \.\.\.\)"),
        ("a\n    b\n", "a\nb", "was not found, but it is at line 1 with other blanks"),
        ("a\n", "c", "was not found: read the file again"),
        ("a\n", "", "oldString is empty"),
        ("a\n", "b", "are the same"),
    ],
)
def test_edit_says_what_is_wrong(text, old, words):
    with pytest.raises(ToolError, match=words):
        substitute(text, old, "b", everywhere=False)


def test_edit_everywhere_and_in_files_with_crlf():
    assert substitute("a b a", "a", "c", everywhere=True) == ("c b c", 2)
    assert substitute("a\r\nb\r\n", "a\nb", "1\n2", everywhere=False) == ("1\r\n2\r\n", 1)
    assert substitute("a\r\nb\n", "b\n", "c\n", everywhere=False) == ("a\r\nc\n", 1)


async def test_edit_keeps_every_other_byte(project, context):
    (project / "a").write_bytes("\ufeffx\r\ny\x1bz".encode())
    await edit(context, "a", "y", "Y")
    assert (project / "a").read_bytes() == "\ufeffx\r\nY\x1bz".encode()


async def test_what_cannot_be_changed_is_said(project, context):
    (project / "latin").write_bytes(b"\xe9t\xe9")
    (project / "folder").mkdir()
    os.mkfifo(project / "pipe")
    for name, words in {"latin": "not UTF-8", "folder": "not a regular", "pipe": "not a regular"}.items():
        with pytest.raises(ToolError, match=words):
            await edit(context, name, "a", "b")
    with pytest.raises(ToolError, match="use write to create it"):
        await edit(context, "none", "a", "b")


async def test_write_creates_parents_and_replaces(project, context, gate):
    result = await write(context, "deep/er/a.txt", "one\ntwo\n")
    assert (project / "deep/er/a.txt").read_text() == "one\ntwo\n"
    assert result.output == "Created deep/er/a.txt (2 lines)."
    assert gate.people[0].title == "create deep/er/a.txt (+2 -0)"
    assert "+one\n+two" in gate.people[0].detail
    result = await write(context, "deep/er/a.txt", "one")
    assert result.output == "Replaced deep/er/a.txt (1 lines)."
    assert "-two" in result.metadata["diff"]
    with pytest.raises(ToolError, match="exactly this text already"):
        await write(context, "deep/er/a.txt", "one")


async def test_a_file_that_changes_while_the_question_stands(project, context, gate):
    (project / "a").write_text("one")
    gate.before = lambda: (project / "a").write_text("another")
    with pytest.raises(ToolError, match="changed meanwhile"):
        await edit(context, "a", "one", "1")
    assert (project / "a").read_text() == "another"


async def test_c_134_a_link_that_appears_while_the_question_stands(project, outside, context, gate):
    gate.before = lambda: os.symlink(outside, project / "new")
    with pytest.raises(ToolError, match="replaced by a link"):
        await write(context, "new/f", "x")
    assert os.listdir(outside) == ["secret.txt"]


async def test_c_134_writing_through_a_link_asks_for_outside(project, outside, context, gate):
    os.symlink(outside, project / "outbox")
    os.symlink(outside / "made.txt", project / "dangling")
    gate.say = False
    for name in ("outbox/f", "dangling"):
        with pytest.raises(Refused):
            await write(context, name, "x")
    assert [ask.needs[1].permission for ask in gate.people] == [OUTSIDE, OUTSIDE]
    assert gate.people[0].needs[1].pattern == (outside / "f").as_posix()
    gate.say = True
    await write(context, "outbox/f", "x")
    assert (outside / "f").read_text() == "x"


async def test_c_134_a_failing_edit_tells_nothing_about_a_file_that_may_not_be_read(outside, context, gate):
    gate.say = False
    for old in ("hidden", "guess"):
        with pytest.raises(Refused):
            await edit(context, outside / "secret.txt", old, "x")
    with pytest.raises(Refused):
        await write(context, outside / "secret.txt", "hidden\n")
    assert [ask.detail for ask in gate.people[1:]] == ["", ""]


async def test_a_write_protected_file_stays(project, context, monkeypatch):
    file = project / "a"
    file.write_text("one")
    file.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: path != file)  # for root every file is writable
    with pytest.raises(ToolError, match="write-protected"):
        await write(context, "a", "two")


async def test_c_131_the_difference_cannot_speak_to_the_terminal(project, context, gate):
    await write(context, "a", "x\x1b]52;c;aGk=\x07y\n")
    assert "+xy" in gate.people[0].detail
    assert "\x1b" not in gate.people[0].detail


def test_a_difference_counts_its_lines_from_the_beginning_of_the_file():
    old = "".join(f"{number}\n" for number in range(10_000))
    diff = unified("f", old, old.replace("5000\n", "five\n"))
    assert diff.text == (
        "--- a/f\n+++ b/f\n@@ -4998,7 +4998,7 @@\n 4997\n 4998\n 4999\n-5000\n+five\n 5001\n 5002\n 5003"
    )
    assert unified("f", old, old).text == ""
    assert unified("f", "a", "b").text.count("\\ No newline at end of file") == 2
    huge = unified("f", "", old)
    assert (huge.additions, "lines truncated" in huge.text) == (10_000, True)
