"""The tools that the model is told about, and the check of what it hands to them."""

import inspect

import pytest

from qiming_tui.tools.base import ArgumentError
from qiming_tui.tools.registry import check_arguments, default_tools, schema

TOOLS = {tool.name: tool for tool in default_tools()}


def test_the_tools_by_name():
    assert list(TOOLS) == ["bash", "edit", "glob", "grep", "list", "read", "write"]


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_is_described_and_takes_an_object(name):
    told = schema(TOOLS[name])
    assert told.name == name
    assert len(told.description) > 100
    assert told.parameters["type"] == "object"
    assert told.parameters["additionalProperties"] is False
    assert set(told.parameters["required"]) <= set(told.parameters["properties"])
    assert all(rule["type"] for rule in told.parameters["properties"].values())
    assert inspect.iscoroutinefunction(TOOLS[name].run)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("read", [], "read: the arguments must be a JSON object"),
        ("read", {}, "read: filePath: missing"),
        ("read", {"filePath": 1}, "filePath: must be text"),
        ("read", {"filePath": None}, "filePath: must be text"),
        ("read", {"filePath": "a", "offset": "3"}, "offset: must be a whole number"),
        ("read", {"filePath": "a", "offset": True}, "offset: must be a whole number"),
        ("read", {"filePath": "a", "offset": 0}, "offset: must be at least 1"),
        ("read", {"filePath": "a", "offset": 1.5}, "offset: must be a whole number"),
        (
            "read",
            {"path": "a"},
            "filePath: missing; path: unknown; the arguments are filePath, offset, limit",
        ),
        ("bash", {"command": "a", "timeout": 10**9}, "timeout: must be between 1 and 600000"),
        (
            "edit",
            {"filePath": "a", "oldString": "b", "newString": "c", "replaceAll": 1},
            "must be true or false",
        ),
        ("list", {"ignore": "a"}, "ignore: must be a list"),
        ("list", {"ignore": [1]}, "ignore: every entry must be text"),
    ],
)
def test_what_is_wrong_is_said(name, arguments, words):
    with pytest.raises(ArgumentError) as caught:
        check_arguments(TOOLS[name], arguments)
    assert words in str(caught.value)


def test_what_is_right_comes_back():
    given = {"filePath": "a", "offset": 3.0, "limit": None}
    assert check_arguments(TOOLS["read"], given) == {"filePath": "a", "offset": 3}
    assert check_arguments(TOOLS["list"], {"ignore": ["a"]}) == {"ignore": ["a"]}
