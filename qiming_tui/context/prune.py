"""Which old tool results to clear: the walk of conformance 1.6 with the differences of `data.md` 4.

Newest to oldest in the order of the request. A plan changes nothing; it gives every tool part its fate.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from qiming_tui.context.edits import is_cleared
from qiming_tui.context.state import Window
from qiming_tui.context.tokens import Tally, estimate, estimate_units
from qiming_tui.model.messages import AssistantMessage, Entry
from qiming_tui.model.parts import PLACEHOLDER, Completed, ToolPart
from qiming_tui.model.window import Keep, PartFate, Preset, PrunePlan, Settings

PROTECTED_TURNS: Final = 2
"""The newest turns whose results are never cleared."""


class _Walk:
    """The state of one walk from the newest part to the oldest."""

    def __init__(self, window: Window, settings: Settings, tally: Tally) -> None:
        self.window = window
        self.settings = settings
        self.tally = tally
        self.guarded = settings.preset is Preset.GUARDED
        self.pinned = {pin.target for pin in window.edits.pins}
        self.placeholder = tally.tokens(PLACEHOLDER) if self.guarded else 0
        self.turns = 0
        self.stopped: Keep | None = None
        """Why the walk ended; every older part is kept for that reason."""
        self.total = 0
        self.candidates = 0
        self.fates: list[PartFate] = []

    def size(self, part: ToolPart) -> int:
        """Tokens of a result: by the tokenizer under `guarded`, else by the articles' estimate."""
        state = part.state
        if not isinstance(state, Completed):
            return 0
        if self.guarded:
            return self.tally.stored(state.stored) if state.stored else self.tally.tokens(state.output)
        return estimate_units(state.stored.units) if state.stored else estimate(state.output)

    def opens_turn(self, entry: Entry) -> bool:
        """Whether a message begins a turn: any user message; under `guarded` only a person's own."""
        return entry.real_user if self.guarded else entry.user

    def ends_walk(self, entry: Entry) -> bool:
        """Whether the walk stops at a message: at any summary; under `guarded` at the boundary's, since a
        failed one stands for nothing."""
        info = entry.info
        if not isinstance(info, AssistantMessage) or not info.summary:
            return False
        boundary = self.window.boundary
        return not self.guarded or (boundary is not None and boundary.summary_id == entry.id)

    def entry(self, entry: Entry) -> None:
        """Judge the parts of a message, newest first."""
        if self.opens_turn(entry):
            self.turns += 1
        if self.turns >= PROTECTED_TURNS and self.stopped is None and self.ends_walk(entry):
            self.stopped = Keep.BEFORE_BOUNDARY
        for part in reversed(entry.parts):
            if isinstance(part, ToolPart):
                tokens = self.size(part)
                reason = self.judge(part, entry, tokens)
                if reason is None:
                    self.candidates += tokens
                self.fates.append(PartFate(part_id=part.id, tool=part.tool, tokens=tokens, reason=reason))

    def judge(self, part: ToolPart, entry: Entry, tokens: int) -> Keep | None:
        """Why a part is kept; None marks it. The first rule that holds is the reason."""
        if self.stopped is not None:
            return self.stopped
        if self.turns < PROTECTED_TURNS:
            return Keep.PROTECTED_TURN
        if not isinstance(part.state, Completed):
            return Keep.NOT_COMPLETED
        if is_cleared(part, self.window.edits):
            if not self.guarded:
                self.stopped = Keep.ALREADY_CLEARED
            return Keep.ALREADY_CLEARED
        if part.tool in self.settings.protected_tools:
            return Keep.PROTECTED_TOOL
        if part.id in self.pinned or entry.id in self.pinned:
            return Keep.PINNED
        if part.id in self.window.edits.restored:
            return Keep.RESTORED
        self.total += tokens
        if self.total <= self.settings.protect:
            return Keep.WITHIN_PROTECT
        return Keep.SMALLER_THAN_PLACEHOLDER if self.too_small(part.state, tokens) else None

    def too_small(self, state: Completed, tokens: int) -> bool:
        """Whether clearing would make the request larger (cases C-022); only `guarded` looks."""
        return self.guarded and not state.attachments and tokens < self.placeholder


def _archived(window: Window, entries: Iterable[Entry], walk: _Walk) -> list[PartFate]:
    """The fates of what lies before the boundary, newest first."""
    ids = frozenset(window.archived)
    parts = [part for entry in entries if entry.id in ids for part in entry.parts]
    tools = [part for part in reversed(parts) if isinstance(part, ToolPart)]
    return [
        PartFate(part_id=part.id, tool=part.tool, tokens=walk.size(part), reason=Keep.BEFORE_BOUNDARY)
        for part in tools
    ]


def plan(window: Window, settings: Settings, tally: Tally, *, entries: Sequence[Entry] = ()) -> PrunePlan:
    """What a prune would clear and why the rest stays (conformance 1.6, `data.md` 4, facts 16-22).

    Results beyond the newest `protect` tokens are marked, and all are cleared in one batch if they come to
    more than `minimum` tokens. With `prune` off the plan is empty. `entries`, the whole history, adds the
    parts before the boundary to the account; they are never marked.
    """
    if not settings.prune:
        return PrunePlan(fates=(), tokens=0, candidates_tokens=0)
    walk = _Walk(window, settings, tally)
    for entry in reversed(window.live):
        walk.entry(entry)
    fates = walk.fates
    tokens = walk.candidates
    if tokens <= settings.minimum:
        fates = [_below_minimum(fate) for fate in fates]
        tokens = 0
    fates = [*fates, *_archived(window, entries, walk)]
    return PrunePlan(fates=tuple(fates), tokens=tokens, candidates_tokens=walk.candidates)


def _below_minimum(fate: PartFate) -> PartFate:
    if fate.reason is not None:
        return fate
    return PartFate(part_id=fate.part_id, tool=fate.tool, tokens=fate.tokens, reason=Keep.BELOW_MINIMUM)
