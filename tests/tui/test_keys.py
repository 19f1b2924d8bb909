"""Keys: ids, the user's keymap, the leader, the footer, and what terminals send (`ux.md` 3.1, C-123)."""

import re
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.binding import Binding

from qiming_tui.config import load
from qiming_tui.model.errors import ConfigError
from qiming_tui.tui import keys
from qiming_tui.tui.commands import COMMANDS
from qiming_tui.tui.widgets.footer import Entry, fitting
from tests.tui.desk import QUESTION, Desk
from tests.tui.frames import Frame, Look, each_look

TABLES = {"app": keys.APP, "prompt": keys.PROMPT, "permission": keys.PERMISSION}


@pytest.mark.parametrize("name", TABLES)
def test_every_binding_has_an_id_of_its_own_and_words(name: str) -> None:
    bindings = [item for item in TABLES[name] if isinstance(item, Binding)]
    assert len(bindings) == len(TABLES[name])
    ids = [binding.id for binding in bindings]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(binding.description for binding in bindings)


@pytest.mark.parametrize("name", TABLES)
def test_no_key_is_bound_twice_in_one_place(name: str) -> None:
    pressed = [key for item in TABLES[name] if isinstance(item, Binding) for key in item.key.split(",")]
    assert len(set(pressed)) == len(pressed)


def test_no_key_is_left_to_tmux() -> None:
    pressed = {key for table in TABLES.values() for item in table for key in item.key.split(",")}
    assert "ctrl+b" not in pressed


def test_every_action_of_the_prompt_and_the_question_is_there() -> None:
    app = Desk()
    for widget, table in ((app.panel, keys.PERMISSION),):
        for item in table:
            assert hasattr(widget, "action_" + item.action.partition("(")[0])


async def test_every_action_of_the_prompt_is_there() -> None:
    app = Desk()
    async with app.run_test():
        for item in keys.PROMPT:
            assert hasattr(app.prompt, "action_" + item.action.partition("(")[0])


def test_the_leader_reaches_every_command_by_a_key_of_its_own() -> None:
    chords = keys.leader_table()
    assert [chord.command for chord in chords] == list(COMMANDS)
    assert len({chord.key for chord in chords}) == len(chords)


def test_the_users_keymap_is_checked() -> None:
    assert keys.keymap({"timeline": "ctrl+t, f5", "leader.compact": "k2", "prompt.cut": "none"}) == {
        "timeline": "ctrl+t,f5",
        "leader.compact": "k2",
        "prompt.cut": "none",
    }
    with pytest.raises(ConfigError, match=r"keymap\.send: no key has this id") as caught:
        keys.keymap({"send": "f5"})
    assert "prompt.send" in caught.value.hint
    with pytest.raises(ConfigError, match="an empty key"):
        keys.keymap({"timeline": "ctrl+t,"})
    with pytest.raises(ConfigError, match=r"'c' is leader\.compact already"):
        keys.keymap({"leader.models": "c"})


def test_a_chord_can_be_moved_and_taken_away() -> None:
    found = {
        chord.command.id: chord.key
        for chord in keys.leader_table({"leader.compact": "k", "leader.new": "none"})
    }
    assert found["compact"] == "k"
    assert "new" not in found


def test_the_keymap_comes_from_the_users_settings_and_never_from_a_project(tmp_path: Path) -> None:
    user, project = tmp_path / "user.toml", tmp_path / "project.toml"
    user.write_text('[keymap]\ntimeline = "f5"\n"leader.compact" = "k"\n')
    assert load(user, None, {}).keymap == {"timeline": "f5", "leader.compact": "k"}
    project.write_text('[keymap]\n"permission.once" = "space"\n')
    with pytest.raises(ConfigError, match="keymap: a project may not set this"):
        load(user, project, {})


