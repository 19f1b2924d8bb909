"""The painted lines of an open question."""

from typing import Final

import msgspec
from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from qiming_tui.tui.asking import Question, Run, choices, price, reasons
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.widgets.looks import look

NARROW: Final = 76
"""Under so many cells the price is brief."""
LEAST: Final = 16
"""So many cells of the command are always shown: the price goes to the second line instead."""


class PermissionHead(Widget):
    """What is asked and what it will cost; why, and within which time."""

    COMPONENT_CLASSES = {"permission--title", "permission--command", "permission--label", "permission--value"}
    question: reactive[Question | None] = reactive(None)
    waiting: reactive[int] = reactive(0)
    glyphs: reactive[Glyphs] = reactive(FULL)

    def show(self, question: Question, *, waiting: int) -> None:
        """Show it; `waiting` more questions wait behind it."""
        self.question = question
        self.waiting = waiting

    def render(self) -> Content:
        """Two lines."""
        question = self.question
        if question is None:
            return Content("")
        title: list[Run] = [(f"{question.heading or f'Allow {question.tool}?'} ", "title")]
        if self.waiting:
            title.append((f"1 of {self.waiting + 1} ", "label"))
        cost = price(question, arrow=self.glyphs.arrow, brief=self.size.width < NARROW)
        limit: list[Run] = []
        if question.timeout_s is not None:
            limit = [(f"timeout {question.timeout_s} s", "label")]
        if self.size.width - _cells(title) - _cells(cost) - 4 < LEAST:
            cost, limit = [], cost
        room = self.size.width - _cells(title) - _cells(cost) - 4
        command = cut(question.command, room, self.glyphs.cut)
        first = self._line([*title, (f" {command} ", "command")], cost)
        return Content("\n").join([first, self._second(question, limit, needed=not cost)])

    def _second(self, question: Question, right: list[Run], *, needed: bool) -> Content:
        """Why it asks; what stands right of it gives way, unless it is needed."""
        why = reasons(question)
        room = self.size.width - (_cells(right) + 2 if right else 0)
        if _cells(why) <= room:
            return self._line(why, right)
        if question.folder:
            held = _cells(why[:-1])
            if room - held >= LEAST // 2:
                return self._line(
                    [*why[:-1], (cut(why[-1][0], room - held, self.glyphs.cut), "value")], right
                )
            why = reasons(msgspec.structs.replace(question, folder=""))
            if _cells(why) <= room:
                return self._line(why, right)
        if not needed:
            room, right = self.size.width, []
        text = "".join(run[0] for run in why)
        return self._line([(cut(text, room, self.glyphs.cut), "label")] if room > LEAST else [], right)

    def _line(self, left: list[Run], right: list[Run]) -> Content:
        pad = " " * max(0, self.size.width - _cells(left) - _cells(right))
        return Content.assemble(*map(self._run, left), pad, *map(self._run, right))

    def _run(self, run: Run) -> tuple[str, Style]:
        return run[0], look(self, f"permission--{run[1]}")


class PermissionKeys(Widget):
    """The keys as caps; a click answers too."""

    COMPONENT_CLASSES = {
        "permission--cap",
        "permission--first",
        "permission--label",
        "permission--value",
        "permission--warning",
    }
    question: reactive[Question | None] = reactive(None, layout=True)
    awake: reactive[bool] = reactive(False, layout=True)
    sure: reactive[bool] = reactive(False, layout=True)

    class Clicked(Message):
        """A cap was clicked."""

        def __init__(self, reply: str) -> None:
            super().__init__()
            self.reply = reply

    def show(self, question: Question, *, awake: bool, sure: bool) -> None:
        """Show its keys: the chords while it sleeps, Enter while "always" waits for it."""
        self.question = question
        self.awake = awake
        self.sure = sure

    def render(self) -> Content:
        """All of them; where they do not fit, gaps and words are shorter, then there are two rows."""
        return Content("\n").join(self._rows(self.size.width))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One row, or as many as a narrow screen needs."""
        return max(1, len(self._rows(width)))

    def _rows(self, width_cells: int) -> list[Content]:
        question = self.question
        if question is None:
            return []
        for brief, gap in ((False, 3), (False, 2), (True, 3), (True, 2)):
            caps = self._caps(question, brief=brief)
            if sum(cap.cell_length + gap for cap in caps) - gap <= width_cells:
                return [Content(" " * gap).join(caps)]
        rows = [caps[0]]
        for cap in caps[1:]:
            if rows[-1].cell_length + 1 + cap.cell_length <= width_cells:
                rows[-1] = Content(" ").join([rows[-1], cap])
            else:
                rows.append(cap)
        return rows

    def _caps(self, question: Question, *, brief: bool) -> list[Content]:
        if self.sure:
            scope = "" if brief else f" {question.always} in this folder"
            return [
                Content.assemble(self._part(f"always allow{scope}?", "warning")),
                self._cap("enter", "yes", "sure", first=True),
                self._cap("esc", "back", "back", first=False),
            ]
        caps = [
            self._cap(one.key, one.label, one.reply, first=place == 0)
            for place, one in enumerate(choices(question, typing=not self.awake, brief=brief))
        ]
        if not self.awake:
            words = "letters go to your draft" if brief else "letters go to your draft while you type"
            caps.append(Content.assemble(self._part(words, "label")))
        return caps

    def on_click(self, event: events.Click) -> None:
        """Answer."""
        event.stop()
        reply = event.style.meta.get("reply")
        if isinstance(reply, str):
            self.post_message(self.Clicked(reply))

    def _cap(self, key: str, label: str, reply: str, *, first: bool) -> Content:
        cap = self._part(f" {key} ", "first" if first else "cap")
        return Content.assemble(cap, self._part(f" {label}", "value" if first else "label")).stylize(
            Style.from_meta({"reply": reply})
        )

    def _part(self, text: str, tone: str) -> tuple[str, Style]:
        return text, look(self, f"permission--{tone}")


def _cells(runs: list[Run]) -> int:
    return sum(cell_len(text) for text, _ in runs)


def cut(text: str, cells: int, sign: str) -> str:
    """The text in so many cells, cut with a sign on a cell border."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(0, cells - cell_len(sign))).rstrip() + sign


def detail_lines(text: str, *, add: Style, remove: Style) -> Content:
    """A diff with its signs coloured; other texts as they are."""
    lines = []
    for line in text.split("\n"):
        content = Content(line)
        style = add if line.startswith("+") else remove if line.startswith("-") else None
        lines.append(content.stylize(style) if style is not None else content)
    return Content("\n").join(lines)
