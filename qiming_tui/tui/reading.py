"""What the conversation, the timeline and the budget bar wish for, carried out."""

from textual import on

from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.host import Host
from qiming_tui.tui.screens.text import TextScreen
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.conversation.view import Conversation
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip


class Reading(Host):
    """Answers the wishes of who reads; commands are for the class above."""

    async def perform(self, command_id: str, argument: str) -> None:
        """Carry out a command."""
        raise NotImplementedError

    # -- from the conversation and the timeline ----------------------------------------------------------

    @on(Conversation.BodyWanted)
    async def _body(self, message: Conversation.BodyWanted) -> None:
        if self.presenter is not None:
            await self.presenter.bring_back(message.block_id)

    @on(Conversation.CopyWanted)
    async def _copy(self, message: Conversation.CopyWanted) -> None:
        await self.copy(message.text)

    @on(TextScreen.Copied)
    async def _copy_text(self, message: TextScreen.Copied) -> None:
        await self.copy(message.text)

    @on(Conversation.LinkWanted)
    def _link(self, message: Conversation.LinkWanted) -> None:
        self.notify(one_line(message.href, limit=300), title="link (not opened)", timeout=10, markup=False)

    @on(Conversation.EditWanted)
    async def _edit(self, message: Conversation.EditWanted) -> None:
        whole = () if message.kind in ("undo", "redo") else message.part_ids
        await self.perform(message.kind, " ".join(whole) or message.message_id)

    @on(Conversation.LookWanted)
    async def _look(self, message: Conversation.LookWanted) -> None:
        if message.what == "before-after":
            await self.perform("fate", message.message_id)
        else:
            await self.perform("why", " ".join(message.part_ids) or message.message_id)

    @on(TimelineStrip.Jump)
    def _jump(self, message: TimelineStrip.Jump) -> None:
        if message.message_id is not None:
            self.main.conversation.go_to(message.message_id)

    # -- from the budget bar ------------------------------------------------------------------------------

    @on(BudgetBar.Act)
    async def _offer(self, message: BudgetBar.Act) -> None:
        if message.act == "focus":
            self.main.prompt_bar.write("/compact ")
            self.main.set_focus(self.main.prompt_bar.prompt)
            return
        await self.perform({"clear": "prune"}.get(message.act, message.act), "")
