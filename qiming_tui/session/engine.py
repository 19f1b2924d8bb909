"""The pure engine with its inputs gathered: counts awaited, views built, calibration learned."""

from pathlib import Path

import msgspec

from qiming_tui.context import forms, prune, summary
from qiming_tui.context.assemble import assemble
from qiming_tui.context.cache import Cache
from qiming_tui.context.count import calibrate, last_measured
from qiming_tui.context.state import Block, SessionState, Window
from qiming_tui.context.summary import Skip, SummaryRequest
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build, window_of
from qiming_tui.model.changes import PutCalibration
from qiming_tui.model.ledger import CalibrationRow, ManifestRow, Outcome, RequestRow
from qiming_tui.model.messages import AssistantMessage, Created, Entry, UserMessage
from qiming_tui.model.parts import TextPart
from qiming_tui.model.stream import Fault, RequestKind
from qiming_tui.model.usage import Usage
from qiming_tui.model.window import ContextView, PrunePlan, Settings
from qiming_tui.session.journal import Journal
from qiming_tui.session.prompt import system_blocks
from qiming_tui.session.services import ModelProfile, Services
from qiming_tui.tools.registry import schema


class Engine:
    """Builds views of the live session for a model; keeps the counts and the rendered parts."""

    def __init__(self, services: Services, journal: Journal) -> None:
        self._services = services
        self._journal = journal
        self._tallies: dict[str, Tally] = {}
        self._caches: dict[str, Cache] = {}
        self._calibration: dict[str, CalibrationRow] = {}
        self._measured_row: RequestRow | None = None
        self._refused: tuple[int | None, int | None] | None = None
        self._refused_rows: tuple[ManifestRow, ...] | None = None
        self._weighed = ""
        self.trusted = False
        """Whether the user trusts the project folder: only then its AGENTS.md is read."""
        self.growth: int | None = None
        """Tokens that one more turn is expected to add, from the turns of this run."""

    @property
    def settings(self) -> Settings:
        """The session's context settings; a latched session has automatic compaction off."""
        settings = self._services.settings
        if self._journal.live.session.latched:
            return msgspec.structs.replace(settings, auto=False)
        return settings

    @property
    def refused(self) -> bool:
        """Whether the provider refused the newest request."""
        return self._refused is not None

    @property
    def measured_row(self) -> RequestRow | None:
        """The newest answered turn request, with its manifest: what a provider's cache was filled by."""
        return self._measured_row

    def note_refusal(self, fault: Fault, row: RequestRow) -> None:
        """The provider says that the request is too large: its numbers become the count."""
        self._refused = (fault.tokens, fault.limit)
        self._refused_rows = row.manifest

    def forget_refusal(self) -> None:
        """The window was compacted: under the articles' presets the next request is sent in any case."""
        self._refused = self._refused_rows = None

    async def calibration(self, profile: ModelProfile) -> CalibrationRow:
        """The learned factor of a model; loaded once."""
        name = str(profile.info.ref)
        row = self._calibration.get(name)
        if row is None:
            row = await self._services.store.calibration(name)
            self._calibration[name] = row
        return row

    async def tally(self, profile: ModelProfile) -> Tally:
        """The counts of a model's tokenizer, with its calibration of now."""
        name = str(profile.info.ref)
        tally = self._tallies.setdefault(name, Tally(profile.encoding))
        tally.calibration = (await self.calibration(profile)).factor
        return tally

    async def counted(self, profile: ModelProfile, tally: Tally) -> bool:
        """Count what is missing; whether anything was."""
        if tally.exact:
            return False
        texts = list(tally.missing.values())
        tally.learn(texts, await profile.counter.count(profile.encoding, texts))
        return True

    def blocks(self, profile: ModelProfile) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """System blocks and memory files, read anew for every request (cases C-055)."""
        directory = Path(self._journal.live.session.directory)
        system = system_blocks(short=profile.short_prompt)
        if profile.short_prompt:
            return system, ()
        memory = self._services.instructions(directory, self.trusted)
        return (*system, self._services.environment(directory)), memory

    def state(self, profile: ModelProfile) -> SessionState:
        """The engine's input for the next request to this model."""
        live = self._journal.live
        system, memory = self.blocks(profile)
        tools = tuple(schema(tool) for tool in self._services.tools) if profile.tools else ()
        state = live.state(
            model=profile.info.ref,
            limits=profile.info.limits,
            dialect=profile.dialect,
            system=system,
            memory=memory,
            tools=tools,
            measured=None,
            refused=self._refused,
            refused_manifest=self._refused_rows,
        )
        measured = last_measured(self.window(state))
        if measured is not None:
            row = self._measured_row
            rows = row.manifest if row is not None and row.message_id == measured.message_id else None
            measured = msgspec.structs.replace(measured, manifest=rows)
        return msgspec.structs.replace(state, measured=measured)

    def _cache(self, profile: ModelProfile) -> Cache:
        return self._caches.setdefault(f"{profile.info.ref} {profile.dialect}", Cache())

    def window(self, state: SessionState) -> Window:
        """The live window of a state."""
        return window_of(state, self.settings)

    async def view(self, profile: ModelProfile) -> ContextView:
        """The next request, with exact counts and its verdict."""
        state = self.state(profile)
        tally = await self.tally(profile)
        cache = self._cache(profile)
        view = build(state, self.settings, tally, growth=self.growth, cache=cache)
        while await self.counted(profile, tally):
            view = build(state, self.settings, tally, growth=self.growth, cache=cache)
        if profile.count_chat is not None and view.hash != self._weighed and view.total:
            self._weighed = view.hash
            await self._weigh(profile, view)
            tally = await self.tally(profile)
            view = build(state, self.settings, tally, growth=self.growth, cache=cache)
        return view

    async def _weigh(self, profile: ModelProfile, view: ContextView) -> None:
        """The model's own server counts the request: our counts are scaled to its figure."""
        if profile.count_chat is None:
            return
        row = await self.calibration(profile)
        exact = await profile.count_chat(assemble(view.params, view.items)["messages"])
        factor = exact * row.factor / view.total
        self._calibration[row.model] = CalibrationRow(
            model=row.model, factor=round(factor, 4), samples=row.samples + 1, error=0.0
        )

    async def side_view(self, profile: ModelProfile, system: tuple[Block, ...], text: str) -> ContextView:
        """A request beside the conversation (a title): these blocks, one user message, no tools."""
        live = self._journal.live
        message = UserMessage(
            id="side", session_id=live.session.id, time=Created(created=self._services.clock())
        )
        part = TextPart(id="side:text", session_id=live.session.id, message_id=message.id, text=text)
        state = SessionState(
            entries=(Entry(message, (part,)),),
            system=system,
            model=profile.info.ref,
            limits=profile.info.limits,
            dialect=profile.dialect,
        )
        tally = await self.tally(profile)
        view = build(state, self.settings, tally)
        while await self.counted(profile, tally):
            view = build(state, self.settings, tally)
        return view

    async def prepare(self, profile: ModelProfile, order: forms.Order) -> SummaryRequest | Skip:
        """The summary request for the window as it is, with exact counts, or why there is none."""
        state = self.state(profile)
        tally = await self.tally(profile)
        cache = self._cache(profile)
        prepared = summary.prepare(state, self.settings, tally, order, cache=cache)
        while await self.counted(profile, tally):
            prepared = summary.prepare(state, self.settings, tally, order, cache=cache)
        return prepared

    async def advance(self, profile: ModelProfile, request: SummaryRequest, text: str) -> SummaryRequest:
        """The next pass of a summary in several."""
        state = self.state(profile)
        tally = await self.tally(profile)
        following = summary.advance(request, text, state, tally)
        while await self.counted(profile, tally):
            following = summary.advance(request, text, state, tally)
        return following

    async def count_text(self, profile: ModelProfile, text: str) -> int:
        """Tokens of a text for this model, by its tokenizer and calibration."""
        tally = await self.tally(profile)
        tokens = tally.tokens(text)
        while await self.counted(profile, tally):
            tokens = tally.tokens(text)
        return tokens

    async def prune_plan(self, profile: ModelProfile) -> PrunePlan:
        """What prune would do now; nothing is changed."""
        state = self.state(profile)
        tally = await self.tally(profile)
        window = self.window(state)
        plan = prune.plan(window, self.settings, tally, entries=state.entries)
        while await self.counted(profile, tally):
            plan = prune.plan(window, self.settings, tally, entries=state.entries)
        return plan

    def note_row(self, row: RequestRow) -> None:
        """Remember the newest answered turn request: its manifest says what the measured total held."""
        if row.kind is RequestKind.TURN and row.outcome is Outcome.OK:
            self._measured_row = row
            self._refused = self._refused_rows = None

    async def find_measured_row(self) -> None:
        """After a load: find the ledger row of the newest answered message."""
        live = self._journal.live
        row = live.last_request
        if row is not None and row.kind is RequestKind.TURN and row.outcome is Outcome.OK:
            self._measured_row = row
            return
        newest = next(
            (
                entry.id
                for entry in reversed(live.entries)
                if isinstance(entry.info, AssistantMessage) and entry.info.finish and not entry.info.summary
            ),
            None,
        )
        for row in reversed(await self._services.store.requests(live.session.id)):
            if row.message_id == newest and row.outcome is Outcome.OK:
                self._measured_row = row
                return

    async def learn(self, profile: ModelProfile, view: ContextView, usage: Usage | None) -> None:
        """Fold a measurement into the model's calibration."""
        row = await self.calibration(profile)
        if usage is None:
            return
        learned = calibrate(row, usage=usage, predicted=view.total, factor=row.factor)
        if learned != row:
            self._calibration[row.model] = learned
            await self._journal.commit(PutCalibration(learned))
