"""The timeline in full over real sessions, by keyboard alone: our own, and one of another program."""

from qiming_tui.cli.import_ import changes
from qiming_tui.importers import opencode
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.screens.timeline import TimelineScreen
from tests.importers.samples import sample
from tests.session.harness import Model, call, say, session, used
from tests.tui.test_app import Given, text_of, until


def shown(app):
    """The timeline that is open, if it has its columns."""
    screen = app.screen
    return screen if isinstance(screen, TimelineScreen) and screen.columns and screen.is_mounted else None


async def test_every_route_leads_to_it_it_follows_the_session_and_jumps(tmp_path):
    model = Model(
        call("bash", {"command": "echo counted"}, used(2_000, 20)),
        say("It is counted.", used(2_200, 5)),
        say("Again.", used(2_300, 5)),
    )
    async with session(tmp_path, model, allow=("bash",)) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await rig.ask("count")
            await until(pilot, lambda: len(app.main.strip.marks) == 2)
            await pilot.press("ctrl+t", "left", "plus")
            await until(pilot, lambda: shown(app))
            chart = app.screen.chart
            assert [column.label for column in chart.columns] == ["1", "2"]
            assert all(sum(column.bands) >= column.mark.count for column in chart.columns)
            assert chart.columns[1].share.grown is not None
            assert chart.columns[1].share.results > 0
            assert chart.cursor == 0, "where the strip's cursor was"
            await rig.ask("again")
            await until(pilot, lambda: len(chart.columns) == 3)
            await until(pilot, lambda: chart.columns[2].share is not None)
            assert "step 1/3" in text_of(app).splitlines()[0]
            await pilot.press("slash", *"is counted", "enter")
            await until(pilot, lambda: chart.cursor == 1)
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is app.main)
            assert app.focused is app.main.conversation
            assert app.main.strip.cursor == 2
            await pilot.press("ctrl+x", "T")
            await until(pilot, lambda: shown(app))
            await until(pilot, lambda: app.screen.table.row_count == 3)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
            app.main.set_focus(app.main.prompt_bar.prompt)
            await pilot.press(*"/chart 3", "enter")
            await until(pilot, lambda: shown(app))
            assert app.screen.chart.cursor == 2
            await pilot.press("q")
            await until(pilot, lambda: app.screen is app.main)
            await pilot.press(*"/chart 9", "enter")
            await until(pilot, lambda: any("no step 9" in note.message for note in app._notifications))


async def test_a_session_of_another_program_is_rebuilt_and_marked(tmp_path):
    record = opencode.read(sample("compaction-1.4.3")).record
    async with session(tmp_path, Model()) as rig:
        await rig.runtime.store.apply(changes(record))
        rig.worker = await rig.runtime.open_session(record.session.id, None)
        app = QimingApp(Given(rig))
        async with app.run_test(size=(160, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press("ctrl+x", "s")
            await until(pilot, lambda: shown(app))
            assert all(column.rebuilt for column in app.screen.columns)
            await pilot.press("g", "4", "3", "enter")
            await until(pilot, lambda: "measured before 112.6k → after 16.5k" in text_of(app))
            text = text_of(app)
            assert "step ~43/~69" in text.splitlines()[0]
            assert "rebuilt from the messages" in text
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
