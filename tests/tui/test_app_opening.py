"""How a session comes into the screen: trust, no model, another process at work on it; and how it leaves."""

import json
from contextlib import asynccontextmanager

from qiming_tui.cli.export import exported
from qiming_tui.model.errors import GatewayError, NoModel, NotFound
from qiming_tui.model.limits import ModelInfo, ModelRef, Price
from qiming_tui.model.window import Settings
from qiming_tui.runtime import Runtime
from qiming_tui.store.store import Store
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.offer import Key, Offer
from qiming_tui.tui.screens.welcome import Way
from qiming_tui.tui.source import Catalog, Paper
from tests.session.harness import Model, Setup, Ticks, limits, say, session, used
from tests.tui.test_app import Given, text_of, until

LOCAL = ModelRef("local", "smollm2")
LARGE = ModelInfo(ref=ModelRef("big", "large"), name="Large", limits=limits(100_000), price=Price(1.0, 2.0))
TINY = ModelInfo(ref=ModelRef("small", "tiny"), name="Tiny", limits=limits(1_000))


class Strict(Given):
    """Asks about a file, wants a model, and keeps what it was told."""

    def __init__(self, rig, *, papers=(), needs_model=False):
        super().__init__(rig)
        self.papers = papers
        self.needs_model = needs_model
        self.said = []

    async def untrusted(self):
        return self.papers

    async def trust(self, trusted):
        self.said.append(trusted)

    async def open(self, model=None):
        self.said.append(model)
        if self.needs_model and model is None:
            raise NoModel("no model is chosen", "name one with --model")
        if model == LOCAL:
            raise GatewayError("llama.cpp is not there", "install it")
        return self.rig.worker

    async def offer(self, reason):
        return Offer(reason=reason, local=LOCAL, keys=(Key("anthropic", "ANTHROPIC_API_KEY"),))

    async def catalog(self):
        return Catalog(models=(TINY, LARGE), settings=Settings(), ready=frozenset({"big"}))

    async def export(self, session_id, target):
        return target.write_bytes(await exported(self.rig.runtime.store, session_id))

    async def watch(self, session_id):
        return await self.rig.runtime.watch(session_id or self.rig.live.session.id)


async def test_without_a_model_each_way_leads_on(tmp_path):
    async with session(tmp_path, Model()) as rig:
        source = Strict(rig, needs_model=True)
        app = QimingApp(source)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "no model is chosen" in text_of(app))
            await pilot.press("k")
            await until(pilot, lambda: "export ANTHROPIC_API_KEY=..." in text_of(app))
            await pilot.press("l", "enter")
            await until(pilot, lambda: "llama.cpp is not there" in text_of(app))
            await pilot.press("m", "m")
            await until(pilot, lambda: "big/large" in text_of(app) and "ready to use" in text_of(app))
            await pilot.press("escape")
            await until(pilot, lambda: "Watch the demo" in text_of(app))
            await pilot.press("m", "m")
            await until(pilot, lambda: "big/large" in text_of(app))
            await pilot.press("enter")
            await until(pilot, lambda: app.session is rig.worker and app.screen is app.main)
            assert source.said == [None, LOCAL, LARGE.ref]
        app = QimingApp(source)
        async with app.run_test(size=(40, 12)) as pilot:
            await until(pilot, lambda: "no model is chosen" in text_of(app))
            await pilot.press("d", "d")
            await until(pilot, lambda: app.way is Way.DEMO)


async def test_what_cannot_be_opened_ends_the_screen_with_the_reason(tmp_path):
    async with session(tmp_path, Model()) as rig:
        source = Strict(rig)

        async def gone(model=None):
            raise NotFound("Session not found: ses_x")

        source.open = gone
        app = QimingApp(source)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.failure is not None)
        assert "ses_x" in str(app.failure)


async def test_the_folder_is_trusted_before_the_first_turn_and_only_by_an_answer(tmp_path):
    paper = Paper("AGENTS.md", "Use [tabs] \x1b[31mnow\n")
    async with session(tmp_path, Model(say("done", used(2_000, 5)))) as rig:
        source = Strict(rig, papers=(paper,))
        app = QimingApp(source)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "Trust this folder?" in text_of(app))
            assert "AGENTS.md" in text_of(app)
            await until(pilot, lambda: app.focused is app.main.question)
            await pilot.press("s", "a", "tab")
            await pilot.pause()
            assert source.said == []
            await pilot.press("f")
            await until(pilot, lambda: "Use [tabs] now" in text_of(app))
            await pilot.press("y")
            await until(pilot, lambda: app.session is not None)
            assert source.said == [True, None]
            assert app.main.question.question is None


