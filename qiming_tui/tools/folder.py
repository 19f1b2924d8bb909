"""list and glob: what files there are."""

import asyncio
import itertools
import threading
from typing import Final

from pathspec import GitIgnoreSpec

from qiming_tui.model.codec import JSON
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tools.base import Ask, ToolContext, ToolError, ToolResult
from qiming_tui.tools.describe import describe
from qiming_tui.tools.paths import Place, is_secret, locate, permit
from qiming_tui.tools.walk import glob_spec, walk

LISTED: Final = 200
FOUND: Final = 100
SEEN: Final = 200_000
"""Files that glob looks at before it gives up."""


async def permitted_folder(tool: str, pattern: str, name: str | None, context: ToolContext) -> Place:
    """The folder that a search is about, asked for."""
    place = locate(context.directory, name or ".", home=context.env.get("HOME"))
    where = place.name
    ask = Ask(
        tool=tool,
        pattern=one_line(pattern),
        title=f"{tool} {one_line(pattern)} in {where}" if pattern != place.pattern else f"{tool} {where}",
        needs=(*place.needs(tool), *(place.needs("read") if is_secret(place.real) else ())),
        always=(*place.always(tool), *(place.always("read") if is_secret(place.real) else ())),
    )
    await permit(context, place, ask)
    if not place.real.exists():
        raise ToolError(f"there is no folder {place.name}")
    return place


class List:
    """Lists a folder."""

    name = "list"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The folder; default: the project folder"},
            "ignore": {"type": "array", "items": {"type": "string"}, "description": "Globs to leave out"},
        },
        "required": [],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("list")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """List it as a tree."""
        name: str | None = arguments.get("path")
        place = await permitted_folder("list", name or ".", name, context)
        if not place.real.is_dir():
            raise ToolError(f"{place.name} is not a folder: use read")
        ignore: list[str] = arguments.get("ignore") or []
        skip = _spec("\n".join(ignore).split("\n")) if ignore else None
        stop = threading.Event()
        try:
            files = await asyncio.to_thread(_first, place, stop, skip)
        finally:
            stop.set()
        shown = files[:LISTED]
        more = (
            f"\n\n(Showing the first {LISTED} files; name a folder to see more of it.)"
            if len(files) > LISTED
            else ""
        )
        return ToolResult(
            output=f"{place.real.as_posix()}/\n{clean(_tree(shown))[0]}".rstrip("\n")
            + (more or ("" if shown else "(empty)")),
            title=place.name,
            metadata={"count": len(shown), "truncated": bool(more)},
        )


def _first(place: Place, stop: threading.Event, skip: GitIgnoreSpec | None) -> list[str]:
    return list(itertools.islice(walk(place.real, stop, top=place.root, skip=skip), LISTED + 1))


def _tree(files: list[str]) -> str:
    """Relative paths as an indented tree; each folder once."""
    lines: list[str] = []
    open_folders: list[str] = []
    for path in files:
        *folders, name = path.split("/")
        same = 0
        for have, want in zip(open_folders, folders, strict=False):
            if have != want:
                break
            same += 1
        lines += [f"{'  ' * (depth + 1)}{folders[depth]}/" for depth in range(same, len(folders))]
        open_folders = folders
        lines.append(f"{'  ' * (len(folders) + 1)}{name}")
    return "\n".join(lines) + "\n" if lines else ""


def _spec(patterns: list[str]) -> GitIgnoreSpec:
    try:
        specs = [glob_spec(pattern) for pattern in patterns if pattern.strip()]
        return GitIgnoreSpec([item for spec in specs for item in spec.patterns])
    except ValueError as error:
        raise ToolError(f"not a usable glob pattern: {error}") from error


class Glob:
    """Finds files by name."""

    name = "glob"
    parameters: Final[dict[str, JSON]] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The glob pattern"},
            "path": {"type": "string", "description": "The folder to look in; default: the project folder"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    @property
    def description(self) -> str:
        """What the model is told."""
        return describe("glob")

    async def run(self, arguments: dict[str, JSON], context: ToolContext) -> ToolResult:
        """Find them, newest first."""
        pattern: str = arguments["pattern"]
        place = await permitted_folder("glob", pattern, arguments.get("path"), context)
        if not place.real.is_dir():
            raise ToolError(f"{place.name} is not a folder")
        spec = _spec([pattern])
        stop = threading.Event()
        try:
            files = await asyncio.to_thread(_newest, place, spec, stop)
        finally:
            stop.set()
        shown = [clean(str(place.real / path))[0] for path in files[:FOUND]]
        more = f"\n\n(Showing the newest {FOUND} of {len(files)} files; a narrower pattern shows others.)"
        return ToolResult(
            output="\n".join(shown) + (more if len(files) > FOUND else "") if shown else "No files found",
            title=one_line(pattern),
            metadata={"count": len(shown), "truncated": len(files) > FOUND},
        )


def _newest(place: Place, spec: GitIgnoreSpec, stop: threading.Event) -> list[str]:
    """The matching files, by time of change, newest first; equal times by name."""
    found = []
    for path in itertools.islice(walk(place.real, stop, top=place.root), SEEN):
        if spec.match_file(path):
            try:
                found.append((-(place.real / path).stat().st_mtime_ns, path))
            except OSError:
                continue
    return [path for _, path in sorted(found)]
