"""The ceilings of the house, for the package and its tests' own helpers alike; there are no waivers."""

import ast
import re
from pathlib import Path

import pytest

from tests import source

FILE_LINES = 400
FUNCTION_LINES = 50
CLASS_METHODS = 25
ALLOWED = (
    (re.compile(r"qiming_tui\.provider\.child\w*"), re.compile(r"litellm(\..*)?")),
    (re.compile(r"qiming_tui\.provider\.counter_child"), re.compile(r"tiktoken(\..*)?")),
    (re.compile(r"qiming_tui\.runtime"), re.compile(r".*")),
    (re.compile(r"qiming_tui\.cli\.\w+"), re.compile(r"qiming_tui\..*")),
)
"""Who may import what inside a function: the child litellm, the counter tiktoken, `warm()`, commands."""

EVERY = [*source.files(), *sorted((source.ROOT / "tests").rglob("*.py"))]


def name(path: Path) -> str:
    return str(path.relative_to(source.ROOT))


@pytest.mark.parametrize("path", EVERY, ids=name)
def test_a_file_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("path", EVERY, ids=name)
def test_functions_and_classes_are_small(path: Path) -> None:
    wrong = []
    for node in ast.walk(source.tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                wrong.append(f"{node.name}: {lines} lines")
        elif isinstance(node, ast.ClassDef):
            methods = sum(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) for item in node.body)
            if methods > CLASS_METHODS:
                wrong.append(f"class {node.name}: {methods} methods")
    assert not wrong


def test_no_import_hides_in_a_function() -> None:
    wrong = []
    for item in source.all_imports():
        allowed = any(who.fullmatch(item.source) and what.fullmatch(item.target) for who, what in ALLOWED)
        only_warm = item.source != "qiming_tui.runtime" or item.function.endswith("warm")
        if item.function and not (allowed and only_warm):
            wrong.append(f"{item.source}:{item.line} {item.target} in {item.function}")
    assert not wrong


def test_nothing_is_waived() -> None:
    pattern = re.compile(
        r"type: ignore(?!\[)|type: ignore\[[\w,-]*\]\s*$|#\s*noqa(?!: [A-Z]+\d+)|import-linter: ignore"
    )
    wrong = []
    for path in source.files():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{name(path)}:{number} {line.strip()}")
    assert not wrong, "a waiver needs its code in brackets and its reason behind it"


def test_an_error_is_never_swallowed() -> None:
    wrong = []
    for path in source.files():
        for node in ast.walk(source.tree(path)):
            if isinstance(node, ast.ExceptHandler) and _broad(node) and _silent(node):
                wrong.append(f"{name(path)}:{node.lineno}")
    assert not wrong


def _broad(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(
        k is None or (isinstance(k, ast.Name) and k.id in {"Exception", "BaseException"}) for k in kinds
    )


def _silent(node: ast.ExceptHandler) -> bool:
    """Neither raises again nor makes anything of the error it caught."""
    inner = [item for statement in node.body for item in ast.walk(statement)]
    uses = any(isinstance(i, ast.Name) and node.name and i.id == node.name for i in inner)
    uses = uses or any(isinstance(i, ast.Attribute) and i.attr == "exc_info" for i in inner)
    return not uses and not any(isinstance(i, ast.Raise) for i in inner)
