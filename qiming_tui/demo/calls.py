"""Short names for the tool calls of scenarios; the only place that knows the tools' argument names."""

import msgspec

from qiming_tui.provider.scenario import Act, Call, Reply, Turn

CHECK = "python3 -B check.py"
"""How the demo project checks itself; its output is the same every time."""


def read(path: str) -> Call:
    """Read a whole file."""
    return Call("read", {"filePath": path})


def listing(path: str = ".") -> Call:
    """List a folder."""
    return Call("list", {"path": path})


def grep(pattern: str, path: str = ".") -> Call:
    """Search files for a regular expression."""
    return Call("grep", {"pattern": pattern, "path": path})


def edit(path: str, old: str, new: str) -> Call:
    """Replace a passage that occurs once."""
    return Call("edit", {"filePath": path, "oldString": old, "newString": new})


def write(path: str, content: str) -> Call:
    """Write a whole file."""
    return Call("write", {"filePath": path, "content": content})


def bash(command: str) -> Call:
    """Run a command."""
    return Call("bash", {"command": command})


def check() -> Call:
    """Run the project's checks."""
    return bash(CHECK)


def prose(text: str) -> str:
    """One paragraph, however it is broken in the source."""
    return " ".join(text.split())


def act(text: str, *calls: Call, reasoning: str = "") -> Reply:
    """An answer that calls tools."""
    return Reply(text=prose(text), calls=calls, reasoning=prose(reasoning))


def say(text: str) -> Reply:
    """An answer that ends the turn."""
    return Reply(text=prose(text))


def turn(prompt: str, *replies: Reply, then: tuple[Act, ...] = ()) -> Turn:
    """A prompt with its answers, and what the user does after them."""
    return Turn(prompt=prose(prompt), replies=replies, then=then)


def after(told: Turn, *acts: Act) -> Turn:
    """The same turn, and what the user does after it."""
    return msgspec.structs.replace(told, then=acts)
