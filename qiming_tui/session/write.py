"""User messages that the program writes: prompts, Continue, compaction requests, replayed copies."""

from collections.abc import Sequence

from qiming_tui.model.changes import Change, PutMessage, PutPart
from qiming_tui.model.messages import Created, UserMessage
from qiming_tui.model.parts import Part, TextPart, with_part_ids
from qiming_tui.session.context import Context


def user_message(ctx: Context, *, queued_id: str | None = None) -> UserMessage:
    """A new user message of the working agent and model."""
    return UserMessage(
        id=ctx.services.ids.new("msg"),
        session_id=ctx.session_id,
        time=Created(created=ctx.services.clock()),
        agent=ctx.agent,
        model=ctx.choice(),
        queued_id=queued_id,
    )


def text_part(ctx: Context, message_id: str, text: str, *, synthetic: bool = False) -> TextPart:
    """A text part for a user message."""
    metadata = {"compaction_continue": True} if synthetic else None
    return TextPart(
        id=ctx.services.ids.new("prt"),
        session_id=ctx.session_id,
        message_id=message_id,
        text=text,
        synthetic=synthetic,
        metadata=metadata,
    )


def put(message: UserMessage, parts: Sequence[Part], seq: int) -> tuple[Change, ...]:
    """The changes that store a message with its parts at `seq`."""
    return (PutMessage(message, seq), *(PutPart(part, index) for index, part in enumerate(parts)))


def copies(ctx: Context, parts: Sequence[Part], message_id: str) -> tuple[Part, ...]:
    """Copies of parts under a new message."""
    return tuple(
        with_part_ids(part, id=ctx.services.ids.new("prt"), session_id=ctx.session_id, message_id=message_id)
        for part in parts
    )
