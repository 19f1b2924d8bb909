"""What if: the recorded steps under other limits or settings (`ux.md` 5.9). Nothing is sent.

The recorded requests are replayed one after the other. As long as a policy decides as it was decided then,
its window is the recorded one, to the token. From the first step where it decides otherwise its window is
modelled: what each later request added is added, what the policy clears or summarises is taken out; all of
that is `~`. A compaction that no rule explains was asked for by hand and stays in every policy. Summaries are
taken to be as long as the recorded ones, without a tail of turns kept word for word.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.budget import bound, is_over
from qiming_tui.context.past_request import Step
from qiming_tui.context.prune import PROTECTED_TURNS
from qiming_tui.context.timeline_past import PLACEHOLDER_TOKENS
from qiming_tui.model.ledger import ManifestRow, Outcome
from qiming_tui.model.limits import Limits
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import ItemState, Klass, Preset, Settings, Verdict

FIXED: Final = frozenset((Klass.SYSTEM, Klass.TOOL, Klass.MEMORY))
SUMMARY_MOST: Final = 8_000
"""How long a summary is taken to be where none was recorded, or a tenth of usable."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Other settings; None: as recorded."""

    name: str
    limits: Limits | None = None
    reserved: int | None = None
    output_token_max: int | None = None
    protect: int | None = None
    minimum: int | None = None
    auto: bool | None = None
    prune: bool | None = None

    def settings(self, base: Settings) -> Settings:
        """The settings with what differs."""
        names = ("reserved", "output_token_max", "protect", "minimum", "auto", "prune")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return msgspec.structs.replace(base, **given)

    @property
    def rebound(self) -> bool:
        """Whether usable is another."""
        return any(value is not None for value in (self.limits, self.reserved, self.output_token_max))


RECORDED: Final = Policy(name="recorded policy")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a policy. Steps are numbers of recorded steps; tokens."""

    name: str
    usable: int | None
    compactions: tuple[int, ...] = ()
    prunes: tuple[int, ...] = ()
    peak: int = 0
    sent: int = 0
    archived: int = 0
    split: int | None = None
    """The first step at which it decides otherwise; None: as recorded to the end."""
    modelled: bool = True


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A turn's request with what was decided after it."""

    step: int
    rows: tuple[ManifestRow, ...]
    count: int
    verdict: Verdict
    added: tuple[ManifestRow, ...]
    """What the next request added; nothing of a summary, nothing synthetic."""
    compacted: bool
    by_hand: bool
    cleared: frozenset[str]
    """Keys that the rules cleared before the next request."""
    turn_ends: bool
    last: bool

    @property
    def total(self) -> int:
        """By our count."""
        return sum(row.tokens for row in self.rows)


def moments(steps: Sequence[Step], by_user: frozenset[str] = frozenset()) -> tuple[Moment, ...]:
    """The turn requests of a session with what was decided after each. `by_user`: ids of parts that a person
    cleared; they count as nobody's prune."""
    found: list[Moment] = []
    turns = [n for n, step in enumerate(steps) if step.row.kind is RequestKind.TURN and step.manifest]
    seen: set[str] = set()
    for at, place in enumerate(turns):
        step = steps[place]
        following = steps[turns[at + 1]] if at + 1 < len(turns) else None
        between = steps[place + 1 : turns[at + 1]] if following is not None else steps[place + 1 :]
        seen |= {row.key for row in step.manifest}
        found.append(_moment(step, following, between, seen, by_user))
    return tuple(found)


def _moment(
    step: Step, following: Step | None, between: Sequence[Step], seen: set[str], by_user: frozenset[str]
) -> Moment:
    verdict = step.row.after or step.row.verdict
    new = following.manifest if following is not None else ()
    fresh = tuple(row for row in new if row.key not in seen and _counts(row))
    before = {row.key: row.state for row in step.manifest}
    cleared = frozenset(
        row.key
        for row in new
        if row.state is ItemState.CLEARED
        and before.get(row.key, ItemState.CLEARED) is not ItemState.CLEARED
        and row.part_id not in by_user
    )
    done = any(s.row.kind is RequestKind.SUMMARY and s.row.outcome is Outcome.OK for s in between)
    users = sum(row.tokens for row in fresh if row.klass is Klass.USER)
    usable = verdict.usable
    over = usable is not None and is_over(verdict.preset, verdict.count + users, usable)
    return Moment(
        step=step.row.step,
        rows=step.manifest,
        count=verdict.count,
        verdict=verdict,
        added=fresh,
        compacted=done,
        by_hand=done and not ((over or verdict.refused) and verdict.auto),
        cleared=cleared,
        turn_ends=following is None or users > 0,
        last=following is None,
    )


def _counts(row: ManifestRow) -> bool:
    return row.klass is not Klass.SUMMARY and row.state is not ItemState.SYNTHETIC


def recorded(found: Sequence[Moment]) -> Run:
    """What happened."""
    usable = found[-1].verdict.usable if found else None
    run = _Replay(RECORDED, found, Settings(), {})
    for moment in found:
        run.note(moment, moment.rows, moment.count)
        run.compactions += [moment.step] if moment.compacted else []
        run.prunes += [moment.step] if moment.cleared else []
        run.archived += _archivable(moment.rows) if moment.compacted else 0
    return run.result(usable, modelled=False)


def replay(
    policy: Policy, found: Sequence[Moment], settings: Settings, sizes: Mapping[str, int] | None = None
) -> Run:
    """The recorded steps under a policy. `sizes`: tokens of results by part id as a prune counts them
    (`PrunePlan.fates`). Raises ConfigError as `bound` does."""
    run = _Replay(policy, found, settings, sizes or {})
    for moment in found:
        run.take(moment)
    return run.result(run.usable(found[-1]) if found else None, modelled=True)


