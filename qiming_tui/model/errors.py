"""Our exceptions.

QimingError
|-- InputError          bad input: says what, where and what to do (exit code 2)
|   |-- ConfigError     a settings file: names file and key
|   |-- NoModel         no model that can be used: none is chosen, its provider is unknown, its key is missing
|   `-- FormatError     a session file we cannot read: names the place
|-- StoreError
|   |-- StoreFull       the disk is full
|   |-- StoreLocked     another process holds the lock longer than we wait
|   |-- StoreDamaged    the file is not a usable database
|   |-- StoreNewer      written by a newer version; opened read-only
|   `-- StoreReadOnly   a write was asked of a read-only store
|-- NotFound            no such session, message or request
|-- SessionBusy         the session is being written by another process, or a turn is running
|-- EditRefused         an edit or undo that the rules forbid: says why
`-- GatewayError        a model process could not be started
"""


class QimingError(Exception):
    """Base of all our errors; `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(QimingError):
    """The user's input cannot be used."""


class ConfigError(InputError):
    """A settings file cannot be used."""


class NoModel(InputError):
    """No model can be used: none is chosen, nobody knows its provider, or its key is missing."""


class FormatError(InputError):
    """A session file cannot be read."""


class StoreError(QimingError):
    """The store could not do what was asked; never holds bound values."""


class StoreFull(StoreError):
    """No room on the disk."""


class StoreLocked(StoreError):
    """Locked by another process for longer than we wait."""


class StoreDamaged(StoreError):
    """The database file is damaged."""


class StoreNewer(StoreError):
    """The database was written by a newer program."""


class StoreReadOnly(StoreError):
    """The store is open for reading only."""


class NotFound(QimingError):
    """What was named does not exist."""


class SessionBusy(QimingError):
    """Somebody else is at work on the session."""


class EditRefused(QimingError):
    """The edit is against the rules."""


class GatewayError(QimingError):
    """A model process could not be started or spoken to."""
