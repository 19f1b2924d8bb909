"""What every family of commands has: the application, and the session that is open."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from qiming_tui.model.errors import InputError

if TYPE_CHECKING:
    from qiming_tui.session.worker import Worker
    from qiming_tui.tui.app import QimingApp

Do = Callable[[str], Awaitable[None]]
"""A command at work: takes what was typed after it; refuses with a `QimingError`."""


class Family:
    """Commands that belong together: a method each."""

    def __init__(self, app: "QimingApp") -> None:
        self._app = app

    def commands(self) -> Mapping[str, Do]:
        """What each command id does."""
        raise NotImplementedError

    def _worker(self) -> "Worker":
        if self._app.session is None:
            raise InputError("the session is still being opened", "try again in a moment")
        return self._app.session
