"""What the pieces of one session share: services, journal, bus, engine, requests, the model at work."""

import msgspec

from qiming_tui.model.changes import PutSession
from qiming_tui.model.events import Event, Notice
from qiming_tui.model.messages import AssistantMessage, Lifetime, ModelChoice
from qiming_tui.session.bus import Bus
from qiming_tui.session.engine import Engine
from qiming_tui.session.journal import Journal
from qiming_tui.session.live import Live
from qiming_tui.session.requests import Requests
from qiming_tui.session.services import ModelProfile, Services


class Context:
    """The parts of a running session, put together once by the worker."""

    def __init__(self, services: Services, live: Live, profile: ModelProfile) -> None:
        self.services = services
        self.bus = Bus()
        self.live = live
        self.journal = Journal(services.store, live, self.bus, services.sleep)
        self.requests = Requests(services, self.journal, self.bus)
        self.engine = Engine(services, self.journal)
        self.profile = profile
        self.agent = "build"

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.live.session.id

    def publish(self, event: Event) -> None:
        """Tell everybody."""
        self.bus.publish(event)

    async def at_work(self, *, turn: str | None, step: int | None = None) -> None:
        """Store what is under way, so that it is ended at the next start if this process dies meanwhile."""
        time = msgspec.structs.replace(self.live.session.time, updated=self.services.clock())
        session = self.live.replace_session(turn=turn, open_step=step, time=time)
        await self.journal.commit(PutSession(session))

    def notice(self, text: str) -> None:
        """A sentence for the user."""
        self.publish(Notice(session=self.session_id, text=text))

    def choice(self) -> ModelChoice:
        """The model at work, in the shape of a user message."""
        ref = self.profile.info.ref
        return ModelChoice(provider_id=ref.provider, model_id=ref.model)

    def draft(self, parent_id: str, *, mode: str | None = None, summary: bool = False) -> AssistantMessage:
        """A new assistant message of the model at work."""
        ref = self.profile.info.ref
        directory = self.live.session.directory
        return AssistantMessage(
            id=self.services.ids.new("msg"),
            session_id=self.session_id,
            parent_id=parent_id,
            mode=mode or self.agent,
            agent=mode or self.agent,
            path={"cwd": directory, "root": directory},
            cost=0,
            model_id=ref.model,
            provider_id=ref.provider,
            time=Lifetime(created=self.services.clock()),
            summary=summary,
        )