@asynccontextmanager
async def beside(rig, folder):
    """Another program on the same store."""
    clock = Ticks()
    clock.now = rig.runtime.wiring.clock.now
    wiring = Setup(seed=7).wiring(folder, Model(say("mine now", used(2_100, 5))), clock, [])
    runtime = Runtime(Store.open(str(folder / "store.db"), clock=clock), wiring)
    try:
        yield runtime
    finally:
        await runtime.close()


async def test_a_session_of_another_program_is_followed_read_only_and_taken_when_it_ends(tmp_path):
    model = Model(say("first", used(2_000, 5)), say("title"), say("second", used(2_100, 5)))
    async with session(tmp_path, model) as rig:
        await rig.ask("one")
        async with beside(rig, tmp_path) as other:

            class Elsewhere(Strict):
                async def open(self, model=None):
                    return await other.open_session(rig.live.session.id, None)

                async def switch(self, session_id, *, take=False):
                    return await other.open_session(session_id, None, take=take)

                async def watch(self, session_id):
                    return await other.watch(rig.live.session.id)

            app = QimingApp(Elsewhere(rig), typed="early\r")
            async with app.run_test(size=(120, 30)) as pilot:
                await until(pilot, lambda: "first" in text_of(app) and "read-only: process" in text_of(app))
                await until(pilot, lambda: "% ok" in text_of(app))
                await rig.ask("two")
                await until(pilot, lambda: "second" in text_of(app) and "measured at step 2" in text_of(app))
                assert app.main.prompt_bar.prompt.text == "early", "it was sent before anybody could know"
                await pilot.press("ctrl+u", *"no", "enter")
                await until(pilot, lambda: any("read-only" in each.message for each in app._notifications))
                assert app.main.prompt_bar.prompt.text == "no", "what cannot be sent is not lost"
                await pilot.press("ctrl+u")
                await rig.runtime.leave(rig.worker)
                await until(pilot, lambda: "Go on here?" in text_of(app))
                await until(pilot, lambda: app.focused is app.main.question)
                await pilot.press("y")
                await until(pilot, lambda: app.watching is None and not app.session.lost)
                app.main.prompt_bar.prompt.write("three")
                await pilot.press("enter")
                await until(pilot, lambda: "mine now" in text_of(app))
                assert "read-only" not in text_of(app)


async def test_models_say_whether_the_session_fits_and_a_session_is_written_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with session(tmp_path, Model(say("answer", used(2_000, 5)), say("title"), say("again"))) as rig:
        await rig.ask("one")
        app = QimingApp(Strict(rig))
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: app.session is not None)
            app.main.prompt_bar.prompt.write("/models")
            await pilot.press("enter")
            await until(pilot, lambda: "does not fit by" in text_of(app))
            shown = text_of(app)
            assert shown.index("big/large") < shown.index("key is not set") < shown.index("small/tiny")
            assert "fits 2%" in shown
            await pilot.press("l", "a", "r", "g", "e", "enter")
            await until(pilot, lambda: rig.worker.ctx.profile.info.ref == LARGE.ref)
            await until(
                pilot, lambda: any("from the next request on" in n.message for n in app._notifications)
            )
            app.main.prompt_bar.prompt.write("two")
            await pilot.press("enter")
            await until(pilot, lambda: "again" in text_of(app))
            assert rig.model.requests[-1].model == LARGE.ref
            app.main.prompt_bar.prompt.write("/export it.json")
            await pilot.press("enter")
            await until(pilot, lambda: "written to it.json" in text_of(app))
            assert json.loads((tmp_path / "it.json").read_text())["info"]["id"] == rig.live.session.id
            app.main.prompt_bar.prompt.write("/export it.svg")
            await pilot.press("enter")
            await until(pilot, lambda: "picture" in text_of(app))
            svg = (tmp_path / "it.svg").read_text()
            assert svg.startswith("<svg")
            assert "http" not in svg.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")
