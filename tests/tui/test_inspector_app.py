"""The inspector over real sessions, by keyboard alone: our own, and those of another program."""

import pytest

from qiming_tui.cli.import_ import changes
from qiming_tui.importers import opencode
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.screens.inspector import InspectorScreen
from tests.importers.samples import sample
from tests.session.harness import Model, call, say, session, used
from tests.tui.test_app import Given, text_of, until


async def seen(app, pilot, *words):
    """Until the inspector shows all of this."""
    await until(
        pilot,
        lambda: isinstance(app.screen, InspectorScreen) and all(word in text_of(app) for word in words),
    )


async def test_every_step_is_shown_as_it_was_sent_and_why(tmp_path):
    model = Model(
        call("bash", {"command": "echo counted"}, used(2_000, 20)),
        say("It is counted.", used(2_200, 5)),
    )
    async with session(tmp_path, model, allow=("bash",)) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press("ctrl+x", "i")
            await until(pilot, lambda: any("no request yet" in note.message for note in app._notifications))
            await rig.ask("count")
            await until(pilot, lambda: len(app.main.strip.marks) == 2)
            await pilot.press("ctrl+x", "i")
            await seen(app, pilot, "step 2 (2)", "checked: exactly as sent")
            await pilot.press("r")
            await seen(app, pilot, '"messages"', "echo counted")
            await pilot.press("escape", "2")
            await seen(app, pilot, "[Diff]", "step 1 → 2", "the request only goes on")
            await pilot.press("3", "left")
            await seen(app, pilot, "Why did step 1 not compact?", "FALSE")
            await pilot.press("4")
            await seen(app, pilot, "backtest: C at none recorded, none modelled", "gap 0")
            await pilot.press("5")
            await seen(app, pilot, "no break")
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
            await pilot.press(*"/why 1", "enter")
            await seen(app, pilot, "[Why]", "Why did step 1 not compact?")
            await pilot.press("q")
            await until(pilot, lambda: app.screen is app.main)
            await pilot.press(*"/inspect 9", "enter")
            await until(pilot, lambda: any("no step 9" in note.message for note in app._notifications))


@pytest.mark.parametrize(
    ("name", "step", "why"),
    [
        ("compaction-1.4.3", 42, ("112,579", "summary request, step 43")),
        ("pruned-1.2.20", 39, ("not compact?", "29 results cleared by import")),
    ],
)
async def test_a_session_of_another_program_is_reconstructed_and_marked(tmp_path, name, step, why):
    record = opencode.read(sample(name)).record
    async with session(tmp_path, Model()) as rig:
        await rig.runtime.store.apply(changes(record))
        rig.worker = await rig.runtime.open_session(record.session.id, None)
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await pilot.press(*f"/inspect {step}", "enter")
            await seen(app, pilot, f"step {step} ", "~ reconstructed from the messages")
            await pilot.press("3")
            await seen(app, pilot, *why)
            if name == "compaction-1.4.3":
                await pilot.press("right", "right")
                await seen(app, pilot, "16,514")
            await pilot.press("4")
            await seen(app, pilot, "backtest: C at")
