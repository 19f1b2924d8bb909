"""edit: replace an exact text, once or everywhere."""

import re
from typing import Final

from qiming_tui.model.codec import JSON
from qiming_tui.tools.base import ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.paths import locate
from qiming_tui.tools.replace import metadata, replace


class Edit:
    """Replaces text in a file."""

    name = "edit"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "filePath": {
                "type": "string",
                "description": "The file, relative to the project folder or absolute",
            },
            "oldString": {"type": "string", "description": "The text to replace, exactly"},
            "newString": {"type": "string", "description": "The text that takes its place"},
            "replaceAll": {"type": "boolean", "description": "Replace every occurrence; default false"},
        },
        "required": ["filePath", "oldString", "newString"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("edit")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Ask with the difference, then replace. Raises ToolError where the text is not unique."""
        place = locate(context.directory, arguments["filePath"], home=context.env.get("HOME"))
        count = 0

        def change(text: str | None) -> str:
            nonlocal count
            if text is None:
                raise ToolError(f"there is no file {place.name}: use write to create it")
            everywhere = bool(arguments.get("replaceAll"))
            changed, count = substitute(
                text, arguments["oldString"], arguments["newString"], everywhere=everywhere
            )
            return changed

        diff = await replace("edit", place, change, context)
        times = "" if count == 1 else f" ({count} times)"
        return ToolResult(
            output=f"Replaced{times} in {place.name}.",
            title=place.name,
            metadata=metadata(place, diff),
        )


def substitute(text: str, old: str, new: str, *, everywhere: bool) -> tuple[str, int]:
    """The changed text and the number of replacements. In a file with CRLF line ends, `old` and `new` may
    be written with LF. Raises ToolError, with what to do, when `old` is absent or not unique."""
    if not old:
        raise ToolError("oldString is empty: give the text to replace, or use write for the whole file")
    if old == new:
        raise ToolError("oldString and newString are the same: nothing to do")
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), re.sub(r"(?<!\r)\n", "\r\n", new)
    count = text.count(old)
    if count == 0:
        raise ToolError(f"oldString was not found{_near(text, old)}")
    if count > 1 and not everywhere:
        raise ToolError(
            f"oldString occurs {count} times ({_where(text, old)}): take in more of what surrounds the one "
            "you mean, or set replaceAll"
        )
    return text.replace(old, new), count


def _where(text: str, old: str) -> str:
    lines: list[str] = []
    at = text.find(old)
    while at >= 0 and len(lines) < 5:
        lines.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + len(old))
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}{', ...' if at >= 0 else ''}"


def _near(text: str, old: str) -> str:
    """Where the text stands with other blanks, which is what usually went wrong."""
    wanted = [line.split() for line in old.strip().splitlines()]
    have = [line.split() for line in text.splitlines()]
    if not wanted:
        return ": it is blank"
    for start in range(len(have) - len(wanted) + 1):
        if have[start] == wanted[0] and have[start : start + len(wanted)] == wanted:
            return f", but it is at line {start + 1} with other blanks or indentation: copy it from there"
    return ": read the file again and copy the text exactly"
