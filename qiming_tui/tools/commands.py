"""What a shell command would do, as far as its text tells (cases C-132, C-133).

Every command of the line is named, substitutions included; every path is resolved through links, also the
targets of redirections and the values of flags. What cannot be told from the text is said to be so: then only
a person, or a rule for everything, can allow it. It is no sandbox: a program may still do what it likes.
"""

import glob
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from qiming_tui.tools.paths import Place, is_secret, locate
from qiming_tui.tools.words import Word, resolve, source

MAX_COMMAND: Final = 32_768
"""Characters of a command that are looked at; a longer one is not judged but asked about."""
MAX_MATCHES: Final = 2_000
"""Files that a wildcard may name before we say that we do not know."""
MAX_WRAPPERS: Final = 8
"""How deep `sudo env nice ...` is followed."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS_ONLY: Final = _names(
    "echo printf true false : sleep date exit return break continue shift kill wait pwd whoami uname which "
    "type seq expr basename dirname set unset"
)
"""Commands whose arguments are no paths."""
_WRAPPERS: Final = _names("command builtin nohup time exec sudo doas env nice timeout stdbuf xargs")
"""Commands that run another one, which is judged as well."""
_SHELLS: Final = _names("bash sh zsh dash ksh fish")
_INTERPRETERS: Final = _names("python perl ruby node php lua osascript pwsh") | _SHELLS
_BLIND: Final = _names("eval xargs parallel trap")
"""Commands that run text, or take paths, that is not on the line."""
_MEANING: Final = re.compile(
    r"PATH|IFS|ENV|HOME|CDPATH|SHELLOPTS|(LD|DYLD|BASH|GIT|PYTHON|NODE|PERL|RUBY)_?\w*|\w*(PAGER|EDITOR|COMMAND)"
)
"""Variables that change what later commands are."""
_OPTION: Final = re.compile(r"-|[\d.]+\w?$|\w+=")
_PROGRAM: Final = re.compile(r"-\w*[ce]$|--eval|--command|-Command")
_DEVICES: Final = frozenset(f"/dev/{name}" for name in ("null", "stdin", "stdout", "stderr", "zero", "tty"))


@dataclass
class Reading:
    """What was found in a command."""

    commands: list[str] = field(default_factory=list)
    """Each command as rules see it: `git diff --`, also those inside of substitutions and wrappers."""
    outside: dict[str, Place] = field(default_factory=dict)
    """Paths outside the project, by their pattern."""
    secrets: dict[str, Place] = field(default_factory=dict)
    """`.env` files and their kind."""
    unclear: list[str] = field(default_factory=list)
    """Why the names of the commands do not tell what happens."""
    blind: list[str] = field(default_factory=list)
    """Why it cannot be told which paths it uses."""


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


def read_command(
    command: str, *, directory: Path, base: Path | None = None, env: Mapping[str, str] | None = None
) -> Reading:
    """Read a command that would run in `base` (the project folder if None) with the variables `env`."""
    reader = _Reader(directory, base or directory, dict(env or {}))
    found = reader.found
    if len(command) > MAX_COMMAND:
        found.unclear.append("it is too long to be looked at")
    elif re.search(r"[\x00-\x08\x0b-\x1f\x7f]|\S\\\n", command):
        found.unclear.append("it holds control characters, or breaks a word across lines")
    else:
        reader.walk(Parser(_language()).parse(command.encode("utf-8", "replace")).root_node)
        if not found.commands and reader.moved:
            found.commands.append(command.strip())
        if not found.commands and not found.unclear:
            found.unclear.append("no command was found in it")
    if found.unclear and not found.commands:
        found.blind.append("nothing of it was understood")
    return found


class _Reader:
    def __init__(self, directory: Path, base: Path, variables: dict[str, str]) -> None:
        self.found = Reading()
        self.directory = directory
        self.bases = [base]
        self.moved = False
        self.variables = {**variables, "PWD": str(base)}
        self.home = variables.get("HOME")

    def walk(self, root: Node) -> None:
        """Visit every node in the order of the text, without recursion: nesting may be deep."""
        stack = [root]
        while stack:
            node = stack.pop()
            self.visit(node)
            stack.extend(reversed(node.children))

    def visit(self, node: Node) -> None:
        if node.is_missing or node.type == "ERROR":
            self.unclear("it could not be parsed")
            return
        match node.type:
            case "command":
                self.command(node)
            case "command_substitution" | "process_substitution":
                self.unclear("$(...), `...` or <(...) runs a command inside of another")
            case "function_definition":
                self.unclear("it defines a function")
            case "variable_assignment":
                self.assignment(node)
            case "for_statement" | "select_statement":
                self.forget(source(child) for child in node.children if child.type == "variable_name")
            case "file_redirect":
                self.redirect(node)
            case _:
                pass

    def unclear(self, why: str) -> None:
        if why not in self.found.unclear:
            self.found.unclear.append(why)

    def blind(self, why: str) -> None:
        if why not in self.found.blind:
            self.found.blind.append(why)

    def forget(self, names: Iterator[str]) -> None:
        for name in names:
            self.variables.pop(name, None)

    def assignment(self, node: Node) -> None:
        name = re.split(r"[\[+=]", source(node), maxsplit=1)[0]
        self.forget(iter((name,)))
        if _MEANING.fullmatch(name):
            self.unclear(f"{name} changes what commands mean")

    def command(self, node: Node) -> None:
        """Name a command and look at its arguments."""
        parts = [
            child for child in node.children if child.type not in ("file_redirect", "herestring_redirect")
        ]
        named = next((child for child in parts if child.type == "command_name"), None)
        word = resolve(named, self.variables) if named else None
        if named is None or word is None:
            self.unclear("the name of a command is not written out")
            return
        arguments = [child for child in parts if child.start_byte >= named.end_byte and child.is_named]
        before = [source(child) for child in parts if child.end_byte <= named.start_byte]
        text = " ".join([*before, word.text, *(source(child) for child in arguments)])
        values = [resolve(child, self.variables) for child in arguments]
        if text.startswith("cd ") and None not in values:
            self.moved = True  # the rule for paths is enough for it: "git *" allows "cd src && git log"
        else:
            self.found.commands.append(text)
        name = word.text.rpartition("/")[2]
        if "/" in word.text:
            self.path(word.text)
        self.special(name, arguments, values)
        if name not in _WORDS_ONLY:
            for value in values:
                self.argument(value)
        if name == "cd" or name == "pushd":
            self.change(values)

    def special(self, name: str, arguments: list[Node], values: list[Word | None]) -> None:
        """Commands that run other commands, or text."""
        texts = [value.text if value else "" for value in values]
        for _ in range(MAX_WRAPPERS):
            self.runs_text(name, texts)
            if name not in _WRAPPERS:
                return
            inner = next((at for at, text in enumerate(texts) if not _OPTION.match(text)), None)
            if inner is None:
                return
            rest = arguments[len(arguments) - len(texts) + inner + 1 :]
            self.found.commands.append(" ".join([texts[inner], *map(source, rest)]).strip())
            name, texts = texts[inner].rpartition("/")[2], texts[inner + 1 :]
        self.blind("commands that run commands are nested too deep")

    def runs_text(self, name: str, texts: list[str]) -> None:
        """Interpreters and their like: what they do does not stand in the names and paths of the line."""
        if name in _BLIND:
            self.blind(f"{name} works on text that is not on the line")
        if re.sub(r"[\d.]+$", "", name) in _INTERPRETERS:
            program = any(_PROGRAM.match(text) for text in texts)
            if program or (name in _SHELLS and all(text.startswith("-") or not text for text in texts)):
                self.blind(f"{name} runs text as a program")

    def change(self, values: list[Word | None]) -> None:
        """`cd`: later relative paths may start there as well (it may also fail, so the old place stays)."""
        target = next(
            (value for value in values if value is None or not value.text.startswith("-")), Word("~")
        )
        if target is None or any(value and value.text == "-" for value in values):
            self.blind("cd goes somewhere that is not written out")
            return
        self.path(target.text)
        places = (locate(self.directory, target.text, base=base, home=self.home) for base in list(self.bases))
        self.bases += [place.real for place in places if place.real not in self.bases]
        self.variables.pop("PWD", None)

    def redirect(self, node: Node) -> None:
        """`> file` and its kind; a target that is not known makes the whole command unclear."""
        operator = next((child.type for child in node.children if not child.is_named), "")
        for child in node.children:
            if not child.is_named or child.type == "file_descriptor":
                continue
            if "&" in operator and child.type == "number":
                continue
            word = resolve(child, self.variables)
            self.argument(word)
            if ">" in operator and (word is None or word.text not in _DEVICES):
                self.unclear("its output goes to a file")

    def argument(self, word: Word | None) -> None:
        """Look at a word that may be a path, or hold one: `--file=/x`, `-o/x`, `if=/x`, `@/x`, `file:///x`."""
        if word is None:
            self.blind("a path may be hidden in $... or {...}")
            return
        text = word.text
        options = [text.partition("=")[2]] if "=" in text else []
        if re.match(r"-[A-Za-z0-9].", text):
            options.append(text[2:])
        if not text.startswith("-"):
            options.append(text)
        for option in options:
            bare = re.sub(r"^(@|file:(//)?)", "", option)
            if bare and "://" not in bare:
                self.path(bare, wild=word.glob)

    def path(self, text: str, *, wild: bool = False) -> None:
        """Resolve a path from every folder that the command may be in."""
        if re.match(r"~[^/]", text):
            self.blind("~... names another folder")
            return
        for base in self.bases:
            for name in (text, *self.expanded(text, base)) if wild else (text,):
                place = locate(self.directory, name, base=base, home=self.home)
                if not place.inside and place.real.as_posix() not in _DEVICES:
                    self.found.outside[place.pattern] = place
                elif place.inside and is_secret(place.real):
                    self.found.secrets[place.pattern] = place

    def expanded(self, text: str, base: Path) -> list[str]:
        """What a wildcard names now."""
        start = self.home + text[1:] if self.home and text.startswith("~/") else text
        names = list(itertools.islice(glob.iglob(start, root_dir=base), MAX_MATCHES + 1))
        if len(names) > MAX_MATCHES:
            self.blind(f"a wildcard names more than {MAX_MATCHES:,} files")
        return names[:MAX_MATCHES]
