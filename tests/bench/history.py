"""A long session made up: turns of four messages and sixteen parts, its texts never twice the same."""

from itertools import count
from random import Random

from qiming_tui.context.state import SessionState
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.limits import Limits
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import Part, StepFinishPart, ToolPart
from qiming_tui.model.usage import NO_TOKENS
from tests.context.make import (
    MEMORY,
    MODEL,
    SYSTEM,
    TOOLS,
    assistant,
    edit,
    numbered,
    own,
    start,
    text,
    tool,
    user,
)

PARTS_A_TURN = 16
MESSAGES_A_TURN = 4
LIMITS = Limits(8_000_000, None, 32_000)
"""Nothing is over: the whole history is live, which is the most work. Texts are as long as they can be for
that: 2,000 parts are 0.6 million characters, most of a 200,000-token window; 20,000 are ten times that."""

_ENGLISH = " ".join(
    f"def {word}_{n}(self): return {n} * {word}" for n, word in enumerate(["alpha", "beta"] * 900)
)
_CHINESE = "压缩上下文窗口，保留最近的消息；旧的工具结果会被清除。" * 400


def _words(random: Random, name: str, most: int) -> str:
    """A text that begins with its name; every tenth is Chinese."""
    source = _CHINESE if random.random() < 0.1 else _ENGLISH
    size = random.randint(most // 20, most)
    begin = random.randrange(len(source) - size)
    return f"{name}\n{source[begin : begin + size]}"


def _answer(random: Random, id: str) -> Entry:
    parts: list[Part] = [
        start(id, f"{id}.0"),
        text(id, f"{id}.1", _words(random, id, 300)),
        tool(id, f"{id}.2", _words(random, f"{id}.2", 1800), input={"path": f"src/{id}.py"}),
        tool(id, f"{id}.3", _words(random, f"{id}.3", 900), name="grep", input={"pattern": id}),
        own(StepFinishPart, id, f"{id}.4", reason="tool-calls", tokens=NO_TOKENS, cost=0),
    ]
    return assistant(id, *parts)


def entries(parts: int) -> tuple[Entry, ...]:
    """A history of about so many parts (whole turns). The same figures give the same texts, made anew."""
    random = Random(parts)
    out: list[Entry] = []
    for turn in range(parts // PARTS_A_TURN):
        asked = f"u{turn}"
        out.append(user(asked, _words(random, asked, 400)))
        out += [_answer(random, f"a{turn}.{step}") for step in range(MESSAGES_A_TURN - 1)]
    return numbered(*out)


def clears(history: tuple[Entry, ...]) -> tuple[Edit, ...]:
    """Every fourth tool result of the older half was cleared, fifty in a batch."""
    older = history[: len(history) // 2]
    tools = [part.id for entry in older for part in entry.parts if isinstance(part, ToolPart)][::4]
    numbers = count(1)
    return tuple(edit(next(numbers), EditKind.CLEAR, *tools[at : at + 50]) for at in range(0, len(tools), 50))


def session(parts: int) -> SessionState:
    """The engine's input over such a history."""
    history = entries(parts)
    return SessionState(
        entries=history,
        edits=clears(history),
        system=SYSTEM,
        memory=MEMORY,
        tools=TOOLS,
        model=MODEL,
        limits=LIMITS,
    )
