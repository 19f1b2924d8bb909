"""What came of one request, whatever it was for."""

import msgspec

from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.stream import Fault
from qiming_tui.model.usage import Usage


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a request: `finish` or `fault` is set, never both."""

    row: RequestRow
    finish: str | None = None
    usage: Usage | None = None
    """None where the provider reported nothing."""
    fault: Fault | None = None
