"""Messages and drafts outlive the program: files of the user's own, whole after any crash."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from qiming_tui.tui import history as history_module
from qiming_tui.tui.drafts import Drafts
from qiming_tui.tui.history import History
from qiming_tui.tui.paste import Draft, Paste
from qiming_tui.tui.widgets.prompt_bar import PromptBar
from tests.tui.desk import Desk

LONG = Paste(1, "x\n" * 20, 20)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_entries_are_there_in_the_next_program_and_for_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "data" / "history.jsonl"
    first = History(path)
    first.add(Draft("one"))
    first.add(Draft(f"two {LONG.label}", (LONG,)))
    assert [draft.full for draft in History(path).entries] == ["one", f"two {LONG.text}"]
    assert _mode(path) == 0o600
    assert _mode(path.parent) == 0o700


def test_nothing_is_read_or_made_before_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "data" / "history.jsonl"
    History(path)
    assert not path.parent.exists()


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.touch(0o644)
    History(path).add(Draft("one"))
    assert _mode(path) == 0o600


def test_several_programs_append_and_no_entry_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    code = (
        "import sys; from pathlib import Path; from qiming_tui.tui.history import History\n"
        "from qiming_tui.tui.paste import Draft\n"
        "held = History(Path(sys.argv[1]))\n"
        "for n in range(50): held.add(Draft(sys.argv[2] * 3000 + str(n)))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abc"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    texts = [draft.text for draft in History(path).entries]
    assert len(texts) == 150
    assert {(text[0], text[3000:]) for text in texts} == {(n, str(i)) for n in "abc" for i in range(50)}


def test_a_broken_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    held = History(path)
    held.add(Draft("one"))
    with path.open("ab") as file:
        file.write(b'{"text":"cut of\n\xff\xfe\n[]\n')
    held.add(Draft("two"))
    assert [draft.text for draft in History(path).entries] == ["one", "two"]


def test_a_long_file_is_shortened_to_its_newest_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MAX_BYTES", 10_000)
    path = tmp_path / "history.jsonl"
    held = History(path)
    for number in range(300):
        held.add(Draft(f"message {number:04} " + "x" * 40))
    texts = [draft.text[:12] for draft in History(path).entries]
    assert texts == [f"message {number:04}" for number in range(300 - len(texts), 300)]
    assert len(texts) > 10
    assert path.stat().st_size <= 5_000
    assert [draft.text[:12] for draft in History(path).entries] == texts


def test_an_entry_of_a_megabyte_is_remembered_by_this_program_only(tmp_path: Path) -> None:
    held = History(tmp_path / "history.jsonl")
    held.add(Draft("x" * 1_000_000))
    held.add(Draft("small"))
    assert len(held.entries) == 2
    assert [draft.text for draft in History(tmp_path / "history.jsonl").entries] == ["small"]


def test_older_newer_and_back_to_the_draft() -> None:
    held = History()
    for text in ("one", "two", "two"):
        held.add(Draft(text))
    assert held.older(Draft("mine")) == Draft("two")
    assert held.older(Draft("two")) == Draft("one")
    assert held.older(Draft("one")) is None
    assert held.newer() == Draft("two")
    assert held.newer() == Draft("mine")
    assert held.newer() is None


def test_search_finds_every_word_newest_first_and_each_text_once() -> None:
    held = History()
    for text in ("fix the Clock", "docs", "fix clock test", "fix the Clock"):
        held.add(Draft(text))
    assert [draft.text for draft in held.search("clock FIX")] == ["fix the Clock", "fix clock test"]


async def test_up_and_down_at_the_edges_of_the_text() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for text in ("one", "two a\ntwo b"):
            app.prompt.write(text)
            await pilot.press("enter")
        await pilot.press(*"draft", "up")
        assert app.prompt.text == "two a\ntwo b"
        await pilot.press("up")
        assert app.prompt.text == "two a\ntwo b"
        assert app.prompt.cursor_location[0] == 0
        await pilot.press("up")
        assert app.prompt.text == "one"
        await pilot.press("down")
        assert app.prompt.text == "two a\ntwo b"
        await pilot.press("down")
        assert app.prompt.text == "draft"


async def test_a_recalled_message_can_be_changed_and_is_then_the_draft() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste(LONG.text)
        await pilot.press("enter", "up", "!", "enter")
        await pilot.pause()
        assert app.of("sent") == [(LONG.text, False), (LONG.text + "!", False)]


async def test_ctrl_r_searches_enter_takes_it_and_esc_gives_the_draft_back() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for text in ("fix the clock", "write docs"):
            app.prompt.write(text)
            await pilot.press("enter")
        app.told.clear()
        await pilot.press(*"mine", "ctrl+r", *"clo")
        await pilot.pause()
        assert app.prompt.searching
        assert [item.label for item in app.bar.menu_list.menu.items] == ["fix the clock"]
        await pilot.press("escape")
        await pilot.pause()
        assert app.prompt.text == "mine"
        await pilot.press("ctrl+r", "ctrl+r", "enter")
        await pilot.pause()
        assert app.prompt.text == "fix the clock"
        assert not app.prompt.searching
        assert not app.told


async def test_ctrl_r_that_finds_nothing_sends_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r", *"zzz", "enter")
        await pilot.pause()
        assert app.prompt.searching
        assert not app.told


def test_drafts_are_kept_by_session_replaced_whole_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "drafts"
    Drafts(folder).save("ses_1", Draft(f"a {LONG.label}", (LONG, Paste(2, "gone", 1))))
    Drafts(folder).save("ses_2", Draft("other"))
    assert Drafts(folder).load("ses_1") == Draft(f"a {LONG.label}", (LONG,))
    assert _mode(folder / "ses_1.json") == 0o600
    Drafts(folder).save("ses_1", Draft(""))
    assert Drafts(folder).load("ses_1") == Draft()
    assert os.listdir(folder) == ["ses_2.json"]


def test_a_damaged_draft_or_a_strange_id_is_no_draft(tmp_path: Path) -> None:
    (tmp_path / "ses_1.json").write_bytes(b'{"text": 3')
    assert Drafts(tmp_path).load("ses_1") == Draft()
    Drafts(tmp_path / "in").save("../out", Draft("x"))
    assert list(tmp_path.iterdir()) == [tmp_path / "ses_1.json"]


async def test_a_draft_survives_the_end_of_the_program(tmp_path: Path) -> None:
    app = Desk(drafts=Drafts(tmp_path))
    async with app.run_test() as pilot:
        app.bar.open_session("ses_1")
        await pilot.press(*"half a th")
    again = Desk(drafts=Drafts(tmp_path))
    async with again.run_test() as pilot:
        again.bar.open_session("ses_1")
        await pilot.pause()
        assert again.prompt.text == "half a th"
        await pilot.press("enter")
        await pilot.pause()
        assert again.of("sent") == [("half a th", False)]
        assert Drafts(tmp_path).load("ses_1") == Draft()


async def test_each_session_has_its_draft_and_early_typing_is_kept(tmp_path: Path) -> None:
    Drafts(tmp_path).save("ses_1", Draft("stored"))
    app = Desk(drafts=Drafts(tmp_path))
    async with app.run_test() as pilot:
        await pilot.press(*"early")
        app.bar.open_session("ses_1")
        assert app.prompt.text == "early"
        app.bar.open_session("ses_2")
        assert app.prompt.text == ""
        app.bar.open_session("ses_1")
        await pilot.pause()
        assert app.prompt.text == "early"


async def test_a_full_disk_is_told_and_costs_nothing_but_the_history(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    app = Desk(PromptBar(history=History(tmp_path / "file" / "history.jsonl")))
    async with app.run_test() as pilot:
        await pilot.press("a", "enter")
        await pilot.pause()
        assert app.of("sent") == [("a", False)]
        assert "history" in app.bar.note.hint
