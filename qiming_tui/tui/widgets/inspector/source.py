"""Where the inspector's pages come from: a session's inspection, with what was computed once kept."""

import json
from collections.abc import Mapping
from typing import Protocol

from qiming_tui.context.cachebook import CacheBook, cachebook
from qiming_tui.context.past_request import Shown, Step
from qiming_tui.context.request_diff import RequestDiff, compare
from qiming_tui.context.whatif import RECORDED, Policy, moments, recorded, replay
from qiming_tui.context.whatif_words import WORDS, suggested, typed
from qiming_tui.context.why_rows import question, why_rows
from qiming_tui.model.edits import EditRecord
from qiming_tui.model.limits import Limits, Price
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.window import PrunePlan, Settings
from qiming_tui.tui.widgets.inspector import pages
from qiming_tui.tui.widgets.inspector.page import Page


class Past(Protocol):
    """What is asked of a session (`session.inspection.Inspection`)."""

    @property
    def settings(self) -> Settings: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def edits(self) -> tuple[EditRecord, ...]: ...
    @property
    def by_user(self) -> frozenset[str]: ...
    def names(self) -> Mapping[str, str]: ...
    async def request(self, step: Step) -> Shown: ...
    async def plan(self, step: Step) -> PrunePlan: ...
    async def sizes(self) -> Mapping[str, int]: ...


class Source:
    """The steps of a session, and a page for each tab at each of them."""

    def __init__(self, past: Past, steps: tuple[Step, ...]) -> None:
        self.past = past
        self.steps = steps
        self.arrow = "→"
        self._names: Mapping[str, str] | None = None
        self._typed: list[Policy] = []
        self._book: CacheBook | None = None
        self._whatif: Page | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """Words for parts and messages."""
        if self._names is None:
            self._names = self.past.names()
        return self._names

    def before(self, place: int) -> Step | None:
        """The request before this one; of a turn's request the turn's before, since a summary's own is
        never continued."""
        turns = (step for step in reversed(self.steps[:place]) if step.row.kind is RequestKind.TURN)
        return next(turns, None)

    def diff(self, place: int) -> RequestDiff | None:
        """From the request before."""
        older = self.before(place)
        return None if older is None else compare(older.manifest, self.steps[place].manifest, self.names)

    async def page(self, tab: str, place: int, sieve: pages.Sieve, columns: int) -> Page:
        """A tab at a step. Raises QimingError."""
        step = self.steps[place]
        if tab == "request":
            return await self._request(place, sieve)
        if tab == "diff":
            return pages.diff_page(self.diff(place), step, self.before(place), self.arrow, self.names)
        if tab == "why":
            following = self.steps[place + 1] if place + 1 < len(self.steps) else None
            plan = await self.past.plan(step) if step.row.kind is RequestKind.TURN else None
            facts = why_rows(step, following, self.diff(place), self.past.edits, plan)
            return pages.why_page(question(step, following), facts, plan, self.names, columns)
        return await self._compared() if tab == "whatif" else self._cache()

    async def _request(self, place: int, sieve: pages.Sieve) -> Page:
        step = self.steps[place]
        older = self.before(place)
        held = {row.key for row in older.manifest} if older is not None else set()
        new = frozenset(row.key for row in step.manifest if row.key not in held)
        if step.rebuilt:
            checked = "~ reconstructed from the messages: no hash, system prompt and tools are not recorded"
        else:
            shown = await self.past.request(step)
            checked = f"hash {(shown.hash or '')[:16]} checked: exactly as sent, rebuilt from the ledger"
        return pages.request_page(step, self.names, sieve, checked, new)

    async def raw(self, place: int, key: str) -> str:
        """A request's body as JSON, or the value of one of its items. Raises QimingError."""
        shown = await self.past.request(self.steps[place])
        item = next((item for item in shown.items if item.key == key), None)
        value: object = shown.body if item is None else item.value
        return json.dumps(value, ensure_ascii=False, indent=2)

    def add(self, words: str) -> None:
        """Another policy, as typed; raises InputError."""
        self._typed.insert(0, typed(words, self.past.limits))
        self._whatif = None

    async def _compared(self) -> Page:
        if self._whatif is None:
            found = moments(self.steps, self.past.by_user)
            settings, sizes = self.past.settings, await self.past.sizes()
            policies = (*self._typed, *suggested(self.past.limits, settings))
            runs = [replay(policy, found, settings, sizes) for policy in (RECORDED, *policies)]
            words = f"e: {WORDS}"
            self._whatif = pages.whatif_page(recorded(found), runs[0], runs[1:], words)
        return self._whatif

    def _cache(self) -> Page:
        if self._book is None:
            self._book = cachebook(self.steps, self.past.edits, self.past.price)
        return pages.cache_page(self._book)
