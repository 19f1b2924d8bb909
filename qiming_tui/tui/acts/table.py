"""Every command, found by its id."""

from typing import TYPE_CHECKING, Final

from qiming_tui.model.errors import InputError, QimingError
from qiming_tui.tui.acts.demo import DemoActions
from qiming_tui.tui.acts.edit import EditActions
from qiming_tui.tui.acts.family import Do, Family
from qiming_tui.tui.acts.inspect import InspectActions
from qiming_tui.tui.acts.limit import LimitActions
from qiming_tui.tui.acts.look import LookActions
from qiming_tui.tui.acts.session import SessionActions
from qiming_tui.tui.acts.timeline import TimelineActions
from qiming_tui.tui.acts.window import WindowActions

if TYPE_CHECKING:
    from qiming_tui.tui.app import QimingApp

FAMILIES: Final[tuple[type[Family], ...]] = (
    SessionActions,
    WindowActions,
    EditActions,
    LimitActions,
    LookActions,
    TimelineActions,
    InspectActions,
    DemoActions,
)


class Actions:
    """Carries out commands on the open session and the screen."""

    def __init__(self, app: "QimingApp") -> None:
        self._app = app
        self._table: dict[str, Do] = {}
        for family in FAMILIES:
            self._table |= family(app).commands()

    async def run(self, command_id: str, argument: str) -> None:
        """Do it; a refusal is told, with what to do."""
        do = self._table.get(command_id)
        try:
            if do is None:
                raise InputError(
                    f"{command_id} has no screen yet", "the plain front end (--plain) may have it"
                )
            await do(argument)
        except QimingError as error:
            self._app.tell(error)

    def shell(self, command: str) -> None:
        """`!command`: not in this version."""
        hint = "ask the agent to run it, or leave with ^C ^C"
        self._app.tell(InputError(f"the prompt runs no shell commands yet: {command[:60]}", hint))
