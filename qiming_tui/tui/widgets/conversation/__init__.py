"""The conversation view: one painted widget over lazily rendered blocks."""

from qiming_tui.tui.blocks import BoundaryFacts
from qiming_tui.tui.widgets.conversation.view import Conversation

__all__ = ["BoundaryFacts", "Conversation"]
