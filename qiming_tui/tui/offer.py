"""What there is on this machine for somebody who has no model yet."""

import msgspec

from qiming_tui.model.limits import ModelRef


class Key(msgspec.Struct, frozen=True):
    """A provider and the variable of the environment that holds its key."""

    provider: str
    variable: str
    is_set: bool = False


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What there is on this machine."""

    reason: str
    """Why no session could be opened."""
    local: ModelRef
    """The model that runs on this machine."""
    local_missing: str = ""
    """What to install for the local model; empty: it is there."""
    keys: tuple[Key, ...] = ()
