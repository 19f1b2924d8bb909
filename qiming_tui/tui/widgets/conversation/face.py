"""What one block is drawn from: the block itself, and what the window and the reader did to it."""

import msgspec

from qiming_tui.tui.blocks import Block, BoundaryFacts, Kind

COST_CELLS = 9
"""Tokens (7), a space and the chip, at the right edge."""
GUTTER = 2
NAME = 4
"""Where the name of a tool begins."""
SUBJECT = 11
"""Where its subject begins."""
MEASURE = 100
"""Prose is not set wider than this: longer lines are hard to read."""


NO_FACTS = BoundaryFacts()

Hint = tuple[str, str]
"""A key and what it does."""


class Face(msgspec.Struct, frozen=True, kw_only=True):
    """A block as it is to be drawn."""

    block: Block
    opened: bool = False
    cleared: str = ""
    """When its result was taken out of the window; "now" where the moment is not known."""
    was: str = ""
    """Tokens of the result before that, in words."""
    facts: BoundaryFacts = NO_FACTS
    hints: tuple[Hint, ...] = ()
    now_ms: float | None = None
    """The clock, for what is running."""

    @property
    def prose(self) -> bool:
        """Whether it is Markdown."""
        return self.block.kind in {Kind.TEXT, Kind.SUMMARY}
