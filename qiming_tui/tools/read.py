"""read: a part of a text file, or an image (facts 165; cases C-140)."""

import asyncio
import base64
import difflib
import threading
from pathlib import Path
from typing import Final

from qiming_tui.model.codec import JSON
from qiming_tui.model.parts import Attachment
from qiming_tui.model.sanitize import clean
from qiming_tui.tools.base import Ask, ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.lines import Part, is_binary, read_part
from qiming_tui.tools.paths import Place, locate, permit

IMAGE_BYTES: Final = 3_932_160
"""The largest image that is attached: 5 MiB in base64."""
_IMAGES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class Read:
    """Reads a part of a file."""

    name = "read"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "filePath": {
                "type": "string",
                "description": "The file, relative to the project folder or absolute",
            },
            "offset": {"type": "integer", "minimum": 1, "description": "Number of the first line; default 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "Number of lines; default 2000"},
        },
        "required": ["filePath"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("read")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Read it. Raises ToolError for what is not there, a folder, or no text."""
        place = locate(context.directory, arguments["filePath"], home=context.env.get("HOME"))
        title = place.name
        ask = Ask(
            tool="read",
            pattern=title,
            title=f"read {title}",
            needs=place.needs("read"),
            always=place.always("read"),
        )
        await permit(context, place, ask)
        stop = threading.Event()
        try:
            return await asyncio.to_thread(_read, place, arguments, context, stop)
        except OSError as error:
            raise ToolError(f"{title}: {error.strerror or error}") from error
        finally:
            stop.set()


def _read(
    place: Place, arguments: dict[str, JSON], context: ToolContext, stop: threading.Event
) -> ToolResult:
    path = place.real
    if path.is_dir():
        raise ToolError(f"{place.name} is a folder: use list")
    if not path.exists():
        raise ToolError(f"there is no file {place.name}{_similar(path)}")
    if not path.is_file():
        raise ToolError(f"{place.name} is not a regular file")
    with path.open("rb") as file:
        head = file.read(4096)
    mime = _image(head)
    title = place.name
    if mime:
        return _attach(path, mime, title)
    if is_binary(head):
        raise ToolError(f"{place.name} is a binary file and cannot be shown as text")
    offset: int = arguments.get("offset") or 1
    limit: int = arguments.get("limit") or context.limits.max_lines
    part = read_part(path, offset=offset, limit=limit, max_bytes=context.limits.max_bytes, stop=stop)
    if not part.lines and offset > 1 and part.total is not None:
        raise ToolError(f"Offset {offset} is out of range for this file ({part.total} lines)")
    return ToolResult(
        output=_numbered(part, context.limits.max_bytes),
        title=title,
        metadata={"path": clean(str(path))[0], "truncated": part.capped or part.total != _last(part)},
    )


def _last(part: Part) -> int:
    return part.first + len(part.lines) - 1


def _numbered(part: Part, max_bytes: int) -> str:
    """The lines with their numbers, and a last line that says where we are and how to go on (fact 165)."""
    last = _last(part)
    body = "\n".join(f"{number}: {line}" for number, line in enumerate(part.lines, part.first))
    more = f"Use offset={last + 1} to continue."
    if part.capped:
        end = f"(Output capped at {max_bytes // 1024} KB. Showing lines {part.first}-{last}. {more})"
    elif part.total is None:
        end = f"(Showing lines {part.first}-{last} of many. {more})"
    elif last < part.total:
        end = f"(Showing lines {part.first}-{last} of {part.total}. {more})"
    else:
        end = f"(End of file - total {part.total} lines)"
    return f"{body}\n\n{end}" if body else end


def _image(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _IMAGES.items() if head.startswith(magic)), None)


def _attach(path: Path, mime: str, title: str) -> ToolResult:
    data = path.read_bytes() if path.stat().st_size <= IMAGE_BYTES else b""
    if not data:
        raise ToolError(f"{title} is larger than {IMAGE_BYTES:,} bytes: too large to be shown")
    url = f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
    file = Attachment(mime=mime, url=url, filename=clean(path.name)[0])
    return ToolResult(
        output="Image read successfully",
        title=title,
        metadata={"path": clean(str(path))[0]},
        attachments=(file,),
    )


def _similar(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name, names, n=3)
    return f". Did you mean {', '.join(close)}?" if close else ""
