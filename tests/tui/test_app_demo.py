"""A demo in the screen is paused and stepped by key; keys that are typed fast go where the first leads."""

from textual import events

from qiming_tui.demo.pace import Pace
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.widgets.which_key import WhichKey
from tests.session.harness import Model, say, session, used
from tests.tui.test_app import Given, text_of, until


def typed(app, *keys):
    """Keys as a fast hand sends them: all are there before the first is dealt with."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def test_space_pauses_and_a_dot_steps_while_nothing_is_typed(tmp_path):
    async with session(tmp_path, Model()) as rig:
        pace = Pace(speed=4)
        app = QimingApp(Given(rig), pace=pace)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await until(pilot, lambda: text_of(app).endswith("demo 4x"))
            assert "space pause  . step  F1 help" in text_of(app).splitlines()[-1]
            await pilot.press("space")
            assert pace.paused
            await until(pilot, lambda: text_of(app).splitlines()[-1].endswith("  paused"))
            assert "space goes on, . takes one step" in text_of(app)
            await pilot.press("full_stop")
            assert not pace.paused
            await pilot.press("a", "space", "full_stop")
            assert app.main.prompt_bar.prompt.text == "a ."
            assert not pace.paused
            await pilot.press("ctrl+u", *"/pause", "enter")
            await until(pilot, lambda: pace.paused)
            await pilot.press("ctrl+x", "full_stop")
            await until(pilot, lambda: not pace.paused)


async def test_fast_keys_reach_what_the_first_one_opens_and_only_a_demo_is_paused(
    tmp_path,
):
    async with session(tmp_path, Model(say("Hello.", used(100, 5)))) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await rig.ask("hi")
            await until(pilot, lambda: app.main.strip.marks)
            await pilot.press("space")
            assert app.main.prompt_bar.prompt.text == " "
            typed(app, "ctrl+t", "g", "1")
            await until(pilot, lambda: app.main.strip.going == "1")
            assert app.main.prompt_bar.prompt.text == " "
            typed(app, "ctrl+t", "x", "y")
            await until(pilot, lambda: app.main.prompt_bar.prompt.text == " xy")
            typed(app, "ctrl+x", "t")
            await until(pilot, lambda: app.focused is app.main.strip)
            await pilot.press("ctrl+x")
            await until(pilot, lambda: isinstance(app.screen, WhichKey))
            await pilot.press("ctrl+t")
            await until(pilot, lambda: app.screen is app.main)
            assert app.focused is app.main.strip
            assert app.main.prompt_bar.prompt.text == " xy"