async def test_a_keymap_overrides_keys_everywhere() -> None:
    app = Desk()
    async with app.run_test(size=(120, 40)) as pilot:
        app.set_keymap(keys.keymap({"timeline": "f5", "prompt.steer": "f6,f7", "permission.once": "o"}))
        await pilot.press("f5", "ctrl+t", *"hi", "f6")
        await pilot.pause()
        assert app.told == [("command", "timeline", ""), ("sent", "hi", True)]
        assert "F5 timeline" in Frame(app, pilot).lines()[-1]
        app.panel.ask(QUESTION)
        app.now_s = 10.0
        app.panel.wake()
        await pilot.pause()
        await pilot.press("o")
        await pilot.pause()
        assert app.told[-1] == ("answer", "per_1", "once", "")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("ctrl+x", "^X"),
        ("escape", "esc"),
        ("f1", "F1"),
        ("question_mark", "?"),
        ("alt+enter", "alt+enter"),
        ("ctrl+shift+k", "ctrl+shift+k"),
        ("enter", "enter"),
        ("j", "j"),
    ],
)
def test_keys_in_words(key: str, words: str) -> None:
    assert keys.display(key) == words


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\x1b\r", "ctrl+j"),
        ("\x1b[106;5u", "ctrl+j"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[13;3u", "alt+enter"),
        ("\x1b[13;5u", "ctrl+enter"),
    ],
)
def test_c_123_what_terminals_send_for_the_newline_keys(sent: str, key: str) -> None:
    keys.teach_terminal()
    found = [event.key for event in XTermParser().feed(sent) if isinstance(event, events.Key)]
    assert found == [key]


async def test_every_command_is_reached_by_its_key_its_chord_and_its_slash_command() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for command in COMMANDS:
            if command.id == "palette":
                continue
            app.told.clear()
            app.prompt.write(f"/{command.slash}")
            await pilot.press("enter")
            await pilot.press("ctrl+x", keys.chord_key(command.leader))
            await pilot.press(*(key for key in command.keys.split(",") if key))
            await pilot.pause()
            assert app.told == [("command", command.id, "")] * (3 if command.keys else 2), command.id


async def test_the_leader_shows_what_may_follow_and_goes_by_itself() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+x")
        await pilot.pause()
        text = Frame(app, pilot).text()
        for command in COMMANDS:
            assert f"{command.leader} {command.title}" in text
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert not app.told
        assert app.prompt.has_focus
        await pilot.press("ctrl+x", "Z")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert not app.told
        assert app.prompt.text == ""


async def test_the_leader_by_mouse() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+x")
        await pilot.pause()
        lines = Frame(app, pilot).lines()
        y = next(y for y, line in enumerate(lines) if "n New session" in line)
        await pilot.click(offset=(lines[y].index("New session"), y))
        await pilot.pause()
        assert app.told == [("command", "new", "")]


async def _six_keys(held: Frame, look: Look) -> None:
    footer = held.lines()[-1]
    assert "F1 help" in footer
    assert footer.split("F1 help")[0].strip().startswith("enter send")
    assert len(re.split(" {2,}", footer.strip())) <= 6
    if look.size[0] >= 80:
        for words in ("enter send", "^J newline", "esc esc stop", "^T timeline", "^P palette", "F1 help"):
            assert words in footer


async def test_the_footer_has_at_most_six_keys_and_help_is_one_of_them() -> None:
    await each_look(Desk, _six_keys)


async def test_the_footer_follows_the_focus() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        app.panel.ask(QUESTION)
        app.now_s = 10.0
        app.panel.wake()
        await pilot.pause()
        await pilot.pause()
        footer = Frame(app, pilot).lines()[-1]
        assert footer.strip().startswith("y once  n no  f full")
        assert "F1 help" in footer


async def test_the_footer_by_mouse() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"hi")
        await pilot.pause()
        footer = Frame(app, pilot).lines()[-1]
        for words in ("timeline", "send"):
            await pilot.click(offset=(footer.index(words), 23))
            await pilot.pause()
            await pilot.pause()
        assert app.told == [("command", "timeline", ""), ("sent", "hi", False)]


def test_what_does_not_fit_goes_and_the_last_stays() -> None:
    found = tuple(Entry(f"{n}", "word", f"{n}") for n in range(4))
    assert fitting(found, width_cells=30, gap_cells=2) == found
    assert fitting(found, width_cells=29, gap_cells=2) == (found[0], found[1], found[3])
    assert (
        fitting(found, width_cells=1, gap_cells=2) == (found[3],)
        or len(fitting(found, width_cells=1, gap_cells=2)) == 1
    )
