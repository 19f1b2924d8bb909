"""Pickers: filter, choose, rename, delete with a way back; every size and look; nothing is markup."""

import pytest
from rich.cells import cell_len
from textual.events import Paste

from qiming_tui.model.limits import ModelRef
from qiming_tui.tui import keys
from qiming_tui.tui.screens.help import HelpScreen
from qiming_tui.tui.screens.models import ModelsScreen
from qiming_tui.tui.screens.sessions import SessionChoice, SessionsScreen
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip
from tests.tui.frames import Look, frame, looks
from tests.tui.picks import HERE, NOW, Page, hostile, model, models, sessions

PANES = (("in the prompt", keys.PROMPT), ("in the timeline", TimelineStrip.BINDINGS))


def picker(lines=None, **fields):
    return SessionsScreen(
        sessions() if lines is None else lines,
        here=HERE,
        here_name="~/src/retry",
        live="s1",
        clock=lambda: NOW,
        **fields,
    )


def opened(make, look=None):
    return frame(lambda: Page(make), look or Look(size=(120, 40)))


async def typed(shown, text):
    for character in text:
        await shown.pilot.press("space" if character == " " else character)


async def until(shown, true, tries=200):
    for _ in range(tries):
        if true():
            return
        await shown.pilot.pause(0.01)
    raise AssertionError("it did not happen")


async def test_the_list_of_the_picture():
    async with opened(picker) as shown:
        text = shown.text()
        assert "Sessions" in text
        assert "5 here, 3 elsewhere" in text
        rows = {line.strip() for line in text.split("\n")}
        assert any("~/src/retry" in row and "age  requests   C  context" in row for row in rows)
        assert any("flaky-retry  live" in row and "now" in row and "61%" in row for row in rows)
        assert any("old-refactor" in row and "3 w" in row and row.endswith("-") for row in rows)
        assert text.index("docs-pass") < text.index("other folders") < text.index("time zones")
        assert "65.5k left" in text, "of the chosen one"


async def test_typing_filters_and_enter_opens():
    async with opened(picker) as shown:
        await typed(shown, "fake cl")
        text = shown.text()
        assert "backoff with a fake clock" in text
        assert "flaky-retry" not in text
        assert "near: 37.0k left" in text
        await shown.pilot.press("enter")
        await shown.settle()
        assert _answers(shown) == [SessionChoice(open="s4")]


async def test_what_holds_nothing_says_so_and_enter_does_nothing():
    async with opened(picker) as shown:
        await typed(shown, "zzz")
        assert "nothing fits these words" in shown.text()
        await shown.pilot.press("enter", "up", "down", "pagedown", "ctrl+d", "ctrl+r")
        await shown.settle()
        assert isinstance(shown.app.screen, SessionsScreen)
        await shown.pilot.press("escape")
        await shown.settle()
        assert shown.app.heard[-1] is None


async def test_contents_are_searched_once_typing_rests_and_late_answers_are_left_aside():
    async with opened(picker) as shown:
        screen = shown.app.screen
        await typed(shown, "helper")
        await until(shown, lambda: ("search", "helper") in shown.app.heard)
        assert shown.app.heard.count(("search", "helper")) == 1
        screen.show_found("old words", {"s5": "late"})
        assert "nothing fits" in shown.text()
        screen.show_found("helper", {"s5": "inject a clock into the backoff helper [b]now[/b]"})
        await shown.settle()
        assert "why does CI fail on Mondays" in shown.text()
        assert "match  inject a clock into the backoff helper [b]now[/b]" in shown.text()


def _answers(shown):
    """What was heard but searches: one begins where typing rests, on a slow machine anywhere."""
    return [heard for heard in shown.app.heard if not (isinstance(heard, tuple) and heard[0] == "search")]


