"""What can be done without a model or a key: the local model, the demo, how to set a key."""

from collections.abc import Sequence
from enum import StrEnum
from textwrap import wrap
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.screen import ModalScreen

from qiming_tui.context.bar_words import Spans
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.offer import Offer
from qiming_tui.tui.picking import Row, clipped
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.lines import Lines
from qiming_tui.tui.widgets.pick_list import PickList


class Way(StrEnum):
    """How to begin."""

    LOCAL = "local"
    DEMO = "demo"
    MODELS = "models"
    KEY = "key"
    QUIT = "quit"


_TITLES: Final = {
    Way.LOCAL: "Use the local model",
    Way.DEMO: "Watch the demo",
    Way.MODELS: "Choose a model",
    Way.KEY: "Set a key",
    Way.QUIT: "Leave",
}
_LETTERS: Final = {way: letter for letter, way in zip("ldmkq", _TITLES, strict=True)}


def short(way: Way, offer: Offer) -> str:
    """A few words about a way."""
    set_keys = [key.variable for key in offer.keys if key.is_set]
    return {
        Way.LOCAL: "is not installed" if offer.local_missing else "on this machine: no key, no network",
        Way.DEMO: "a scripted session: no key, no network",
        Way.MODELS: f"{', '.join(set_keys)} set" if set_keys else "limits and prices of all of them",
        Way.KEY: "for a model of a provider",
        Way.QUIT: "nothing was changed",
    }[way]


def long(way: Way, offer: Offer) -> tuple[Spans, ...]:
    """What to know about a way, line by line."""
    if way is Way.LOCAL:
        if offer.local_missing:
            return ((("warn", one_line(offer.local_missing)),), (("muted", "then start qiming again"),))
        small = "It is small (94 MB) and answers simply; what it shows of the window is real."
        return ((("text", small),), (("muted", "later: "), ("text", "qiming --model local/smollm2")))
    if way is Way.DEMO:
        grow = "A window grows, old results are cleared, the history is summarised. Leave it at any time."
        return ((("text", grow),), (("muted", "more of them: "), ("text", "qiming demo --list")))
    if way is Way.MODELS:
        return ((("text", "Pick one whose provider has a key, or one of a server of your own."),),)
    if way is Way.QUIT:
        return ((("muted", "back here with: "), ("text", "qiming")),)
    shown = [key for key in offer.keys if not key.is_set][:4]
    lines: list[Spans] = [
        (("text", f"export {key.variable}=..."), ("muted", f"  for {key.provider}/MODEL")) for key in shown
    ]
    return (*lines, (("muted", "then: "), ("text", "qiming --model PROVIDER/MODEL")))


class WelcomeScreen(ModalScreen[Way]):
    """Dismissed with the way that was chosen."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm")]

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("welcome.take", "enter", "take", "choose", show=True),
        bind("welcome.up", "up", "move(-1)", "up"),
        bind("welcome.down", "down", "move(1)", "down"),
        bind("welcome.leave", "escape,q", "leave", "leave", show=True),
        bind("welcome.interrupt", "ctrl+c", "leave", "leave"),
        *(
            bind(f"welcome.{way.value}", letter, f"jump('{way.value}')", _TITLES[way].lower())
            for way, letter in _LETTERS.items()
            if way is not Way.QUIT
        ),
    ]

    head = query_one("#pick-head", Lines)
    list = query_one(PickList)
    detail = query_one("#pick-detail", Lines)

    def __init__(self, offer: Offer, *, glyphs: Glyphs = FULL) -> None:
        super().__init__()
        self._offer = offer
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Top to bottom."""
        with Vertical(id="pick", classes="welcome"):
            yield Lines(id="pick-head")
            yield PickList(self._paint)
            yield Lines(id="pick-rule")
            yield Lines(id="pick-detail")
            yield Footer()

    def on_mount(self) -> None:
        """The first way that works is chosen."""
        self.list.glyphs = self._glyphs
        works = Way.DEMO if self._offer.local_missing else Way.LOCAL
        if any(key.is_set for key in self._offer.keys):
            works = Way.MODELS
        self.list.show([Row(way.value) for way in Way], works.value)
        self._paint_rest()

    @on(Lines.Resized)
    def _resized(self, event: Lines.Resized) -> None:
        """Rows are made for a width."""
        event.stop()
        self._paint_rest()

    def _paint_rest(self) -> None:
        width = max(1, self.head.size.width)
        star: Spans = (("key", self._glyphs.star), ("strong", " qiming"))
        reason: list[Spans] = [(("warn", row),) for row in wrap(one_line(self._offer.reason), width)]
        if len(reason) > 1:  # the rest of it on the second row, cut there
            reason[1:] = [(("warn", one_line(self._offer.reason)[len(reason[0][0][1]) :].strip()),)]
        self.head.rows = self._fitting((star, *([()] if len(reason) < 2 else []), *reason), width)
        rule = self.query_one("#pick-rule", Lines)
        rule.rows = ((("rule", self._glyphs.rule * rule.size.width),),)
        self.detail.rows = self._fitting(long(self._way, self._offer), max(1, self.detail.size.width))
        self.list.refresh()

    def _fitting(self, rows: Sequence[Spans], width: int) -> tuple[Spans, ...]:
        return tuple(clipped(row, width, self._glyphs) for row in rows)

    @property
    def _way(self) -> Way:
        return Way(self.list.key or Way.DEMO)

    def _paint(self, row: Row, width: int, chosen: bool) -> Spans:
        way = Way(row.key)
        title = _TITLES[way].ljust(22)
        head: Spans = (("key", f"{_LETTERS[way]}  "), ("strong" if chosen else "text", title))
        return clipped((*head, ("muted", short(way, self._offer))), width, self._glyphs)

    @on(PickList.Moved)
    def _moved(self, event: PickList.Moved) -> None:
        event.stop()
        self._paint_rest()

    @on(PickList.Picked)
    def _picked(self, event: PickList.Picked) -> None:
        event.stop()
        self.action_take()

    def on_click(self, event: events.Click) -> None:
        """A click beside it changes nothing: there is no page behind to go to."""
        event.stop()

    def action_take(self) -> None:
        """Take the way; of what needs doing outside, the words stay on the screen."""
        way = self._way
        if way is Way.KEY or (way is Way.LOCAL and self._offer.local_missing):
            return
        self.dismiss(way)

    def action_jump(self, way: str) -> None:
        """A letter chooses; a second press takes."""
        if self.list.key == way:
            self.action_take()
            return
        places = [row.key for row in self.list.items]
        self.list.move(places.index(way) - places.index(self.list.key))

    def action_move(self, by: int) -> None:
        """Up and down."""
        self.list.move(by)

    def action_leave(self) -> None:
        """Leave the program."""
        self.dismiss(Way.QUIT)
