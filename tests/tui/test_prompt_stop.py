"""Esc, ^C and ^D: what each press means, and that only what is on the screen arms (`ux.md` 3.1)."""

import asyncio

from textual.document._document import Selection

from qiming_tui.tui.prompt_note import PromptStatus
from tests.tui.desk import Desk

BUSY = PromptStatus(busy=True, doing="running bash", elapsed_s=4)


async def _until(app: Desk, what) -> None:
    async with asyncio.timeout(5):
        while not what():
            await asyncio.sleep(0)


async def test_esc_arms_visibly_and_the_second_one_stops() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press("escape")
        await pilot.pause()
        assert app.bar.note.hint == "Esc again to stop (2 s)"
        assert not app.told
        await pilot.press("escape")
        await pilot.pause()
        assert app.told == [("StopRequested",)]
        assert app.bar.note.hint == ""


async def test_the_hint_and_what_it_arms_end_together() -> None:
    app = Desk(armed_s=0.05)
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press("escape")
        await _until(app, lambda: app.bar.note.hint == "")
        await pilot.press("escape")
        await pilot.pause()
        assert not app.told


async def test_typing_disarms() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press("escape", "a")
        await pilot.pause()
        assert app.bar.note.hint == ""
        await pilot.press("escape")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "a"


async def test_the_end_of_the_turn_disarms() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press("escape")
        app.bar.show(PromptStatus())
        await pilot.pause()
        assert app.bar.note.hint == ""
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert not app.told


async def test_esc_never_clears_a_draft_and_first_closes_what_is_nearest() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press("/", "escape")
        await pilot.pause()
        assert app.prompt.menu is None
        assert app.bar.note.hint == ""
        app.prompt.selection = Selection((0, 0), (0, 1))
        await pilot.press("escape")
        await pilot.pause()
        assert app.prompt.selection.is_empty
        assert app.bar.note.hint == ""
        await pilot.press("escape")
        await pilot.pause()
        assert app.bar.note.hint
        assert app.prompt.text == "/"


async def test_ctrl_c_copies_what_is_selected() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press(*"abc", "shift+left", "shift+left", "ctrl+c")
        await pilot.pause()
        assert app.clipboard == "bc"
        assert not app.told


async def test_ctrl_c_stops_at_once() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.show(BUSY)
        await pilot.press(*"abc", "ctrl+c")
        await pilot.pause()
        assert app.told == [("StopRequested",)]
        assert app.prompt.text == "abc"


async def test_ctrl_c_clears_and_up_brings_it_back() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste("line\n" * 30)
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.prompt.text == ""
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.draft.full == "line\n" * 30
        assert not app.told


async def test_ctrl_c_never_quits_at_once() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.bar.note.hint == "^C again to quit (2 s)"
        assert not app.told
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.told == [("QuitRequested",)]


async def test_esc_and_typing_disarm_the_quit() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c", "a", "backspace", "ctrl+c")
        await pilot.pause()
        assert not app.told
        await pilot.press("escape", "ctrl+c")
        await pilot.pause()
        assert not app.told


async def test_a_clear_does_not_arm_the_quit() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+c", "ctrl+c")
        await pilot.pause()
        assert not app.told
        assert "quit" in app.bar.note.hint


async def test_ctrl_d_quits_from_an_empty_prompt_and_deletes_in_another() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press(*"ab", "home", "ctrl+d")
        await pilot.pause()
        assert app.prompt.text == "b"
        await pilot.press("ctrl+d", "ctrl+d")
        await pilot.pause()
        assert app.told == [("QuitRequested",)]