def _archivable(rows: Sequence[ManifestRow]) -> int:
    return sum(row.tokens for row in rows if row.klass not in FIXED and not row.pinned)


class _Replay:
    """One policy on its way through the steps."""

    def __init__(
        self, policy: Policy, found: Sequence[Moment], settings: Settings, sizes: Mapping[str, int]
    ) -> None:
        self.policy = policy
        self.settings = policy.settings(settings)
        self.sizes = sizes
        self.window: list[ManifestRow] | None = None
        """None: as recorded."""
        self.compactions: list[int] = []
        self.prunes: list[int] = []
        self.peak = self.sent = self.archived = 0
        self.split: int | None = None
        summaries = [row.tokens for m in found for row in m.rows if row.klass is Klass.SUMMARY]
        self.summary = sum(summaries) // len(summaries) if summaries else None

    def usable(self, moment: Moment) -> int | None:
        """The bound that holds at a step."""
        if not self.policy.rebound:
            return moment.verdict.usable
        return bound(self.policy.limits or moment.verdict.limits, self.settings).usable

    def note(self, moment: Moment, rows: Sequence[ManifestRow], count: int) -> None:
        """A request is sent."""
        self.peak = max(self.peak, count)
        self.sent += sum(row.tokens for row in rows) if rows is not moment.rows else moment.total

    def take(self, moment: Moment) -> None:
        """One step: send, decide, apply."""
        rows = self.window if self.window is not None else moment.rows
        count = moment.count
        if self.window is not None:
            count += sum(row.tokens for row in rows) - moment.total
        self.note(moment, rows, count)
        cleared, compact = self._decide(moment, rows, count)
        if compact:
            self.compactions.append(moment.step)
            self.archived += _archivable(rows)
        if cleared:
            self.prunes.append(moment.step)
        same = (compact, cleared) == (moment.compacted, moment.cleared) or moment.last
        if self.window is None and same:
            return
        if self.split is None:
            self.split = moment.step
        self.window = [*self._after(rows, cleared, compact, self.usable(moment)), *moment.added]

    def _decide(self, moment: Moment, rows: Sequence[ManifestRow], count: int) -> tuple[frozenset[str], bool]:
        """What is cleared, and whether a summary is made, before the next request."""
        usable, preset = self.usable(moment), moment.verdict.preset
        auto = moment.verdict.auto if self.policy.auto is None else self.policy.auto
        said = sum(row.tokens for row in moment.added if row.klass is Klass.USER)
        refused = self.window is None and not self.policy.rebound and moment.verdict.refused
        over = usable is not None and is_over(preset, count + said, usable)
        nothing: frozenset[str] = frozenset()
        if not (auto and (over or refused)):
            pruned = self._prune(rows, preset) if moment.turn_ends else nothing
            return (nothing if moment.last else pruned), moment.by_hand
        if preset is not Preset.GUARDED:
            return nothing, True
        cleared = self._prune(rows, preset)
        freed = sum(row.tokens - PLACEHOLDER_TOKENS for row in rows if row.key in cleared)
        still = refused or (usable is not None and is_over(preset, count + said - freed, usable))
        return cleared, still or moment.by_hand

    def _prune(self, rows: Sequence[ManifestRow], preset: Preset) -> frozenset[str]:
        """The walk of `prune.plan` over the items: newest to oldest, two turns and `protect` tokens kept."""
        settings = self.settings
        if not settings.prune:
            return frozenset()
        turns = total = candidates = 0
        marked: list[str] = []
        for row in reversed(rows):
            if row.klass is Klass.USER and row.state is not ItemState.SYNTHETIC:
                turns += 1
            if row.klass is Klass.SUMMARY and turns >= PROTECTED_TURNS:
                break
            if row.klass is not Klass.RESULT or turns < PROTECTED_TURNS:
                continue
            if row.state is ItemState.CLEARED:
                if preset is Preset.GUARDED:
                    continue
                break
            if row.pinned or row.source in settings.protected_tools:
                continue
            size = self.sizes.get(row.part_id or "", row.tokens)
            total += size
            if total > settings.protect and size >= PLACEHOLDER_TOKENS:
                marked.append(row.key)
                candidates += size
        return frozenset(marked) if candidates > settings.minimum else frozenset()

    def _after(
        self, rows: Sequence[ManifestRow], cleared: frozenset[str], compact: bool, usable: int | None
    ) -> list[ManifestRow]:
        """The window once it is applied."""
        if not compact:
            return [_cleared(row) if row.key in cleared else row for row in rows]
        length = self.summary or min(SUMMARY_MOST, (usable or 10 * SUMMARY_MOST) // 10)
        kept = [row for row in rows if row.klass in FIXED or row.pinned]
        model = rows[-1] if rows else None
        if model is None:
            return kept
        summary = msgspec.structs.replace(
            model, key="summary:~", klass=Klass.SUMMARY, tokens=length, pinned=False, state=ItemState.SENT
        )
        return [*kept, summary]

    def result(self, usable: int | None, *, modelled: bool) -> Run:
        """What came of it."""
        return Run(
            name=self.policy.name,
            usable=usable,
            compactions=tuple(self.compactions),
            prunes=tuple(self.prunes),
            peak=self.peak,
            sent=self.sent,
            archived=self.archived,
            split=self.split,
            modelled=modelled,
        )


def _cleared(row: ManifestRow) -> ManifestRow:
    tokens = min(row.tokens, PLACEHOLDER_TOKENS)
    return msgspec.structs.replace(row, state=ItemState.CLEARED, tokens=tokens)
