"""Where a path really is: symbolic links resolved, inside the project or not (cases C-134, C-140)."""

import os
from dataclasses import dataclass
from pathlib import Path

from qiming_tui.model.sanitize import one_line
from qiming_tui.tools.base import OUTSIDE, Ask, Need, ToolContext, ToolError
from qiming_tui.tools.permissions import escape


@dataclass(frozen=True)
class Place:
    """A path as it was named, and where it leads."""

    real: Path
    """Absolute, with every link of it and of its nearest existing parents resolved."""
    root: Path
    """The project folder, resolved."""

    @property
    def inside(self) -> bool:
        """Whether it is in the project folder."""
        return self.real.is_relative_to(self.root)

    @property
    def pattern(self) -> str:
        """What rules are matched with: relative inside the project, absolute outside."""
        return (self.real.relative_to(self.root) if self.inside else self.real).as_posix()

    @property
    def name(self) -> str:
        """The pattern as people may see it: clean, on one line."""
        return one_line(self.pattern)

    def needs(self, permission: str) -> tuple[Need, ...]:
        """What must be allowed to use it."""
        own = Need(permission, self.pattern)
        return (own,) if self.inside else (own, Need(OUTSIDE, self.pattern))

    @property
    def folder_rule(self) -> str:
        """The rule for the folder that holds it, for "always" outside the project."""
        return f"{OUTSIDE}:{escape(self.real.parent.as_posix().rstrip('/'))}/*"

    def always(self, permission: str) -> tuple[str, ...]:
        """Rules for "always": this path, and outside the project the folder that holds it."""
        own = f"{permission}:{escape(self.pattern)}"
        return (own,) if self.inside else (own, self.folder_rule)


def locate(directory: Path, name: str, *, base: Path | None = None, home: str | None = None) -> Place:
    """Resolve `name` from `base` (the project folder itself if None); `~` is `home`.

    Never fails for a path that does not exist; raises ToolError for what cannot be a path.
    """
    if home and (name == "~" or name.startswith("~/")):
        name = home + name[1:]
    try:
        root = Path(os.path.realpath(directory))
        return Place(Path(os.path.realpath((base or root) / name)), root)
    except (ValueError, OSError) as error:
        raise ToolError(f"not a usable path: {error}") from error


def is_secret(path: Path) -> bool:
    """Whether reading it asks: `.env` and its kind, but `.env.example`."""
    name = path.name.lower()
    return (name.startswith(".env") or name.endswith(".env")) and name != ".env.example"


async def permit(context: ToolContext, place: Place, ask: Ask) -> None:
    """Ask, then make sure that the path still leads where the person was told it does.

    Raises Refused, and ToolError when a link was changed while the question stood.
    """
    await context.ask(ask)
    if Path(os.path.realpath(place.real)) != place.real:
        raise ToolError(f"{place.name} was replaced by a link meanwhile: nothing was done")
