"""One assistant message as it is written: its row with the first content, its parts in order, its end.

The row is written with the first content, so that a refused request leaves no empty message.
"""

import msgspec

from qiming_tui.model.changes import PutMessage, PutPart
from qiming_tui.model.codec import JSON
from qiming_tui.model.events import MessageUpdated, PartFinished, PartStarted
from qiming_tui.model.ids import Clock, Ids
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Part, StepStartPart
from qiming_tui.session.bus import Bus
from qiming_tui.session.journal import Journal


class MessageWriter:
    """Writes one message through the journal and tells the bus."""

    def __init__(
        self, *, journal: Journal, bus: Bus, ids: Ids, clock: Clock, step: int, message: AssistantMessage
    ) -> None:
        self.message = message
        self.written = False
        """Whether the message has a row."""
        self._journal = journal
        self._bus = bus
        self._ids = ids
        self._clock = clock
        self._step = step
        self._count = 0

    def identity(self) -> dict[str, JSON]:
        """The fields that make a new part one of this message."""
        return {
            "id": self._ids.new("prt"),
            "session_id": self.message.session_id,
            "message_id": self.message.id,
        }

    def next_seq(self) -> int:
        """The next free place among the message's parts."""
        self._count += 1
        return self._count - 1

    async def ensure(self) -> None:
        """Write the row, unless that was done."""
        if self.written:
            return
        self.written = True
        start = StepStartPart(**self.identity())
        await self._journal.commit(
            PutMessage(self.message, self._journal.live.next_seq()), PutPart(start, self.next_seq())
        )
        self._tell()

    async def put(self, part: Part, seq: int) -> None:
        """Write a part."""
        await self._journal.commit(PutPart(part, seq))

    async def save(self, **changes: object) -> None:
        """Write the message with some fields changed."""
        self.message = msgspec.structs.replace(self.message, **changes)
        await self._journal.commit(PutMessage(self.message, self._journal.live.entry(self.message.id).seq))
        self._tell()

    async def end(self, **changes: object) -> None:
        """Write the message as ended."""
        time = msgspec.structs.replace(self.message.time, completed=self._clock())
        await self.save(time=time, **changes)

    def started(self, part: Part) -> None:
        """Tell that a part began."""
        self._bus.publish(PartStarted(session=self.message.session_id, step=self._step, part=part))

    def finished(self, part: Part) -> None:
        """Tell that a part ended."""
        self._bus.publish(PartFinished(session=self.message.session_id, step=self._step, part=part))

    def _tell(self) -> None:
        event = MessageUpdated(session=self.message.session_id, step=self._step, info=self.message)
        self._bus.publish(event)
