"""Commands that open the timeline in full."""

from collections.abc import Mapping

from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.timelines import show_timeline


class TimelineActions(Family):
    """Every step as a column, or as a row."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {"chart": self._chart, "steps": self._steps}

    async def _chart(self, words: str) -> None:
        """A number is a step, other words are searched for; without any, it opens where the strip is."""
        await self._show(words, as_table=False)

    async def _steps(self, words: str) -> None:
        await self._show(words, as_table=True)

    async def _show(self, words: str, *, as_table: bool) -> None:
        number = words.replace(",", "")
        step = int(number) if number.isdecimal() and len(number) < 10 else None
        if not words:
            step = self._app.main.strip.cursor
        await show_timeline(
            self._app, self._worker(), step=step, words="" if step is not None else words, as_table=as_table
        )
