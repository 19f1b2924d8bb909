"""From the session's events to what the main screen shows. Knows values and one screen; decides nothing."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from textual.notifications import SeverityLevel

from qiming_tui.context.bar import bar_data, offers
from qiming_tui.context.bar_live import cleared_of, growth_of, live_of
from qiming_tui.context.edits import fold, groups
from qiming_tui.context.figures import money, plural
from qiming_tui.context.strip import marks_of, turns_of
from qiming_tui.model import events as e
from qiming_tui.model.edits import EditKind
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Part, ToolPart
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.model.window import ContextView, ItemState
from qiming_tui.tui.approach import Approach
from qiming_tui.tui.blocks import Block, Change, costs_of
from qiming_tui.tui.book import Book
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.questions import question_of
from qiming_tui.tui.screens.main import MainScreen
from qiming_tui.tui.widgets.title_bar import TitleData

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker

HOME: Final = str(Path.home())


class Presenter:
    """Feeds one main screen from one worker."""

    def __init__(self, screen: MainScreen, worker: "Worker") -> None:
        self._screen = screen
        self._worker = worker
        self._status = PromptStatus()
        self._book = Book()
        self._view: ContextView | None = None
        self._rows: tuple[RequestRow, ...] = ()
        self._approach = Approach()
        self._turn = (0, 0.0)
        """Tokens and dollars when the turn under way began."""
        self._refused = ""
        """Why the last compaction came to nothing."""
        self.last_prompt = ""
        self.last_answer = ""

    @property
    def window(self) -> ContextView | None:
        """The next request as it was shown last."""
        return self._view

    def load(self) -> None:
        """Show the session as it is now."""
        live = self._worker.ctx.live
        window = fold(live.edits)
        self._book = Book(live.entries, edits=live.edits, hidden=window.hidden, cleared=window.cleared)
        self._screen.conversation.use_clock(self._worker.ctx.services.clock)
        self._screen.conversation.load(self._book.blocks)
        for message_id, facts in self._book.facts.items():
            self._screen.conversation.set_boundary(message_id, facts)
        self._title()
        if self._worker.lost:
            self._update(
                locked=f"read-only: {self._worker.lost}; /take takes it", busy=live.session.turn is not None
            )
        self._queue()

    def view(self, view: ContextView, rows: tuple[RequestRow, ...], *, clearable: int = 0) -> None:
        """The window is another one; `clearable`: tokens that a prune would take out now."""
        self._view = view
        self._rows = rows
        ctx = self._worker.ctx
        marks = marks_of(rows, ctx.live.edits, turns_of(ctx.live.entries))
        live = live_of(
            view,
            rows,
            before=ctx.engine.measured_row,
            growth=growth_of(marks) if ctx.engine.growth is None else ctx.engine.growth,
            price=ctx.profile.info.price,
            cleared=cleared_of(view, self._cleared_parts(view)),
            offers=offers(clearable=clearable, auto=view.verdict.auto, deferred=self._worker.turn.deferred),
        )
        self._screen.show_view(view, live)
        warning = self._approach.take(bar_data(view, live))
        if warning is not None:
            severity: SeverityLevel = "error" if warning.grave else "warning"
            self._screen.notify(warning.words, title="context", severity=severity, timeout=10, markup=False)
        self._screen.conversation.set_costs(costs_of(view))
        self._screen.conversation.set_archived(view.archived)
        self._screen.show_steps(marks)
        self._title()
        self._so_far(view)

    def _so_far(self, view: ContextView) -> None:
        """What the turn under way has added and spent."""
        count, spent = self._turn
        if self._status.busy and count:
            cost = self._spent() - spent
            self._update(grew=max(0, view.count - count), cost=money(cost) if cost else "")

    def _spent(self) -> float:
        """US dollars of all requests so far."""
        return sum(row.cost for row in self._rows if row.cost is not None)

    def _cleared_parts(self, view: ContextView) -> dict[str, Part]:
        """The parts of the window whose results are cleared."""
        live = self._worker.ctx.live
        messages = {item.message_id for item in view.items if item.state is ItemState.CLEARED}
        entries = [live.entry(name) for name in messages if name is not None and live.has(name)]
        return {part.id: part for entry in entries for part in entry.parts}

    def deltas(self, texts: dict[str, str]) -> None:
        """More text of parts that are being written."""
        for part_id, text in texts.items():
            self._screen.conversation.delta(part_id, text)

    def event(self, event: e.Event) -> None:
        """Show one event."""
        self._change(self._book.take(event))
        self._remember(event)
        match event:
            case e.TurnStarted() | e.StepStarted() | e.TurnFinished() | e.RetryScheduled() | e.QueueChanged():
                self._progress(event)
            case e.PermissionAsked():
                self._ask(event)
            case e.PermissionAnswered():
                self._screen.question.withdraw(event.request_id)
                self._update(doing="", waiting=False)
            case e.Idle():
                self._update(busy=False, doing="", waiting=False)
                self._queue()
            case e.CompactionStarted() | e.CompactionEnded() | e.EditChanged() | e.Prune():
                self._window(event)
            case e.SessionUpdated() | e.SessionCreated():
                self._title()
            case e.Failed() | e.Notice() | e.Unsaved() | e.Saved():
                self._tell(event)
            case _:
                pass

    # -- the conversation --------------------------------------------------------------------------------

    def _change(self, change: Change) -> None:
        self._screen.conversation.apply(change)

    async def bring_back(self, block_id: str) -> None:
        """Show a cleared output that lies in the store only."""
        ctx = self._worker.ctx
        texts = await ctx.services.store.outputs([block_id])
        block = next((b for b in self._book_blocks() if b.id == block_id), None)
        if block is not None and block.tool is not None and block_id in texts:
            tool = msgspec.structs.replace(block.tool, loaded=True)
            self._screen.conversation.put(
                msgspec.structs.replace(block, text=clean(texts[block_id])[0], tool=tool)
            )

    def _book_blocks(self) -> list[Block]:
        live = self._worker.ctx.live
        window = fold(live.edits)
        return Book(live.entries, edits=live.edits, hidden=window.hidden, cleared=window.cleared).blocks

    def _remember(self, event: e.Event) -> None:
        """The last exchange is printed when the program leaves; a running tool is named under the prompt."""
        match event:
            case e.MessageUpdated(info=AssistantMessage() as info):
                live = self._worker.ctx.live
                if info.finish and not info.summary and not info.error and live.has(info.id):
                    self.last_answer = clean(live.entry(info.id).text)[0]
            case e.TurnStarted(text=text):
                self.last_prompt = clean(text)[0]
            case e.PartUpdated(part=ToolPart(tool=tool), progress=""):
                self._update(doing=f"running {one_line(tool)}")
            case e.PartFinished(part=ToolPart()):
                self._update(doing="")
            case _:
                pass

    def _window(self, event: e.Event) -> None:
        match event:
            case e.CompactionStarted():
                self._update(doing="summarising the history", busy=True)
            case e.CompactionEnded():
                self._update(doing="", busy=self._worker.busy)
                self._compacted(event)
            case e.EditChanged(phase=phase) if phase != "applied":
                self.load()
            case e.Prune(phase="applied", plan=plan):
                words = f"{plural(len(plan.cleared), 'old result')} taken out, ~{plan.tokens:,} tokens"
                words += "; the originals are kept, /undo brings them back"
                self._screen.notify(words, title="pruned", timeout=8, markup=False)
            case _:
                pass
        self._title()

    def _compacted(self, event: e.CompactionEnded) -> None:
        """A compaction announces itself; one that is refused at every step is told once."""
        said = one_line(event.words, limit=300)
        if event.phase == "finished":
            self._refused = ""
            sizes = ""
            if event.before is not None and event.after is not None:
                sizes = f"{event.before:,} tokens before, ~{event.after:,} after: "
            self._screen.notify(f"{sizes}{said}", title="compacted", timeout=8, markup=False)
            return
        if event.phase == "skipped" and event.reason == self._refused:
            return
        self._refused = event.reason
        self._screen.notify(said, title="not compacted", severity="warning", timeout=10, markup=False)

    # -- everything else ---------------------------------------------------------------------------------

    def _progress(self, event: e.Event) -> None:
        match event:
            case e.TurnStarted():
                self._turn = (self._view.count if self._view is not None else 0, self._spent())
                self._update(busy=True, doing="", step=None, grew=None, cost="")
            case e.StepStarted(step=step):
                self._update(busy=True, doing="waiting for the model", step=step)
            case e.TurnFinished(reason=reason):
                self._update(busy=False, doing="", waiting=False)
                if reason == "interrupted":
                    words = "The last turn was interrupted when the program ended; nothing else is lost."
                    self._screen.notify(words, severity="warning", markup=False)
            case e.RetryScheduled(attempt=attempt, delay_ms=delay, fault=fault):
                words = f"retry {attempt} in {delay / 1000:.0f} s: {one_line(fault.message, limit=80)}"
                self._update(doing=words, waiting=False)
            case _:
                pass
        self._queue()

    def _queue(self) -> None:
        queue = self._worker.ctx.live.queue
        self._update(queued=len(queue), held=bool(queue) and not self._worker.busy)

    def _update(self, **changes: object) -> None:
        self._status = msgspec.structs.replace(self._status, **changes)
        self._screen.show_status(self._status)

    def _ask(self, event: e.PermissionAsked) -> None:
        folder = short_folder(self._worker.ctx.live.session.directory)
        question = question_of(event, self._worker, self._view, folder=folder)
        self._screen.question.ask(question)
        part_id = self._book.asking(event.request_id)
        if part_id is not None and question.price_tokens is not None:
            self._screen.conversation.expect(part_id, question.price_tokens)
        self._update(doing="waiting for permission", waiting=True)

    def _tell(self, event: e.Event) -> None:
        match event:
            case e.Failed(message=message, hint=hint):
                self._screen.notify(
                    clean(f"{message}\n{hint}".strip())[0], severity="error", timeout=10, markup=False
                )
            case e.Notice(text=text):
                self._screen.notify(clean(text)[0], markup=False)
            case e.Unsaved(reason=reason, pending=pending):
                words = f"not saved yet, {pending} changes are kept in memory: {reason}"
                self._screen.notify(clean(words)[0], severity="error", timeout=10, markup=False)
            case e.Saved():
                self._screen.notify("saved", markup=False)
            case _:
                pass

    def _title(self) -> None:
        ctx = self._worker.ctx
        found = [group for group in groups(ctx.live.edits) if group.active]
        kinds = [edit.kind for group in found for edit in group.edits]
        costs = [row.cost for row in self._rows if row.cost is not None]
        self._screen.show_title(
            TitleData(
                title=ctx.live.session.title or "new session",
                agent=ctx.agent,
                model=ctx.profile.info.ref.model,
                folder=short_folder(ctx.live.session.directory),
                compactions=kinds.count(EditKind.COMPACT),
                prunes=sum(1 for group in found if group.edits[0].kind is EditKind.CLEAR),
                cost=sum(costs) if costs else None,
            )
        )


def short_folder(directory: str) -> str:
    """A folder's path with the home folder as `~`."""
    return f"~{directory[len(HOME) :]}" if directory.startswith(HOME) else directory
