"""Commands of a demo that plays in the screen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qiming_tui.model.errors import InputError
from qiming_tui.tui.acts.family import Do, Family

if TYPE_CHECKING:
    from qiming_tui.demo.pace import Pace


class DemoActions(Family):
    """Pause and single steps."""

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        return {"pause": self._pause, "step": self._step}

    def _pace(self) -> "Pace":
        if self._app.pace is None:
            raise InputError("only a demo can be paused", "esc esc stops the turn that is under way")
        return self._app.pace

    async def _pause(self, _: str) -> None:
        self._pace().toggle()

    async def _step(self, _: str) -> None:
        self._pace().step()
