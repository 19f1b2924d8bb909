"""The menu over the prompt: commands, files, keys, mouse."""

from pathlib import Path

import pytest

from qiming_tui.tui.complete import FileIndex, rank, suggest
from tests.tui.desk import Desk

FILES = ("README.md", "src/retry.py", "src/backoff.py", "tests/test_retry.py", "docs/retrying/index.md")


def _labels(app: Desk) -> list[str]:
    menu = app.prompt.menu
    return [item.label for item in menu.items] if menu is not None else []


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("retry", ("src/retry.py", "tests/test_retry.py", "docs/retrying/index.md")),
        ("SRC/B", ("src/backoff.py",)),
        ("tsrty", ("tests/test_retry.py",)),
        ("zz", ()),
    ],
)
def test_files_are_ranked_by_where_they_fit(query: str, wanted: tuple[str, ...]) -> None:
    assert rank(query, FILES) == wanted


@pytest.mark.parametrize(
    ("before", "first", "kind"),
    [
        ("/", True, "command"),
        ("/comp", True, "command"),
        ("/comp", False, None),
        ("a /comp", True, None),
        ("/compact ", True, None),
        ("@re", True, "file"),
        ("see @re", False, "file"),
        ("mail a@re", True, None),
        ("", True, None),
    ],
)
def test_what_is_completed(before: str, first: bool, kind: str | None) -> None:
    menu = suggest(before, first_line=first, files=FILES)
    assert (menu.kind if menu else None) == kind


async def test_enter_runs_the_chosen_command_and_tab_completes_it() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("/", *"com")
        await pilot.pause()
        assert _labels(app)[0] == "/compact [focus]"
        assert app.bar.menu_list.display
        await pilot.press("tab")
        await pilot.pause()
        assert app.prompt.text == "/compact "
        assert not app.bar.menu_list.display
        assert not app.told
        await pilot.press("ctrl+u", "/", *"mod", "enter")
        await pilot.pause()
        assert app.of("command") == [("models", "")]


async def test_the_menu_floats_and_nothing_moves() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        before = [widget.region for widget in (app.bar, app.panel, app.query("Static").first())]
        await pilot.press("/")
        await pilot.pause()
        assert [widget.region for widget in (app.bar, app.panel, app.query("Static").first())] == before
        menu = app.bar.menu_list.region
        assert menu.bottom == app.bar.region.y
        assert menu.height == 8


async def test_up_and_down_move_in_the_menu_and_go_round() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("/", "down", "down", "up", "up", "up")
        await pilot.pause()
        assert app.prompt.menu is not None
        assert app.prompt.menu.index == len(app.prompt.menu.items) - 1
        assert app.prompt.text == "/"


async def test_esc_closes_the_menu_first_and_it_stays_closed_for_that_word() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("/", "escape", "c")
        await pilot.pause()
        assert app.prompt.menu is None
        await pilot.press("ctrl+u", "/")
        await pilot.pause()
        assert app.prompt.menu is not None


async def test_files_of_the_folder_are_offered_and_hostile_names_are_not(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("secret.txt\n")
    for name in ("secret.txt", "clock.py", "clo\x1b]0;x\x07ck.md", "[b]clock.txt"):
        (tmp_path / name).touch()
    app = Desk(files=FileIndex(tmp_path))
    async with app.run_test() as pilot:
        await pilot.press(*"see ", "@", *"clo")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert _labels(app) == ["clock.py", "[b]clock.txt"]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.prompt.text == "see @[b]clock.txt "
        assert not app.told


async def test_a_click_takes_the_row() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("/")
        await pilot.pause()
        await pilot.click(app.bar.menu_list, offset=(6, 2))
        await pilot.pause()
        assert app.prompt.text == "/prune "
        assert app.prompt.has_focus


async def test_looking_back_opens_no_menu() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("/context")
        await pilot.press("enter", "up")
        await pilot.pause()
        assert app.prompt.text == "/context"
        assert app.prompt.menu is None
