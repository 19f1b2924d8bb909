"""What one block is drawn from: the block itself, and what the window and the reader did to it."""

import msgspec

from qiming_tui.tui.blocks import Block, Kind

COST_CELLS = 9
"""Tokens (7), a space and the chip, at the right edge."""
GUTTER = 2
NAME = 4
"""Where the name of a tool begins."""
SUBJECT = 11
"""Where its subject begins."""
MEASURE = 100
"""Prose is not set wider than this: longer lines are hard to read."""


class BoundaryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a compaction beyond its messages."""

    number: int = 0
    """Which one of the session it is; 0: not counted (yet)."""
    auto: bool = True
    step: int | None = None
    before: int | None = None
    after: int | None = None
    rough: bool = False
    """Whether `after` is a prediction: no answer has been measured since."""
    archived: int = 0
    """Messages that are no longer sent."""
    running: str = ""
    """Words while the summary is being written."""
    failed: str = ""
    """Why it came to nothing."""
    undone: bool = False


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
