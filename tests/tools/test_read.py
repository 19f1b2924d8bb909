"""read: fact 165, cases C-134 and C-140."""

import base64
import os
import threading

import pytest

from qiming_tui.tools.base import OUTSIDE, Need, Refused, ToolError
from qiming_tui.tools.lines import read_part
from qiming_tui.tools.read import IMAGE_BYTES, Read


async def read(context, path, **more):
    return await Read().run({"filePath": str(path), **more}, context)


def numbered(count):
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def test_fact_165_a_part_says_how_to_go_on(project, context):
    (project / "a.txt").write_text(numbered(100))
    result = await read(context, "a.txt", limit=10)
    assert result.output.startswith("1: line 1\n2: line 2\n")
    assert result.output.endswith("10: line 10\n\n(Showing lines 1-10 of 100. Use offset=11 to continue.)")
    assert result.metadata["truncated"] is True
    result = await read(context, project / "a.txt", offset=91)
    assert result.output.startswith("91: line 91\n")
    assert result.output.endswith("100: line 100\n\n(End of file - total 100 lines)")
    assert result.metadata["truncated"] is False
    assert result.title == "a.txt"


async def test_fact_165_the_cap_on_bytes(project, context):
    (project / "a.txt").write_text(("x" * 1000 + "\n") * 100)
    result = await read(context, "a.txt")
    assert result.output.endswith("(Output capped at 50 KB. Showing lines 1-51. Use offset=52 to continue.)")
    assert len(result.output) < 53_000


async def test_fact_165_an_offset_beyond_the_end(project, context):
    (project / "a.txt").write_text("a\nb\nc\n")
    with pytest.raises(ToolError, match=r"^Offset 4 is out of range for this file \(3 lines\)$"):
        await read(context, "a.txt", offset=4)


@pytest.mark.parametrize("text", ["", "no newline", "crlf\r\nline\r\n"])
async def test_fact_165_ends_of_files(project, context, text):
    (project / "a.txt").write_bytes(text.encode())
    result = await read(context, "a.txt")
    lines = text.splitlines()
    expected = "".join(f"{number}: {line}\n" for number, line in enumerate(lines, 1))
    assert result.output == f"{expected}{chr(10) if lines else ''}(End of file - total {len(lines)} lines)"


async def test_long_lines_are_cut_and_marks_left_out(project, context):
    (project / "a.txt").write_bytes(b"\xef\xbb\xbfa\n" + b"x" * 300_000 + b"\nb\n")
    result = await read(context, "a.txt")
    assert result.output == (
        f"1: a\n2: {'x' * 2000}... (line truncated to 2000 chars)\n3: b\n\n(End of file - total 3 lines)"
    )


async def test_what_is_no_text_file_is_said(project, context):
    (project / "blob").write_bytes(b"\x00\x01\x02")
    (project / "noise").write_bytes(bytes(range(128, 256)) * 4)
    (project / "folder").mkdir()
    os.mkfifo(project / "pipe")
    (project / "retry.py").write_text("x")
    for name, words in {
        "blob": "blob is a binary file",
        "noise": "noise is a binary file",
        "folder": "folder is a folder: use list",
        "pipe": "pipe is not a regular file",
        "rety.py": r"there is no file rety.py. Did you mean retry.py\?",
        "a\x00b": "not a usable path",
    }.items():
        with pytest.raises(ToolError, match=words):
            await read(context, name)


async def test_text_in_any_language_is_text(project, context):
    (project / "zh").write_text("漢字かな\n" * 2000)
    assert (await read(context, "zh", limit=1)).output.startswith("1: 漢字かな\n")


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
    ],
)
async def test_images_are_attached(project, context, head, mime):
    (project / "picture").write_bytes(head + b"\x00" * 10)
    result = await read(context, "picture")
    (file,) = result.attachments
    assert (file.mime, file.filename) == (mime, "picture")
    assert base64.b64decode(file.url.removeprefix(f"data:{mime};base64,")) == head + b"\x00" * 10


async def test_an_image_that_is_too_large(project, context):
    (project / "p.gif").write_bytes(b"GIF89a" + b"\x00" * IMAGE_BYTES)
    with pytest.raises(ToolError, match="too large"):
        await read(context, "p.gif")


async def test_inside_nobody_is_asked(project, context, gate):
    (project / "a.txt").write_text("x")
    (project / ".env.example").write_text("K=")
    await read(context, "a.txt")
    await read(context, ".env.example")
    assert gate.people == []


@pytest.mark.parametrize("name", [".env", ".env.local", "deep/prod.env"])
async def test_fact_165_c_140_secrets_ask(project, context, gate, name):
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("K=1")
    gate.say = False
    with pytest.raises(Refused):
        await read(context, name)
    os.symlink(project / name, project / "plain.txt")
    with pytest.raises(Refused):
        await read(context, "plain.txt")
    assert gate.people[0].always == (f"read:{name}",)


async def test_c_134_outside_asks_also_through_links(project, outside, context, gate):
    os.symlink(outside, project / "outbox")
    os.symlink(outside / "secret.txt", project / "bare")
    gate.say = False
    for name in ("outbox/secret.txt", "bare", "../outside/secret.txt", outside / "secret.txt", "~/x"):
        with pytest.raises(Refused):
            await read(context, name)
    assert [ask.needs[1].permission for ask in gate.people] == [OUTSIDE] * 5
    assert gate.people[0].needs[1] == Need(OUTSIDE, (outside / "secret.txt").as_posix())
    assert gate.people[0].always[1] == f"{OUTSIDE}:{outside.as_posix()}/*"


async def test_c_134_a_link_that_changes_while_the_question_stands(project, outside, context, gate):
    (project / ".env").write_text("fine")

    def swap():
        (project / ".env").unlink()
        os.symlink(outside / "secret.txt", project / ".env")

    gate.before = swap
    with pytest.raises(ToolError, match="replaced by a link"):
        await read(context, ".env")


async def test_c_131_names_cannot_speak_to_the_terminal(project, context, gate):
    (project / "a\x1b]0;x\x07b").write_text("x")
    result = await read(context, "a\x1b]0;x\x07b")
    assert result.title == "ab"
    assert "\x1b" not in gate.seen[0].title + gate.seen[0].pattern


def test_a_cancelled_read_ends_early(project):
    (project / "a.txt").write_text(numbered(100))
    stop = threading.Event()
    stop.set()
    part = read_part(project / "a.txt", offset=1, limit=10, max_bytes=1000, stop=stop)
    assert (part.lines, part.total) == ([], None)
