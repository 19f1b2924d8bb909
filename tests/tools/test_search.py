"""list, glob and grep: what .gitignore says holds, links are not followed, a bad expression can be ended."""

import asyncio
import os
import threading

import pytest

from qiming_tui.tools import grep as grep_module
from qiming_tui.tools.base import Refused, ToolError
from qiming_tui.tools.folder import FOUND, LISTED, Glob, List
from qiming_tui.tools.grep import Grep
from qiming_tui.tools.walk import glob_spec, walk


def make(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def tree(project, outside):
    make(
        project,
        **{"src/app.py": "import os\nx = 1\n", "src/web/view.ts": "let x\n", "README.md": "read me\n"},
        **{"build/out.py": "x = 2\n", "src/gen/keep.py": "x = 3\n", "src/gen/drop.py": "x = 4\n"},
        **{".git/config": "x = 5\n", "node_modules/m.py": "x = 6\n", ".env": "x = 7\n"},
        **{
            ".gitignore": "build/\n*.log\n",
            "src/.gitignore": "gen/*\n!gen/keep.py\n",
            "src/a.log": "x = 8\n",
        },
    )
    os.symlink(outside, project / "outbox")
    os.symlink(outside / "secret.txt", project / "bare.txt")
    for age, path in enumerate(sorted(project.rglob("*"))):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (1_000_000 + age, 1_000_000 + age))
    return project


def test_walk_heeds_gitignore_links_and_a_stop(tree):
    stop = threading.Event()
    files = list(walk(tree, stop, top=tree))
    assert files == [
        ".env",
        ".gitignore",
        "README.md",
        "src/.gitignore",
        "src/app.py",
        "src/gen/keep.py",
        "src/web/view.ts",
    ]
    stop.set()
    assert list(walk(tree, stop, top=tree)) == []


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("*.py", ["a.py", "src/a.py", "src/deep/a.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/a.py"]),
        ("./src/*.py", ["src/a.py"]),
        ("*.{ts,md}", ["b.ts", "c.md"]),
        ("**/deep/*", ["src/deep/a.py"]),
        ("!x", ["!x"]),
        ("#y", ["#y"]),
    ],
)
def test_globs_as_ripgrep_understands_them(pattern, matching):
    names = ["a.py", "src/a.py", "src/deep/a.py", "b.ts", "c.md", "!x", "#y"]
    spec = glob_spec(pattern)
    assert [name for name in names if spec.match_file(name)] == matching


async def test_list_is_a_tree(tree, context, gate):
    result = await List().run({}, context)
    assert result.output == (
        f"{tree}/\n  .env\n  .gitignore\n  README.md\n  src/\n    .gitignore\n    app.py\n    gen/\n"
        "      keep.py\n    web/\n      view.ts"
    )
    result = await List().run({"path": "src", "ignore": ["web", "*.py"]}, context)
    assert result.output == f"{tree}/src/\n  .gitignore"
    assert gate.people == []


async def test_list_says_when_there_is_more(project, context):
    make(project, **{f"f{number:04}": "" for number in range(LISTED + 5)})
    result = await List().run({}, context)
    assert result.output.count("\n  f") == LISTED
    assert result.output.endswith("name a folder to see more of it.)")
    (project / "empty").mkdir()
    assert (await List().run({"path": "empty"}, context)).output.endswith("(empty)")
    with pytest.raises(ToolError, match="no folder none"):
        await List().run({"path": "none"}, context)
    with pytest.raises(ToolError, match="use read"):
        await List().run({"path": "f0000"}, context)


async def test_glob_newest_first(tree, context):
    result = await Glob().run({"pattern": "*.py"}, context)
    assert result.output == f"{tree}/src/gen/keep.py\n{tree}/src/app.py"
    result = await Glob().run({"pattern": "*.py", "path": "src/gen"}, context)
    assert result.output == f"{tree}/src/gen/keep.py"
    result = await Glob().run({"pattern": "*", "path": "build"}, context)
    assert result.output == f"{tree}/build/out.py"  # named, so entered
    assert (await Glob().run({"pattern": "*.rs"}, context)).output == "No files found"
    with pytest.raises(ToolError, match="too many alternatives"):
        await Glob().run({"pattern": "{a,b}" * 9}, context)


