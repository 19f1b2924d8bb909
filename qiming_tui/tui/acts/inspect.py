"""Commands that open the inspector."""

from collections.abc import Mapping

from qiming_tui.context.past_request import Step
from qiming_tui.model.errors import InputError
from qiming_tui.session.inspection import Inspection
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.commands import BY_ID
from qiming_tui.tui.screens.inspector import TABS, InspectorScreen
from qiming_tui.tui.widgets.inspector.source import Source
from qiming_tui.tui.widgets.prompt import Prompt


class InspectActions(Family):
    """One step on five tabs."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {"inspect": self._inspect, "why": self._why}

    async def _inspect(self, words: str) -> None:
        await self._open(words, "request")

    async def _why(self, words: str) -> None:
        await self._open(words, "why")

    async def _open(self, words: str, tab: str) -> None:
        """`words`: a step's number, a message or a part, a tab's name, in any order; without any: the step
        of the timeline's cursor, else the newest."""
        worker = self._worker()
        past = Inspection(worker.ctx)
        steps = await past.steps()
        if not steps:
            raise InputError("there is no request yet", "the inspector shows what was sent")
        wanted = []
        for word in words.lower().replace("what-if", "whatif").split():
            if word in TABS:
                tab = word
            else:
                wanted.append(word)
        place = self._place(steps, words.split() if wanted else [])

        async def chosen(answer: tuple[str, str] | None) -> None:
            if answer is not None and answer[0] in BY_ID:
                self._app.post_message(Prompt.Called(BY_ID[answer[0]], answer[1]))

        screen = InspectorScreen(
            Source(past, steps), glyphs=self._app.main.glyphs, place=place, tab=tab, copy=self._app.copy
        )
        await self._app.push_screen(screen, chosen)

    def _place(self, steps: tuple[Step, ...], words: list[str]) -> int | None:
        """Where the step stands that is meant; None: the newest."""
        cursor = self._app.main.strip.cursor
        if not words:
            words = [str(cursor)] if cursor is not None else []
        for word in words:
            number = word.replace(",", "")
            if number.isdecimal() and len(number) < 10:
                found = [n for n, step in enumerate(steps) if step.row.step == int(number)]
                if not found:
                    raise InputError(f"there is no step {word}", f"the last one is {steps[-1].row.step:,}")
                return found[-1]
        ids = set(words)
        for n, step in enumerate(steps):
            if step.row.message_id in ids:
                return n
        holding = [
            n
            for n, step in enumerate(steps)
            if any(row.part_id in ids or row.message_id in ids for row in step.manifest)
        ]
        if holding:
            return holding[-1]
        if not words or set(words) <= set(TABS) or words == [str(cursor)]:
            return None
        raise InputError(f"no request holds {' '.join(words)[:60]}", "give a step's number")
