"""grep: find text, in a process of its own that a bad expression cannot keep us from ending."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

from qiming_tui.model.codec import JSON
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tools.base import ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.environ import tool_environment
from qiming_tui.tools.folder import permitted_folder
from qiming_tui.tools.group import start
from qiming_tui.tools.truncate import truncate

FOUND: Final = 100
TIMEOUT_S: Final = 30
_PACKAGES: Final = str(Path(__file__).resolve().parent.parent.parent)


class Grep:
    """Finds text in files."""

    name = "grep"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression"},
            "path": {
                "type": "string",
                "description": "Folder or file to search; default: the project folder",
            },
            "include": {"type": "string", "description": "Glob of the files to search, such as *.py"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("grep")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Search. Raises ToolError for an expression that is none, or that takes too long."""
        pattern: str = arguments["pattern"]
        include: str | None = arguments.get("include")
        place = await permitted_folder("grep", pattern, arguments.get("path"), context)
        folders = {"root": str(place.real), "top": str(place.root)}
        wanted = {**folders, "pattern": pattern, "include": include, "limit": FOUND}
        rows = await _search(json.dumps(wanted), context)
        return _result(pattern, rows, context)


async def _search(wanted: str, context: ToolContext) -> list[dict[str, JSON]]:
    """The rows that the searching process wrote; it is gone when this returns, or raises."""
    env = {**tool_environment(context.env, hidden=context.hidden), "PYTHONPATH": _PACKAGES}
    argv = [sys.executable, "-P", "-m", "qiming_tui.tools.grep_child", wanted]
    group = await start(argv, directory=Path(_PACKAGES), env=env)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            data = await group.output.read()
            status = await group.exited
    except TimeoutError:
        raise ToolError(
            f"the search took more than {TIMEOUT_S} s: narrow it by path, include or pattern"
        ) from None
    finally:
        await group.end()
    try:
        rows: list[dict[str, JSON]] = [json.loads(line) for line in data.splitlines()]
    except ValueError:
        rows = []
    if rows and "error" in rows[-1]:
        raise ToolError(one_line(rows[-1]["error"], limit=500))
    if status or not rows or "done" not in rows[-1]:
        raise ToolError(f"the search failed: {one_line(data[-500:].decode('utf-8', 'replace'), limit=500)}")
    return rows


def _result(pattern: str, rows: list[dict[str, JSON]], context: ToolContext) -> ToolResult:
    *matches, end = rows
    lines = [f"Found {len(matches)} matches" if matches else "No matches found"]
    path = ""
    for row in matches:
        if row["path"] != path:
            path = row["path"]
            lines += ["", f"{clean(path)[0]}:"]
        lines.append(f"  Line {row['line']}: {row['text']}")
    notes = []
    if end["more"]:
        notes.append(f"Showing the first {FOUND} matches; narrow the pattern or the path to see others.")
    if end["secrets"]:
        notes.append(f"{end['secrets']} .env file(s) were not searched: read asks for them.")
    output = "\n".join(lines)
    limits = context.limits
    cut = truncate(output, max_lines=limits.max_lines, max_bytes=limits.max_bytes)
    metadata: dict[str, JSON] = {"count": len(matches), "truncated": bool(end["more"]), "files": end["files"]}
    if cut.full is not None:
        metadata["full_output"] = cut.full
    return ToolResult(
        output="\n\n".join([cut.text, *(f"({note})" for note in notes)]),
        title=one_line(pattern),
        metadata=metadata,
    )
