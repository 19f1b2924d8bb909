"""What the prompt sends, and what it never sends (`ux.md` 3.1, cases C-121 to C-124)."""

import pytest

from qiming_tui.tui.prompt_note import PromptStatus
from tests.tui.desk import Desk


async def test_enter_sends_and_the_prompt_is_empty() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert app.of("sent") == [("hello", False)]
        assert app.prompt.text == ""


async def test_ctrl_s_steers() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press(*"stop at two", "ctrl+s")
        await pilot.pause()
        assert app.of("sent") == [("stop at two", True)]


async def test_nothing_is_sent_from_an_empty_prompt() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter", "ctrl+s", "ctrl+j", "enter")
        await pilot.pause()
        assert not app.told


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter", "ctrl+enter"])
async def test_c_123_newline_keys(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        await pilot.pause()
        assert app.prompt.text == "a\nb"
        assert not app.told
        await pilot.press("enter")
        await pilot.pause()
        assert app.of("sent") == [("a\nb", False)]


async def test_c_123_a_backslash_before_enter_is_a_newline() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", "backslash", "enter", "b")
        await pilot.pause()
        assert app.prompt.text == "a\nb"
        assert not app.told


async def test_slash_commands_go_to_the_registry_and_paths_are_messages() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for text in ("/compact keep the  clock", "/MODELS gpt", "/exit", "/usr/bin/env fails", " /compact"):
            app.prompt.write(text)
            await pilot.press("enter")
            await pilot.pause()
        assert app.of("command") == [("compact", "keep the  clock"), ("models", "gpt"), ("quit", "")]
        assert app.of("sent") == [("/usr/bin/env fails", False), (" /compact", False)]


async def test_an_unknown_command_is_kept_and_told() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("slash", *"nope", "enter")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "/nope"
        assert "no command /nope" in app.bar.note.hint


async def test_shell_and_its_sign() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("!", *"ls -l")
        await pilot.pause()
        assert app.bar.sign.sign == "!"
        await pilot.press("enter")
        await pilot.pause()
        assert app.of("shell") == [("ls -l",)]
        assert app.bar.sign.sign != "!"


async def test_a_question_mark_asks_for_help_only_on_an_empty_prompt() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("?")
        await pilot.pause()
        assert app.of("command") == [("help", "")]
        assert app.prompt.text == ""
        await pilot.press("w", "?")
        await pilot.pause()
        assert app.prompt.text == "w?"
        assert app.of("command") == [("help", "")]


async def test_a_question_mark_is_text_when_the_keymap_takes_its_key_away() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.set_keymap({"prompt.help": "none"})
        await pilot.press("?")
        await pilot.pause()
        assert app.prompt.text == "?"


async def test_the_keymap_moves_enter() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.set_keymap({"prompt.send": "ctrl+enter", "prompt.newline": "enter"})
        await pilot.press("a", "enter", "b")
        await pilot.pause()
        assert app.prompt.text == "a\nb"
        assert not app.told
        await pilot.press("ctrl+enter")
        await pilot.pause()
        assert app.of("sent") == [("a\nb", False)]


async def test_c_124_the_real_cursor_stands_at_the_cell_column() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("漢字漢字")
        await pilot.pause()
        left = app.prompt.content_region.x
        assert app.cursor_position.x - left == 8
        await pilot.press("left")
        await pilot.pause()
        assert app.cursor_position.x - left == 6


async def test_c_124_the_real_cursor_follows_when_the_prompt_shrinks() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a", "ctrl+j", "b", "ctrl+j", "c")
        await pilot.pause()
        assert app.cursor_position == (5, 21)
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()
        assert app.cursor_position == (4, 21)


async def test_what_could_not_be_sent_comes_back_before_what_was_typed_since() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste("line\n" * 20)
        draft = app.prompt.draft
        await pilot.press("enter", *"more")
        app.bar.restore(draft)
        await pilot.pause()
        assert app.prompt.draft.full == "line\n" * 20 + "\nmore"


async def test_the_placeholder_says_what_enter_will_do() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        assert "Ask, /command" in str(app.prompt.placeholder)
        app.bar.show(PromptStatus(busy=True))
        await pilot.pause()
        assert "Queue a message" in str(app.prompt.placeholder)


async def test_the_editor_gets_the_full_text_and_an_unchanged_one_keeps_its_chips() -> None:
    seen: list[str] = []

    def editor(text: str) -> str:
        seen.append(text)
        return text if len(seen) == 1 else text + "more"

    class Terminal(Desk):
        def suspend(self):
            return self.batch_update()

    app = Terminal(editor=editor)
    async with app.run_test() as pilot:
        app.prompt.paste("line\n" * 20)
        for _ in range(2):
            before = app.prompt.text
            await pilot.press("ctrl+g")
            await app.workers.wait_for_complete()
            await pilot.pause()
        assert before.startswith("[paste #1 20 lines")
        assert seen == ["line\n" * 20] * 2
        assert app.prompt.text == "line\n" * 20 + "more"


async def test_a_terminal_that_cannot_be_handed_over_is_told() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+g")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "editor" in app.bar.note.hint
        assert app.prompt.text == "a"
