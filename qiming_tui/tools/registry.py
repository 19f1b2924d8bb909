"""The tools that the model is told about, and the check of what it hands to them."""

from typing import Final

from qiming_tui.context.state import ToolSchema
from qiming_tui.model.codec import JSON
from qiming_tui.tools.base import ArgumentError, Tool
from qiming_tui.tools.edit import Edit
from qiming_tui.tools.folder import Glob, List
from qiming_tui.tools.grep import Grep
from qiming_tui.tools.read import Read
from qiming_tui.tools.shell import Bash
from qiming_tui.tools.write import Write

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_WORDS: Final = {"string": "text", "integer": "a whole number", "boolean": "true or false", "array": "a list"}


def default_tools() -> tuple[Tool, ...]:
    """The tools of this program, by name."""
    tools: tuple[Tool, ...] = (Bash(), Edit(), Glob(), Grep(), List(), Read(), Write())
    return tuple(sorted(tools, key=lambda tool: tool.name))


def schema(tool: Tool) -> ToolSchema:
    """What the model is told about a tool."""
    return ToolSchema(name=tool.name, description=tool.description, parameters=tool.parameters)


def check_arguments(tool: Tool, arguments: JSON) -> dict[str, JSON]:
    """The arguments as the tool's schema wants them; optional ones that are null are left out.

    Raises ArgumentError that names every argument that is missing, unknown or of the wrong type.
    """
    if not isinstance(arguments, dict):
        raise ArgumentError(f"{tool.name}: the arguments must be a JSON object")
    properties: dict[str, dict[str, JSON]] = tool.parameters["properties"]
    required: list[str] = tool.parameters.get("required", [])
    given = {key: value for key, value in arguments.items() if value is not None or key in required}
    problems = [f"{key}: missing" for key in required if key not in given]
    for key, value in given.items():
        if key not in properties:
            problems.append(f"{key}: unknown; the arguments are {', '.join(properties)}")
            continue
        given[key], problem = _check(value, properties[key])
        if problem:
            problems.append(f"{key}: {problem}")
    if problems:
        raise ArgumentError(f"{tool.name}: " + "; ".join(problems))
    return given


def _check(value: JSON, rule: dict[str, JSON]) -> tuple[JSON, str]:
    """The value, a whole float made an int, and what is wrong with it ("" if nothing)."""
    kind: str = rule["type"]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        return value, f"must be {_WORDS.get(kind, kind)}"
    if kind == "array" and not all(isinstance(entry, _KINDS[rule["items"]["type"]]) for entry in value):
        return value, f"every entry must be {_WORDS[rule['items']['type']]}"
    if kind == "integer" and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        low, high = rule.get("minimum"), rule.get("maximum")
        return value, f"must be at least {low}" if high is None else f"must be between {low} and {high}"
    return value, ""