async def test_glob_says_when_there_is_more(project, context):
    make(project, **{f"f{number:04}": "" for number in range(FOUND + 5)})
    result = await Glob().run({"pattern": "f*"}, context)
    assert result.output.endswith(
        f"(Showing the newest {FOUND} of {FOUND + 5} files; a narrower pattern shows others.)"
    )


async def test_grep_by_file_newest_first(tree, context, gate):
    result = await Grep().run({"pattern": r"x\b"}, context)
    assert result.output == (
        f"Found 3 matches\n\n{tree}/src/web/view.ts:\n  Line 1: let x\n\n"
        f"{tree}/src/gen/keep.py:\n  Line 1: x = 3\n\n{tree}/src/app.py:\n  Line 2: x = 1\n\n"
        "(1 .env file(s) were not searched: read asks for them.)"
    )
    result = await Grep().run({"pattern": "x", "include": "*.ts"}, context)
    assert result.metadata["count"] == 1
    result = await Grep().run({"pattern": "x", "path": "src/app.py"}, context)
    assert result.output == f"Found 1 matches\n\n{tree}/src/app.py:\n  Line 2: x = 1"
    assert (await Grep().run({"pattern": "nowhere"}, context)).output.startswith("No matches found")
    assert gate.people == []


async def test_c_140_grep_in_a_secret_file_asks(tree, context, gate):
    gate.say = False
    with pytest.raises(Refused):
        await Grep().run({"pattern": "x", "path": ".env"}, context)
    gate.say = True
    result = await Grep().run({"pattern": "x", "path": ".env"}, context)
    assert "x = 7" in result.output


async def test_c_134_outside_asks_and_links_are_not_followed(tree, outside, context, gate):
    assert "hidden" not in (await Grep().run({"pattern": "hid"}, context)).output
    gate.say = False
    for tool, arguments in ((Grep(), {"pattern": "x"}), (Glob(), {"pattern": "*"}), (List(), {})):
        for path in ("outbox", str(outside), "bare.txt"):
            with pytest.raises(Refused):
                await tool.run({**arguments, "path": path}, context)


async def test_grep_says_when_there_is_more_and_skips_binaries(project, context):
    make(project, a="hit\n" * 150)
    (project / "b").write_bytes(b"\x00hit")
    result = await Grep().run({"pattern": "hit"}, context)
    assert result.output.count("Line ") == 100
    assert result.output.endswith(
        "(Showing the first 100 matches; narrow the pattern or the path to see others.)"
    )


async def test_grep_long_lines_are_capped_and_the_whole_is_kept(project, context):
    make(project, a=("hit" + "y" * 5000 + "\n") * 60)
    result = await Grep().run({"pattern": "hit"}, context)
    assert "bytes truncated" in result.output
    assert len(result.output) < 52_000
    assert result.metadata["full_output"].count("Line ") == 60


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "[[a"])
async def test_grep_says_what_is_wrong_with_an_expression(project, context, pattern):
    with pytest.raises(ToolError, match="not a usable pattern"):
        await Grep().run({"pattern": pattern}, context)


async def test_grep_ends_an_expression_that_takes_for_ever(project, context, monkeypatch):
    make(project, a="a" * 60 + "\n")
    monkeypatch.setattr(grep_module, "TIMEOUT_S", 0.5)
    with pytest.raises(ToolError, match="took more than"):
        await Grep().run({"pattern": "(a+)+$b"}, context)


async def test_grep_can_be_cancelled(project, context):
    make(project, a="a" * 60 + "\n")
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(Grep().run({"pattern": "(a+)+$b"}, context))
    await asyncio.wait({task}, timeout=0.3)
    begin = loop.time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.time() - begin < 1


async def test_a_project_cannot_put_its_modules_into_the_search(project, context):
    make(
        project,
        **{"re.py": "raise SystemExit(9)\n", "qiming_tui/__init__.py": "raise SystemExit(9)\n", "a": "hit\n"},
    )
    result = await Grep().run({"pattern": "hit"}, context)
    assert result.metadata["count"] == 1
