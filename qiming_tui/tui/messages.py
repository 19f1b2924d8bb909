"""What the bridge tells the screen: events of the session, gathered text, a new view of the window."""

from textual.message import Message

from qiming_tui.model.events import Event
from qiming_tui.model.ledger import RequestRow
from qiming_tui.model.window import ContextView


class SessionEvent(Message):
    """One event of the session, deltas excepted."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Deltas(Message):
    """Text that came since the last flush, by part id, in order."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self.texts = texts


class ViewChanged(Message):
    """The next request is another one; `rows` is the ledger so far, `clearable` what a prune would take out
    now, in tokens, where the limit is near."""

    def __init__(self, view: ContextView, rows: tuple[RequestRow, ...], clearable: int = 0) -> None:
        super().__init__()
        self.view = view
        self.rows = rows
        self.clearable = clearable


class Opened(Message):
    """The session is there: prompts that waited can be sent."""


class Broken(Message):
    """The session could not be opened."""

    def __init__(self, words: str, hint: str) -> None:
        super().__init__()
        self.words = words
        self.hint = hint
