"""The registry of commands, and the palette over it."""

import pytest

from qiming_tui.tui.commands import BY_ID, COMMANDS, matching, parse_slash
from tests.tui.desk import Desk
from tests.tui.frames import Frame
from tests.tui.test_app import until

WANTED = (
    "compact",
    "context",
    "new",
    "sessions",
    "models",
    "export",
    "theme",
    "help",
    "undo",
    "redo",
    "prune",
    "quit",
)


def test_every_command_has_its_routes_and_its_words() -> None:
    assert set(WANTED) <= BY_ID.keys()
    words = [word for command in COMMANDS for word in (command.slash, *command.aliases)]
    assert len(set(words)) == len(words)
    for command in COMMANDS:
        assert command.title
        assert command.help.endswith(".")
        assert command.leader
        assert parse_slash(f"/{command.slash}").command is command


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("/compact", "compact", ""),
        ("/compact  keep   the [b]clock ", "compact", "keep   the [b]clock"),
        ("/Exit", "quit", ""),
        ("/model sonnet", "models", "sonnet"),
        ("/nope x", None, "x"),
    ],
)
def test_slash_commands(text: str, command: str | None, argument: str) -> None:
    found = parse_slash(text)
    assert found is not None
    assert (found.command.id if found.command else None) == command
    assert found.argument == argument


@pytest.mark.parametrize(
    "text", ["", "/", "//", "/usr/bin", "/compact\nmore", " /compact", "a /compact", "/1"]
)
def test_what_is_a_message(text: str) -> None:
    assert parse_slash(text) is None


@pytest.mark.parametrize(
    ("prefix", "first"),
    [("", "compact"), ("c", "compact"), ("ex", "expand"), ("resu", "sessions"), ("win", "context")],
)
def test_what_is_offered_first(prefix: str, first: str) -> None:
    assert matching(prefix)[0].id == first


def test_nothing_is_offered_for_what_fits_nothing() -> None:
    assert matching("zzz") == ()


async def test_the_palette_lists_every_command_literally_and_runs_the_chosen_one() -> None:
    app = Desk()
    async with app.run_test(size=(120, 50)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Commands" in Frame(app, pilot).text())
        text = Frame(app, pilot).text()
        assert "Compact now" in text
        assert "/compact [focus]" in text
        assert [row.key for row in app.screen.list.items if row.key] == [one.id for one in COMMANDS]
        await pilot.press(*"request by the rules")
        await until(pilot, lambda: len([row for row in app.screen.list.items if row.key]) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.of("command") == [("palette", ""), ("prune", "")]
