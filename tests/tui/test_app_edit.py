"""The window is edited from the screen by keys alone: the price first, then the edit, then its undo."""

from qiming_tui.model import events as e
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.screens.act import ActScreen, SummaryScreen
from qiming_tui.tui.screens.before_after import BeforeAfterScreen
from tests.context import short
from tests.session.harness import Model, say, session, used
from tests.session.play import answer, next_body, plant, words
from tests.tui.test_app import Given, text_of, until

RESULT = words(900, "line")
SUMMARY = "## Goal\nsrc/limits.py was found, the work goes on."


async def begun(tmp_path):
    part = short.tool("r1", RESULT, name="read", message="a1")
    first = answer("a1", "In src/limits.py.", finish="stop")
    first = type(first)(first.info, (*first.parts, part))
    return await plant(
        tmp_path,
        short.user("u1", "Never touch data/raw.csv, please."),
        first,
        short.user("u2", "And who reads it?"),
        answer("a2", words(700), finish="stop"),
    )


async def send(pilot, line):
    prompt = pilot.app.main.prompt_bar
    prompt.write(line)
    pilot.app.main.set_focus(prompt.prompt)
    await pilot.press("enter")


async def test_an_edit_is_shown_with_its_price_made_and_taken_back(tmp_path):
    opened = await begun(tmp_path)
    model = Model()
    model.summaries = [say(SUMMARY, used(2_000, 10))]
    async with session(tmp_path, model, session_id=opened) as rig:
        app = QimingApp(Given(rig))

        async def body():
            return str((await next_body(rig))["messages"])

        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            before = await body()
            await send(pilot, "/clear-result r1")
            await until(pilot, lambda: isinstance(app.screen, ActScreen))
            await until(pilot, lambda: "frees ~" in text_of(app))
            assert "nothing is done yet" in text_of(app)
            assert "health good" in text_of(app)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
            assert await body() == before
            await send(pilot, "/clear-result r1")
            await until(pilot, lambda: isinstance(app.screen, ActScreen))
            await pilot.press("enter")
            await until(pilot, lambda: rig.of(e.EditChanged))
            await rig.idle()
            assert RESULT[:40] not in await body()
            await pilot.press("ctrl+x", "u")
            await until(pilot, lambda: len(rig.of(e.EditChanged)) == 2)
            await rig.idle()
            assert await body() == before
            await by_cursor(pilot, app)
            await compaction(pilot, app, rig)


async def by_cursor(pilot, app):
    """The keys on the block under the cursor lead to the same dialog."""
    conversation = app.main.conversation
    app.main.set_focus(conversation)
    conversation.go_to("u1")
    await until(pilot, lambda: conversation.selected is not None)
    await pilot.press("i")
    await until(pilot, lambda: isinstance(app.screen, ActScreen))
    await until(pilot, lambda: "it is live: nothing is added" in text_of(app))
    await pilot.press("escape")
    await until(pilot, lambda: app.screen is app.main)


async def compaction(pilot, app, rig):
    """Keep one turn, see what was lost, put it back as a pin, edit the summary."""
    await send(pilot, "/keep 1")
    await until(pilot, lambda: isinstance(app.screen, ActScreen))
    await until(pilot, lambda: "summary, at most" in text_of(app))
    await pilot.press("enter")
    await until(pilot, lambda: any(i.phase == "finished" for i in rig.of(e.CompactionEnded)))
    await rig.idle()
    await until(pilot, lambda: "C1 " in text_of(app))
    app.main.set_focus(app.main.conversation)
    app.main.conversation.go_to(rig.live.edits[-1].targets[0])
    await pilot.press("b")
    await until(pilot, lambda: isinstance(app.screen, BeforeAfterScreen))
    await until(pilot, lambda: "before / after C1" in text_of(app))
    page = app.screen.page
    while page.key != "kind:your constraints":
        await pilot.press("down")
    assert "lost Never touch data/raw.csv, please." in text_of(app)
    await pilot.press("r")
    await until(pilot, lambda: isinstance(app.screen, ActScreen))
    await until(pilot, lambda: "1 pin present" in text_of(app))
    await pilot.press("enter")
    await until(pilot, lambda: rig.of(e.EditChanged)[-1].edits[0].kind.value == "pin")
    await rig.idle()
    assert "[Pinned by the user, from your constraints, turn 1]" in str((await next_body(rig))["messages"])
    await send(pilot, "/summary")
    await until(pilot, lambda: isinstance(app.screen, SummaryScreen))
    await pilot.press(*"Own. ", "ctrl+s")
    await until(pilot, lambda: isinstance(app.screen, ActScreen))
    await pilot.press("enter")
    await until(pilot, lambda: rig.of(e.EditChanged)[-1].edits[0].kind.value == "summary_edit")
    await rig.idle()
    assert "Own. ## Goal" in str((await next_body(rig))["messages"])
