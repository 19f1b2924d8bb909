"""Putting a new text in a file's place: asked first, all at once, with its permissions kept."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from qiming_tui.model.codec import JSON
from qiming_tui.model.sanitize import clean
from qiming_tui.tools.base import Ask, ToolContext, ToolError
from qiming_tui.tools.diff import Diff, unified
from qiming_tui.tools.paths import Place, permit

MAX_FILE_BYTES: Final = 16 * 1024 * 1024


def read_text(place: Place) -> str | None:
    """The text of a file with its line ends as they are; None if there is no file.

    Raises ToolError for a folder, a special file, one that is too large, and one that is not UTF-8.
    """
    path = place.real
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise ToolError(f"{place.name} is not a regular file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ToolError(f"{place.name} is larger than {MAX_FILE_BYTES // 2**20} MiB")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{place.name} is not UTF-8 text: it cannot be changed by this tool") from error
    except OSError as error:
        raise ToolError(f"{place.name}: {error.strerror or error}") from error


async def replace(tool: str, place: Place, change: Callable[[str | None], str], context: ToolContext) -> Diff:
    """Ask with the difference, then write what `change` makes of the old text (None: there is no file).

    A failure before the question tells something about the file: it needs the permission to read it.
    Raises Refused, and ToolError, also if the file changed while the question stood.
    """
    title = place.name
    try:
        old = await asyncio.to_thread(read_text, place)
        new = await asyncio.to_thread(change, old)
    except ToolError:
        needs, always = place.needs("read"), place.always("read")
        await context.ask(
            Ask(tool=tool, pattern=title, title=f"read {title} for {tool}", needs=needs, always=always)
        )
        raise
    diff = await asyncio.to_thread(unified, title, old or "", new)
    ask = Ask(
        tool=tool,
        pattern=title,
        title=f"{'create' if old is None else tool} {title} (+{diff.additions} -{diff.deletions})",
        detail=clean(diff.text)[0],
        needs=place.needs(tool),
        always=("edit:*",) if place.inside else place.always(tool),
    )
    await permit(context, place, ask)
    if await asyncio.to_thread(read_text, place) != old:
        raise ToolError(f"{place.name} changed meanwhile: read it again")
    try:
        await asyncio.to_thread(_write, place.real, new)
    except OSError as error:
        raise ToolError(f"{place.name}: {error.strerror or error}") from error
    return diff


def metadata(place: Place, diff: Diff) -> dict[str, JSON]:
    """What the result keeps of a change."""
    return {
        "path": clean(str(place.real))[0],
        "diff": diff.text,
        "additions": diff.additions,
        "deletions": diff.deletions,
    }


def _write(path: Path, text: str) -> None:
    """Write beside it and rename: a reader, or a crash, sees the old text or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o7777 if path.exists() else None
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "the file is write-protected")
    name = path.with_name(f".{path.name[:100]}.{os.getpid()}-{threading.get_ident()}.tmp")
    name.unlink(missing_ok=True)
    try:
        with open(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        if mode is not None:
            name.chmod(mode)
        name.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            name.unlink()
        raise
