"""The page before / after in every size and look, and what its keys wish for."""

import pytest

from qiming_tui.context.facts import FactKind
from qiming_tui.tui.glyphs import FULL, glyphs
from qiming_tui.tui.screens.before_after import Wish
from qiming_tui.tui.screens.before_after_rows import Painter, read_out
from qiming_tui.tui.spans import cells
from tests.tui.fates import FateApp, report
from tests.tui.frames import Look, each_look, frame, looks

SIZES = ((120, 40), (80, 24), (60, 20), (40, 12))


def text(rows):
    return "\n".join("".join(part for _, part in row.spans) for row in rows)


def test_side_by_side_as_in_the_picture():
    found, _ = report()
    rows = Painter(found, 118, FULL).rows({})
    shown = text(rows)
    assert {cells(row.spans) for row in rows[:12]} == {118}
    assert "Before  14 messages" in shown
    assert "After  what the next request holds" in shown
    assert shown.count("summed") == 7
    assert "T3  Please never sleep in CI" in shown
    assert f"{found.what.ratio:.0f}:1" in shown
    assert "2 results, already not sent" in shown
    assert ":2.0k" in shown
    assert "plain string matching over T1-T7" in shown
    assert "recoverable tests/conftest.py" in shown
    assert "lost Please never sleep in CI" in shown
    assert "? tests/test_backoff.py" in shown
    assert "? pytest -q --slow" in shown
    assert [row.key for row in rows if row.key.startswith("turn")] == [f"turn:{n}" for n in range(7)]


@pytest.mark.parametrize("columns", [118, 78, 58, 38, 30])
@pytest.mark.parametrize("name", ["full", "safe", "ascii"])
def test_rows_fit_any_width_and_set(columns, name):
    found, _ = report(zh=columns == 58)
    rows = Painter(found, columns, glyphs(name)).rows({FactKind.FILE: 1})
    assert max(cells(row.spans) for row in rows) <= columns
    shown = text(rows)
    assert "summed" in shown
    assert name != "ascii" or columns == 58 or shown.isascii()


def test_every_row_that_can_be_chosen_is_told_in_words():
    found, _ = report()
    said = {row.key: read_out(found, row.key, {}) for row in Painter(found, 118, FULL).rows({}) if row.key}
    assert said["turn:2"].startswith("T3  Please never sleep in CI   2 messages, ")
    assert said["turn:2"].endswith("archived. Lost of it: your constraints.")
    assert said["kind:your constraints"] == "Please never sleep in CI   T3, lost: only the store has it"
    assert said["kind:files"].endswith("recoverable: a listing shows it")
    line = next(key for key in said if key.startswith("line") and "not in the history" in said[key])
    assert said[line] == "not in the history: tests/test_backoff.py, pytest -q --slow"
    assert any(words.startswith("goes back to T") for words in said.values())


async def test_every_size_and_look():
    async def check(shown, look):
        page = shown.text()
        assert "before / after C1" in page
        assert "Please never" in page or look.size[1] <= 12
        assert "summed" in page
        assert "esc" in page
        if look.size[1] > 12:
            assert "usable" in page
            assert "health good" in page
        if look.size == (120, 40):
            assert "What the summary still names" in page
            assert "measured" in page

    small = [look for look in looks(*SIZES) if look.glyphs == "ascii"]
    await each_look(FateApp, check, [*looks((120, 40))[:4:3], *small, *looks((60, 20))[:1]])


async def test_its_keys_wish_and_change_nothing():
    async with frame(FateApp, Look(size=(120, 40))) as shown:
        app, pilot = shown.app, shown.pilot
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert app.wishes == [Wish("go", message_id="u2")]
        page = FateApp().page
        wished = []
        page.dismiss = wished.append
        await app.push_screen(page)
        await pilot.press("r", "z", "R", "e", "right_square_bracket", "escape")
        assert wished == [
            Wish("pin", target="u0"),
            Wish("undo", target="C1"),
            Wish("again", target="C1"),
            Wish("edit", target="C1"),
            Wish("other", target="C2"),
            None,
        ]
        page.page.cursor = page.page.keys.index("kind:your constraints")
        await pilot.press("r")
        wish = wished[-1]
        assert (wish.do, wish.text, wish.source) == (
            "pin",
            "Please never sleep in CI",
            "your constraints, turn 3",
        )
