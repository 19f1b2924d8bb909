"""write: a whole file, new or replaced."""

from typing import Final

from qiming_tui.model.codec import JSON
from qiming_tui.tools.base import ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.paths import locate
from qiming_tui.tools.replace import MAX_FILE_BYTES, metadata, replace
from qiming_tui.tools.truncate import size


class Write:
    """Writes a whole file."""

    name = "write"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "filePath": {
                "type": "string",
                "description": "The file, relative to the project folder or absolute",
            },
            "content": {"type": "string", "description": "The whole text of the file"},
        },
        "required": ["filePath", "content"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("write")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Ask with the difference, then write the file and the folders it needs."""
        content: str = arguments["content"]
        if size(content) > MAX_FILE_BYTES:
            raise ToolError(f"content is larger than {MAX_FILE_BYTES // 2**20} MiB")
        place = locate(context.directory, arguments["filePath"], home=context.env.get("HOME"))
        created = False

        def change(old: str | None) -> str:
            nonlocal created
            created = old is None
            if old == content:
                raise ToolError(f"{place.name} holds exactly this text already: nothing to do")
            return content

        diff = await replace("write", place, change, context)
        lines = len(content.splitlines())
        return ToolResult(
            output=f"{'Created' if created else 'Replaced'} {place.name} ({lines} lines).",
            title=place.name,
            metadata=metadata(place, diff),
        )