async def test_rename_posts_the_new_title_and_esc_leaves_the_old_one():
    async with opened(picker) as shown:
        await typed(shown, "docs")
        await shown.pilot.press("ctrl+r")
        assert shown.app.screen.filter.value == "docs-pass"
        await typed(shown, " 2")
        await shown.pilot.press("enter")
        await shown.settle()
        assert _answers(shown) == [("rename", "s3", "docs-pass 2")]
        assert "docs-pass 2" in shown.text()
        assert shown.app.screen.filter.value == "docs"
        await shown.pilot.press("ctrl+r", "x", "escape")
        await shown.settle()
        assert len(_answers(shown)) == 1
        assert isinstance(shown.app.screen, SessionsScreen), "the first Esc left the title only"


async def test_two_presses_delete_and_the_session_can_be_brought_back():
    async with opened(picker) as shown:
        await shown.pilot.press("down", "ctrl+d")
        assert "^D again within 2 s deletes clock-injection" in shown.text()
        await shown.pilot.press("ctrl+d")
        assert "clock-injection" not in shown.text()
        assert "1 session gone when this closes  ^Z brings it back" in shown.text()
        assert "4 here" in shown.text()
        await shown.pilot.press("ctrl+z")
        assert "clock-injection" in shown.text()
        assert shown.app.screen.list.key == "s2"
        await shown.pilot.press("ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "escape")
        await shown.settle()
        assert _answers(shown) == [SessionChoice(deleted=("s2", "s3"))]


async def test_the_second_press_counts_only_for_the_same_session_and_in_time():
    async with opened(lambda: picker(again_s=0.02)) as shown:
        await shown.pilot.press("down", "ctrl+d")
        await until(shown, lambda: "again within" not in shown.text())
        await shown.pilot.press("ctrl+d")
        assert "clock-injection" in shown.text(), "that was a first press again"
    async with opened(picker) as shown:
        await shown.pilot.press("down", "ctrl+d", "down", "ctrl+d")
        assert "clock-injection" in shown.text()
        assert "docs-pass" in shown.text()


async def test_the_open_session_cannot_be_deleted_and_opening_it_stays():
    async with opened(picker) as shown:
        await shown.pilot.press("ctrl+d", "ctrl+d")
        assert "the open session cannot be deleted" in shown.text()
        await shown.pilot.press("enter")
        await shown.settle()
        assert _answers(shown) == [SessionChoice(open=None)]


async def test_a_new_one():
    async with opened(picker) as shown:
        await shown.pilot.press("ctrl+n")
        await shown.settle()
        assert _answers(shown) == [SessionChoice(new=True)]


async def test_the_mouse_chooses_takes_and_closes():
    async with opened(picker) as shown:
        listed = shown.app.screen.list
        await shown.pilot.click(listed, offset=(10, 3))
        assert listed.key == "s3"
        await shown.pilot.click(listed, offset=(10, 3))
        await shown.settle()
        assert _answers(shown) == [SessionChoice(open="s3")]
    async with opened(picker) as shown:
        await shown.pilot.click(offset=(1, 1))
        await shown.settle()
        assert _answers(shown) == [None]


async def test_a_long_list_is_painted_by_what_is_seen():
    lines = [
        sessions()[0].__class__(**{**_fields(), "id": f"s{n}", "title": f"talk {n}"}) for n in range(2_000)
    ]
    async with opened(lambda: picker(lines)) as shown:
        await shown.pilot.press("pagedown", "pagedown", "pageup", "down")
        listed = shown.app.screen.list
        height = listed.size.height
        assert listed.index == 1 + (height - 1) + 1
        assert f"talk {listed.index - 1}" in shown.text()
        await typed(shown, "talk 1999")
        assert listed.key == "s1999"


def _fields():
    first = sessions()[2]
    return {name: getattr(first, name) for name in first.__struct_fields__}


@pytest.mark.parametrize("look", looks(), ids=str)
@pytest.mark.parametrize("kind", ["sessions", "models", "help"])
async def test_every_size_and_look_says_the_same(look, kind):
    make = {
        "sessions": lambda: picker([*hostile(), *sessions()] if look.zh else None, glyphs=look.glyph_set),
        "models": lambda: ModelsScreen(models(), used=models()[0].info.ref, glyphs=look.glyph_set),
        "help": lambda: HelpScreen(PANES, glyphs=look.glyph_set),
    }[kind]
    async with opened(make, look) as shown:
        await shown.pilot.press("down")
        width = look.size[0]
        assert all(cell_len(line) == width for line in shown.lines())
        text = shown.text()
        assert {"sessions": "Sessions", "models": "Models", "help": "Help and keys"}[kind] in text
        assert "esc close" in text
        edge = {"ascii": "|", "full": "▌"}[look.glyphs]
        chosen = [line for line in shown.lines() if f"{edge} " in line]
        assert len(chosen) == 1, "the choice is a sign, not only a tone"
        if kind == "models":
            assert "fits 61%" in text
            assert "fits 91%" in chosen[0]
        if kind == "sessions" and look.zh and look.size[1] >= 20:
            assert "[stage] x [/]" in text
        if look.glyphs == "ascii":
            assert text.isascii()


async def test_hostile_titles_are_shown_literally_and_on_one_line():
    async with opened(lambda: picker(hostile())) as shown:
        text = shown.text()
        assert "[stage] x [/] [@click=app.quit]y[/]" in text
        assert "red second line" in text
        assert "\x1b" not in text
        assert "修复不稳定的重试测试" in text
        assert "without a title" in text


async def test_a_paste_is_one_harmless_line():
    async with opened(picker) as shown:
        await shown.pilot.press("c")
        shown.app.screen.filter._on_paste(Paste("\x1b[31mlock\nfake"))
        assert shown.app.screen.filter.value == "clock fake"


async def test_models_say_how_the_session_fits_and_enter_uses_one():
    make = lambda: ModelsScreen(models(), used=models()[1].info.ref)  # noqa: E731
    async with opened(make) as shown:
        text = shown.text()
        assert "openai/gpt-mini  in use" in text
        assert shown.app.screen.list.key == "openai/gpt-mini", "the one in use is chosen"
        assert "does not fit by 38.0k" in text
        assert "window unknown" in text
        assert "acme/[b]mystery[/b]" in text
        assert "limits  128.0k ctx  16.4k out  111.6k usable  from models.dev" in text
        assert "$0.15 in, $0.60 out per million tokens" in text
        await typed(shown, "gemini")
        assert "from config, yours: output" in shown.text()
        await shown.pilot.press("enter")
        await shown.settle()
        assert shown.app.heard == [ModelRef("google", "gemini-1m")]


async def test_a_price_that_is_not_known_is_not_nothing():
    async with opened(lambda: ModelsScreen([model("a/b", models()[2].info.limits)], used=None)) as shown:
        assert "price  unknown" in shown.text()
        assert "$0.00" not in shown.text()


async def test_help_lists_every_command_and_key_with_the_users_own_and_runs_commands():
    own = {"timeline": "f5", "leader.compact": "K", "prompt.steer": "none"}
    async with opened(lambda: HelpScreen(PANES, keymap=own)) as shown:
        await typed(shown, "timeline")
        assert "F5" in shown.text()
        assert "^T" not in shown.text()
        await shown.pilot.press("ctrl+u")
        await typed(shown, "compact now")
        assert "^X K" in shown.text()
        await shown.pilot.press("ctrl+u")
        await typed(shown, "prompt.steer")
        assert "ask for it with  no key" in shown.text()
        await shown.pilot.press("enter")
        assert "this key works in the prompt" in shown.text()
        await shown.pilot.press("ctrl+u")
        await typed(shown, "/undo")
        await shown.pilot.press("enter")
        await shown.settle()
        assert shown.app.heard == ["undo"]
