"""Markdown and code colours, imported when asked for: they cost a third of a second and the first paint
needs neither. Until they are there a text is shown as it was written."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Protocol, cast

from rich.segment import Segment

from qiming_tui.tui.widgets.conversation.lines import Line, Rendered
from qiming_tui.tui.widgets.conversation.looks import Looks

_WHERE = "qiming_tui.tui.widgets.conversation."


class Composed(Protocol):
    """A top-level piece of a Markdown text (`markdown.Piece`)."""

    @property
    def kind(self) -> str: ...
    @property
    def lines(self) -> list[Line]: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def items(self) -> tuple[int, ...]: ...


class Compose(Protocol):
    """`markdown.compose`."""

    def __call__(self, text: str, *, width: int, looks: Looks) -> list[Composed]: ...


class Whole(Protocol):
    """`markdown.render`."""

    def __call__(self, text: str, *, width: int, looks: Looks, gutter: Segment) -> Rendered: ...


class CodeRows(Protocol):
    """`code.code_rows`."""

    def __call__(
        self, text: str, *, language: str, width: int, looks: Looks, label: bool = True
    ) -> list[Line]: ...


class Engine:
    """The two modules, once they are imported."""

    def __init__(self, compose: Compose, whole: Whole, code: CodeRows) -> None:
        self.compose = compose
        self.whole = whole
        self.code = code


def load_engine(load: Callable[[str], ModuleType] = importlib.import_module) -> Engine:
    """Import what Markdown needs; to be called in a thread."""
    markdown = load(f"{_WHERE}markdown")
    code = load(f"{_WHERE}code")
    return Engine(
        cast(Compose, markdown.compose),
        cast(Whole, markdown.render),
        cast(CodeRows, code.code_rows),
    )
