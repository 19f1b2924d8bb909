"""The main screen: budget, conversation, question, timeline, prompt. It shows values and posts wishes."""

import time
from collections.abc import Callable, Sequence

import msgspec
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one
from textual.screen import Screen

from qiming_tui.context.bar import BarData, Live, bar_data
from qiming_tui.context.strip import StepMark
from qiming_tui.model.window import ContextView
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.history import History
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.conversation.view import Conversation
from qiming_tui.tui.widgets.footer import Footer
from qiming_tui.tui.widgets.permission import PermissionPanel
from qiming_tui.tui.widgets.prompt_bar import PromptBar
from qiming_tui.tui.widgets.scrolling import use_for_all
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip
from qiming_tui.tui.widgets.title_bar import TitleBar, TitleData


class MainScreen(Screen[None]):
    """Puts the regions together; the application feeds it."""

    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (60, "-narrow"), (100, "-mid"), (140, "-wide"), (180, "-xwide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-norm"), (44, "-tall")]

    title_bar = query_one(TitleBar)
    bar = query_one(BudgetBar)
    conversation = query_one(Conversation)
    question = query_one(PermissionPanel)
    strip = query_one(TimelineStrip)
    prompt_bar = query_one(PromptBar)
    footer = query_one(Footer)

    def __init__(
        self,
        *,
        glyphs: Glyphs = FULL,
        history: History | None = None,
        drafts: Drafts | None = None,
        files: FileIndex | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._clock_s = clock_s
        self.glyphs = glyphs
        self._history = history
        self._drafts = drafts
        self._files = files
        self._view: ContextView | None = None
        self._live = Live()
        self._status = PromptStatus()

    def compose(self) -> ComposeResult:
        """Top to bottom."""
        yield TitleBar()
        yield BudgetBar()
        yield Conversation()
        with Vertical(id="question-place"):  # a margin of the panel would narrow what stands above it
            yield PermissionPanel()
        yield TimelineStrip()
        yield PromptBar(history=self._history, drafts=self._drafts, files=self._files, clock_s=self._clock_s)
        yield Footer()

    def on_mount(self) -> None:
        """The prompt has the focus from the first frame on."""
        use_for_all(self.glyphs)
        self.title_bar.glyphs = self.bar.glyphs = self.conversation.glyphs = self.glyphs
        self.question.glyphs = self.strip.glyphs = self.prompt_bar.glyphs = self.glyphs
        self.set_focus(self.prompt_bar.prompt)

    def on_screen_resume(self) -> None:
        """A question that was asked under a dialog takes the keys when the dialog has gone."""
        if self.standing and self.question.question is not None:
            self.question.wake()

    @property
    def standing(self) -> bool:
        """Whether its widgets are there: events still come while the program leaves."""
        return self.is_attached and bool(self.query(TitleBar))

    def show_title(self, data: TitleData) -> None:
        """Another title row."""
        self.title_bar.show(data)

    def show_view(self, view: ContextView, live: Live) -> None:
        """The window is another one."""
        self._view = view
        draft = self._live.draft_tokens
        self._live = msgspec.structs.replace(live, draft_tokens=draft)
        self._paint_bar()

    def show_steps(self, marks: Sequence[StepMark]) -> None:
        """The steps so far."""
        self.strip.show(marks)

    def show_draft(self, tokens: int) -> None:
        """The draft weighs so many tokens: bar and prompt say where it lands."""
        if tokens != self._live.draft_tokens:
            self._live = msgspec.structs.replace(self._live, draft_tokens=tokens)
            self._paint_bar()

    def show_status(self, status: PromptStatus) -> None:
        """What the session is doing."""
        self._status = status
        self._paint_status(None if self._view is None else bar_data(self._view, self._live))

    def _paint_bar(self) -> None:
        if self._view is None:
            return
        data = bar_data(self._view, self._live)
        self.bar.show(data)
        self._paint_status(data)

    def _paint_status(self, data: BarData | None) -> None:
        tokens = self._live.draft_tokens
        status = msgspec.structs.replace(self._status, draft_tokens=tokens)
        if data is not None and tokens:
            percent = None if not data.usable else (200 * data.lands + data.usable) // (2 * data.usable)
            status = msgspec.structs.replace(
                status,
                lands_at=data.lands,
                percent=percent,
                after_turn=data.after_turn,
                compacts=data.usable is not None and data.lands >= data.usable,
            )
        self.prompt_bar.show(status)
