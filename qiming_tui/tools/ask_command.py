"""The question about a shell command: what it needs, what is odd about it, what "always" would mean."""

from collections.abc import Mapping
from typing import Final

from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.tools.base import OUTSIDE, Ask, Need
from qiming_tui.tools.commands import Reading, read_command
from qiming_tui.tools.paths import Place
from qiming_tui.tools.permissions import escape

_ONE: Final = frozenset(
    (
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "grep",
        "rg",
        "pwd",
        "echo",
        "tree",
        "stat",
        "file",
        "du",
        "df",
        "diff",
    )
) | frozenset(("uniq", "cut", "mkdir", "pytest", "ruff", "mypy", "tsc", "make"))
"""Commands of which any use is alike: "always" means `ls *`."""
_TWO: Final = frozenset(
    (
        "git",
        "gh",
        "npm",
        "pnpm",
        "yarn",
        "cargo",
        "go",
        "pip",
        "uv",
        "poetry",
        "docker",
        "kubectl",
        "bun",
        "dotnet",
    )
)
"""Commands whose second word says what they do: "always" means `git diff *`."""
_RUNNERS: Final = frozenset(("run", "exec", "x", "dlx", "config", "-c"))
"""Second words that run something else: only the very same command is alike."""


def ask_for(command: str, workdir: Place, env: Mapping[str, str]) -> Ask:
    """The ask of a command in a folder; `env` is what the command will see."""
    reading = read_command(command, directory=workdir.root, base=workdir.real, env=env)
    whole = command.strip()
    if not workdir.inside:
        reading.outside[workdir.pattern] = workdir
    needs = [Need("bash", text) for text in dict.fromkeys(reading.commands)]
    if reading.unclear or not needs:
        needs.append(Need("bash", whole, opaque=True))
    needs += [Need("read", pattern) for pattern in reading.secrets]
    needs += [Need(OUTSIDE, pattern) for pattern in reading.outside]
    if reading.blind:
        needs.append(Need(OUTSIDE, whole, opaque=True))
    return Ask(
        tool="bash",
        pattern=one_line(whole),
        title=one_line(whole, limit=120),
        detail=clean(command + _notes(reading))[0],
        always=_always(needs, reading),
        needs=tuple(needs),
    )


def _notes(reading: Reading) -> str:
    notes = [f"outside the project: {pattern}" for pattern in reading.outside]
    notes += [f"may hold secrets: {pattern}" for pattern in reading.secrets]
    notes += [f"cannot be judged: {why}" for why in (*reading.unclear, *reading.blind)]
    return "".join(f"\n# {note}" for note in notes)


def _always(needs: list[Need], reading: Reading) -> tuple[str, ...]:
    """The rules that "always" adds; they never reach further than what was asked about and its like."""
    rules = []
    for need in needs:
        if need.permission == "bash" and not need.opaque:
            rules.append(f"bash:{_alike(need.pattern)}")
        elif need.permission == OUTSIDE and not need.opaque:
            rules.append(reading.outside[need.pattern].folder_rule)
        else:
            rules.append(f"{need.permission}:{escape(need.pattern)}")
    return tuple(dict.fromkeys(rules))


def _alike(text: str) -> str:
    name, _, rest = text.partition(" ")
    second = rest.partition(" ")[0]
    if name in _ONE:
        return f"{name} *"
    if name in _TWO and second.isalpha() and second not in _RUNNERS:
        return f"{name} {second} *"
    return escape(text)
