"""The conversation as it is painted: the pictures it is drawn after, its figures, what gives way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from qiming_tui.model.parts import PLACEHOLDER
from tests.tui.frames import Frame, Look, frame
from tests.tui.talks import COSTS, FACTS, Talk, shown, talk


@asynccontextmanager
async def talking(look: Look, *, full: bool = True) -> AsyncIterator[tuple[Talk, Frame]]:
    """An app with the talk of the pictures, Markdown at hand."""
    app = Talk()
    async with frame(lambda: app, look) as held:
        if full:
            app.view.load(talk())
            app.view.set_costs(COSTS)
            app.view.set_boundary("m3", FACTS)
        async with asyncio.timeout(20):
            while not app.view.ready:
                await held.settle()
        await held.settle()
        yield app, held


async def test_the_rows_of_the_picture_at_80_columns():
    async with talking(Look(size=(80, 24))) as (_, held):
        rows = [line.rstrip() for line in held.lines()]
    assert rows[:5] == [
        "",
        " ▌ T12  Fix the flaky retry test and explain why it raced.               0.1k U",
        "   The sleep is patched in setUp but restored from a worker thread,",
        "   so two tests share one clock.                                         0.6k A",
        "   ░ read   tests/test_retry.py               cleared 14:02, was 6.1k    0.0k :",
    ]
    assert rows[5] == "   ✗ bash   pytest -x tests/test_retry.py                exit 1  2.3s    1.9k R"
    assert rows[6].startswith(" ── Z C1 auto ───")
    assert rows[6].endswith(" 58 msgs kept ──")
    assert " 171.2k → 24.3k " in rows[6]
    assert rows[7] == " + Continue if you have next steps                                       0.1k U"
    assert rows[11] == "              41 - time.sleep(delay)"


async def test_a_wide_screen_says_what_the_model_sees_and_keeps_blank_rows_around_the_boundary():
    async with talking(Look(size=(120, 40))) as (_, held):
        rows = [line.rstrip() for line in held.lines()]
    at = next(index for index, row in enumerate(rows) if PLACEHOLDER in row)
    assert rows[at] == f"            {PLACEHOLDER}  p peek  u restore  w why"
    rule = next(index for index, row in enumerate(rows) if "C1 auto step 27" in row)
    assert rows[rule - 1] == ""
    assert rows[rule].endswith("58 msgs archived ──")
    assert rows[rule + 1].startswith("   Goal: make retry deterministic. Done: clock injected in `Retry`.")
    assert rows[rule + 2].strip() == "enter summary   b before/after   w why   z undo compaction"
    assert rows[rule + 3] == ""
    assert any(row.startswith("              40   for delay in self.delays:") for row in rows)


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (200, 50)])
async def test_every_row_fits_and_every_figure_stays(size):
    async with talking(Look(size=size)) as (app, held):
        assert all(len(line) == size[0] for line in held.lines())
        text = shown(app)
    for figure in ("0.1k U", "0.6k A", "0.0k :", "1.9k R", "0.4k A", "0.9k A"):
        assert figure in text
