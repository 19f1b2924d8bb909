"""Walking a folder: what .gitignore excludes is left out, links are not followed, a stop is heeded."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

NEVER: Final = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"))
"""Folders that are not entered below the one that was asked for."""
MAX_IGNORE_BYTES: Final = 256 * 1024


@dataclass(frozen=True)
class _Rules:
    """A .gitignore: its folder, relative to the project ("" or ending in /), and what it says."""

    base: str
    spec: GitIgnoreSpec

    def says(self, path: str) -> bool | None:
        return self.spec.check_file(path[len(self.base) :]).include


def _rules(folder: Path, base: str) -> _Rules | None:
    try:
        with (folder / ".gitignore").open("rb") as file:
            lines = file.read(MAX_IGNORE_BYTES).decode("utf-8", "replace").splitlines()
        return _Rules(base, GitIgnoreSpec.from_lines(lines))
    except (OSError, ValueError):
        return None


def _ignored(rules: tuple[_Rules, ...], path: str) -> bool:
    """The nearest .gitignore that says anything decides."""
    for rule in reversed(rules):
        said = rule.says(path)
        if said is not None:
            return said
    return False


def _above(root: Path, top: Path) -> tuple[str, tuple[_Rules, ...]]:
    """The path from `top` to `root` ("" or ending in /), and the rules of the folders on it."""
    names = root.relative_to(top).parts if root.is_relative_to(top) else ()
    top = top if root.is_relative_to(top) else root
    bases = ["".join(f"{name}/" for name in names[:depth]) for depth in range(len(names) + 1)]
    found = [_rules(top / base, base) for base in bases]
    rules = tuple(rule for rule in found if rule)
    ignored = bool(names) and _ignored(rules, bases[-1])
    return bases[-1], tuple(rule for rule in rules if rule.base == bases[-1]) if ignored else rules


def walk(root: Path, stop: threading.Event, *, top: Path, skip: GitIgnoreSpec | None = None) -> Iterator[str]:
    """Paths of the regular files below `root`, relative to it with `/`, each folder's files before its
    folders, sorted. What .gitignore files from `top` (the project) down say holds, unless they exclude
    `root` itself: it was asked for by name. Folders that cannot be read are passed over. Ends early when
    `stop` is set."""
    above, first = _above(root, top)
    stack: list[tuple[str, tuple[_Rules, ...]]] = [("", first)]
    while stack and not stop.is_set():
        base, rules = stack.pop()
        try:
            with os.scandir(root / base) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        folders: list[tuple[str, tuple[_Rules, ...]]] = []
        for entry in entries:
            path = base + entry.name
            if entry.is_dir(follow_symlinks=False):
                inner = f"{path}/"
                if entry.name in NEVER or _ignored(rules, above + inner) or (skip and skip.match_file(inner)):
                    continue
                own = _rules(root / path, above + inner)
                folders.append((inner, (*rules, own) if own else rules))
            elif entry.is_file(follow_symlinks=False) and not (
                _ignored(rules, above + path) or (skip and skip.match_file(path))
            ):
                yield path
        stack.extend(reversed(folders))


def glob_spec(pattern: str) -> GitIgnoreSpec:
    """A glob as ripgrep understands it: `*.py` anywhere, `src/*.py` from the root, `**`, `{a,b}`.

    Raises ValueError for a pattern that makes no sense.
    """
    lines = [f"\\{line}" if line[:1] in "!#" else line for line in _braces(pattern.removeprefix("./"))]
    return GitIgnoreSpec.from_lines(lines)


def _braces(pattern: str) -> list[str]:
    """`a{b,c}` as [`ab`, `ac`]; at most 256 of them."""
    done, todo = [], [pattern]
    while todo:
        text = todo.pop()
        close = text.find("}")
        start = text.rfind("{", 0, close) if close >= 0 else -1
        if start < 0:
            done.append(text)
        else:
            choices = text[start + 1 : close].split(",")
            todo += [text[:start] + choice + text[close + 1 :] for choice in choices]
        if len(done) + len(todo) > 256:
            raise ValueError("too many alternatives in {...}")
    return sorted(done)
