"""The whole screen over a real session: a prompt, a question, an answer, a stop, a farewell."""

import asyncio
from pathlib import Path

from qiming_tui.model import events as e
from qiming_tui.model.edits import EditKind
from qiming_tui.model.parts import ToolPart
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.source import OneSession
from tests.session.harness import Model, call, say, session, used


class Given(OneSession):
    """A source over a session that the test has already."""

    def __init__(self, rig):
        self.rig = rig
        self.closed = False

    async def open(self, model=None):
        return self.rig.worker

    async def new(self):
        ctx = self.rig.worker.ctx
        return await self.rig.runtime.new_session(Path(ctx.live.session.directory), ctx.profile.info.ref)

    async def switch(self, session_id, *, take=False):
        runtime = self.rig.runtime
        return runtime.running(session_id) or await runtime.open_session(session_id, None, take=take)

    async def close(self):
        self.closed = True


def text_of(app):
    """What the screen shows, row by row."""
    width, height = app.size
    rows = [strip.text for strip in app.screen._compositor.render_strips()[:height]]
    return "\n".join(row[:width].rstrip() for row in rows)


async def until(pilot, condition):
    """Wait until something holds; fails after a while."""
    async with asyncio.timeout(20):
        while not condition():
            await pilot.pause()


async def test_a_prompt_is_answered_and_the_bar_says_what_it_cost(tmp_path):
    model = Model(say("Hello, **you**.", used(2_000, 50)))
    async with session(tmp_path, model) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"hi", "enter")
            await until(pilot, lambda: "Hello, you." in text_of(app) and "2.1k" in text_of(app))
            shown = text_of(app)
            assert "T1" in shown
            assert "measured" in shown
            assert "/ 19.5k usable" in shown
            assert app.farewell().prompt == "hi"
            assert app.farewell().answer == "Hello, **you**."


async def test_a_question_is_asked_in_the_screen_and_answered_by_a_key(tmp_path):
    first = call("bash", {"command": "echo counted"}, used(2_000, 20))
    second = call("bash", {"command": "echo again", "timeout": 7_000}, used(2_100, 5), "call_2")
    model = Model(first, second, say("done", used(2_200, 5)))
    async with session(tmp_path, model, allow=()) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"count", "enter")
            await until(pilot, lambda: "Allow bash?" in text_of(app))
            await until(pilot, lambda: app.focused is app.main.question)
            shown = text_of(app)
            assert "asks because  no rule matches echo counted" in shown
            assert "timeout 120 s" in shown
            assert "price" not in shown.splitlines()[-9]
            await pilot.press("y")
            await until(pilot, lambda: "price ~" in text_of(app))
            shown = text_of(app)
            assert " tok, median of 1 run → " in shown
            assert "timeout 7 s" in shown
            assert "turn so far +" in shown
            await until(pilot, lambda: app.focused is app.main.question)
            await pilot.press("y")
            await until(pilot, lambda: "done" in text_of(app))
            assert rig.of(e.PermissionAnswered)[0].reply == "once"


async def test_esc_twice_stops_the_turn_and_the_queue_is_held(tmp_path):
    gate = asyncio.Event()
    async with session(tmp_path, Model([gate, *say("late")])) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"wait", "enter")
            await until(pilot, rig.model.reached.is_set)
            await pilot.press("escape")
            await until(pilot, lambda: "Esc again to stop" in text_of(app))
            await pilot.press("escape")
            await until(pilot, lambda: rig.of(e.TurnFinished))
            assert rig.of(e.TurnFinished)[-1].reason == "aborted"


async def test_a_compaction_by_command_leaves_its_boundary(tmp_path):
    model = Model(say("word " * 800, used(3_000, 900)))
    async with session(tmp_path, model) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"talk", "enter")
            await until(pilot, lambda: rig.of(e.TurnFinished))
            await pilot.press(*"/compact", "enter")
            await until(pilot, lambda: any(i.phase == "finished" for i in rig.of(e.CompactionEnded)))
            await until(pilot, lambda: "C1 " in text_of(app))
            assert "1 compaction" in text_of(app)


async def test_hostile_and_bracketed_text_is_shown_literally(tmp_path):
    model = Model(say("[stage] x [/ \x1b]52;c;aGk=\x07 [bold]y", used(2_000, 5)))
    async with session(tmp_path, model) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"hi", "enter")
            await until(pilot, lambda: "[stage] x [/" in text_of(app))
            shown = text_of(app)
            assert "[bold]y" in shown
            assert "\x1b" not in shown


async def test_a_cleared_result_is_a_ghost_that_opens_to_its_original(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha of the original\n")
    model = Model(call("read", {"filePath": "a.txt"}, used(2_000, 20)), say("read it", used(2_100, 5)))
    async with session(tmp_path, model) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*"read", "enter")
            await until(pilot, lambda: rig.of(e.TurnFinished))
            editor = rig.worker.editor
            part = next(p for entry in rig.live.entries for p in entry.parts if isinstance(p, ToolPart))

            async def clear():
                await editor.apply(editor.edit(EditKind.CLEAR, [part.id]))

            await rig.worker.edit(clear)
            await until(pilot, lambda: "cleared" in text_of(app))
            assert "alpha of the original" not in text_of(app)
            app.main.conversation.open_block(part.id, opened=True)
            await until(pilot, lambda: "alpha of the original" in text_of(app))


async def test_sessions_are_listed_and_another_one_is_opened(tmp_path):
    model = Model(
        say("first answer", used(100, 5)), say("Alpha"), say("second answer", used(100, 5)), say("Beta")
    )
    async with session(tmp_path, model) as rig:
        await rig.ask("one")
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            first = app.session
            await pilot.press(*"/new", "enter")
            await until(pilot, lambda: app.session is not first)
            await pilot.press(*"two", "enter")
            await until(pilot, lambda: "second answer" in text_of(app))
            await app.session.idle()
            await pilot.press(*"/sessions", "enter")
            await until(pilot, lambda: "Alpha" in text_of(app) and "Sessions" in text_of(app))
            await pilot.press(*"Alpha")
            await until(pilot, lambda: app.screen.list.key == first.ctx.session_id)
            await pilot.press("enter")
            await until(pilot, lambda: app.session.ctx.session_id == first.ctx.session_id)
            await until(pilot, lambda: "first answer" in text_of(app))


async def test_f1_lists_commands_and_keys_and_esc_goes_back(tmp_path):
    async with session(tmp_path, Model()) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press("f1")
            await until(pilot, lambda: "Help and keys" in text_of(app))
            assert "Compact now" in text_of(app)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
