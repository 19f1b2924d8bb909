"""The timeline in full: rows, cursor, keys, table, search; only what changes is painted."""

import asyncio
from typing import Any

import msgspec
from rich.cells import cell_len
from textual.content import Content

from qiming_tui.context.timeline import Column
from qiming_tui.context.timeline_modes import Mode
from qiming_tui.tui.picture import picture
from qiming_tui.tui.screens.timeline import TimelineScreen
from qiming_tui.tui.widgets.timeline.chart import TimelineChart
from tests.context.timelines import columns, many
from tests.tui.frames import Bench, Frame, Look, each_look, frame
from tests.tui.snapshots import same

STYLES = ("base", "dialogs", "prompt", "timeline")
ZH = {"msg_12": "修复不稳定的测试"}


class Page(Bench):
    """Nothing but the timeline; what it was dismissed with is kept."""

    def __init__(self, found: tuple[Column, ...] | None = None, **options: Any) -> None:
        super().__init__(styles=STYLES)
        held = columns() if found is None else found
        self.timeline = TimelineScreen(held, texts=lambda: ZH, **options)

    def on_mount(self) -> None:
        self.push_screen(self.timeline, self.heard.append)

    @property
    def chart(self) -> TimelineChart:
        return self.timeline.chart


async def whole_rows(shown: Frame, look: Look) -> None:
    assert isinstance(shown.app, Page)
    rows, text = shown.lines(), shown.text()
    width, height = look.size
    assert len(rows) == height
    assert all(cell_len(row) == width for row in rows)
    assert rows[0][2:10] == "timeline"
    assert "step 47/47" in rows[0]
    assert "168.0k" in text
    turn = next(n for n, row in enumerate(rows) if row.startswith("   turn "))
    assert rows[turn + 1].startswith("  event ")
    assert "P" in rows[turn + 1]
    assert "step 47" in rows[turn + 2]
    line = "|" if look.glyphs == "ascii" else "│"
    bars = rows[1:turn]
    if width >= 80:
        assert len({row.index(line) for row in bars}) == 1, "the boundary is one line over the full height"
        assert "live" in rows[0]
        assert "C" in rows[turn + 1]
        assert "not sent :~24.0k" in rows[turn + 2] or width < 120
    if look.no_color:
        assert {"S", "Z", "A", "R"} <= set("".join(bars)), "without colours bands are letters"
        assert all(letter in "".join(bars) for letter in (":" if look.glyphs == "ascii" else "░"))
    if look.glyphs == "ascii":
        assert "".join(rows).isascii()
    if height >= 20 and width >= 80:
        assert "fixed" in rows[turn + 3]
    if height >= 20 and width >= 120:
        assert "P cleared" in rows[turn + 3]


async def test_every_size_and_look_is_whole_rows_with_the_same_signs():
    await each_look(Page, whole_rows)


async def test_keys_move_the_cursor_and_the_picture_stays_as_it_is(tmp_path):
    async with frame(Page, Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        chart = app.chart

        async def press(*keys: str) -> str:
            await shown.pilot.press(*keys)
            await shown.settle()
            return shown.text()

        assert chart.zoom == 2, "all 47 steps are seen"
        assert "follows" in shown.lines()[0]
        text = await press("left_square_bracket")
        assert chart.cursor == 42
        assert "pinned" in text
        text = await press("left_square_bracket")
        assert "C C1 auto 171.2k → 24.3k" in text
        assert "measured before 171.6k → after 25.6k" in text
        assert "archived (kept) T1-T8 171.6k │ live window T8-T12" in text
        same("timeline-120x40", picture(app, "timeline"), beside=tmp_path)
        await press("h", "h", "l", "left_curly_bracket")
        assert chart.cursor == 24


async def test_numbers_modes_zooms_and_what_happens_meanwhile():
    async with frame(Page, Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        chart = app.chart

        async def press(*keys: str) -> str:
            await shown.pilot.press(*keys)
            await shown.settle()
            return shown.text()

        assert "step 12" in await press("g", "1", "2", "enter")
        assert "go to step 4" in await press("g", "4")
        assert "step 12" in await press("escape")
        assert "$" in await press("m")
        assert chart.mode is Mode.COST
        assert "read from the cache" in await press("m")
        assert "answering" in await press("m")
        await press("m")
        assert chart.mode is Mode.WINDOW
        await press("plus", "plus", "plus", "plus")
        assert (chart.zoom, chart.cursor) == (8, 11)
        await press(*["minus"] * 6)
        assert chart.zoom == 0
        assert chart.held().total <= 112
        text = await press("f", "plus", "plus")
        assert "live only" in text
        assert chart.cursor == 29
        assert "archived (kept)" not in text
        await press("f", "F")
        assert chart.place is None
        newer = msgspec.structs.replace(
            columns()[-1], mark=msgspec.structs.replace(columns()[-1].mark, step=48)
        )
        before = chart.painter.painted
        app.timeline.show((*columns(), newer))
        await shown.settle()
        assert "step 48/48" in shown.text()
        assert chart.painter.painted - before <= 3
        await press("enter")
        assert [(what, column.mark.step) for what, column in app.heard] == [("jump", 48)]


async def test_a_search_goes_from_step_to_step_and_says_how_many_there_are():
    async with frame(Page, Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        await shown.pilot.press("slash", *"cleared", "enter")
        await shown.settle()
        assert app.chart.found == (11, 19, 42)
        assert app.chart.cursor == 11, "from the newest on it begins again"
        assert "3 found" in shown.lines()[0]
        await shown.pilot.press("n", "n")
        assert app.chart.cursor == 42
        await shown.pilot.press("N")
        assert app.chart.cursor == 19
        await shown.pilot.press("slash", "ctrl+u", *"修复", "enter")
        await shown.settle()
        assert app.chart.cursor == 11
        await shown.pilot.press("slash", *"no", "escape")
        assert app.focused is app.chart
        await shown.pilot.press("w")
        await shown.settle()
        assert [(what, column.mark.step) for what, column in app.heard] == [("why", 12)]


async def test_the_table_holds_the_same_steps_and_the_same_cursor():
    async with frame(lambda: Page(as_table=True, place=28), Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        table = app.timeline.table
        async with asyncio.timeout(20):
            while "summary, kept" not in shown.text():
                await shown.settle()
        assert (table.row_count, table.cursor_row) == (47, 28)
        assert "C C1 auto 171.2k -> 24.3k" in shown.text()
        await shown.pilot.press("up", "up", "t")
        await shown.settle()
        assert app.chart.cursor == 26
        await shown.pilot.press("t", "home")
        app.timeline.show(columns()[:40])
        await shown.settle()
        assert (table.row_count, table.cursor_row) == (40, 0)
        await shown.pilot.press("enter")
        await shown.settle()
        assert [(what, column.mark.step) for what, column in app.heard] == [("jump", 1)]


async def test_at_5000_steps_a_key_paints_two_columns_and_nothing_else():
    found = many(5_000)
    async with frame(lambda: Page(found), Look(size=(200, 50))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        await shown.pilot.press("plus", "left")
        await shown.settle()
        painter = app.chart.painter
        for key in ("left", "left", "right"):
            before = painter.painted
            await shown.pilot.press(key)
            await shown.settle()
            assert painter.painted - before <= 2
        assert "step 4,998/5,000" in shown.lines()[0]
        await shown.pilot.press("minus", "minus", "minus")
        await shown.settle()
        assert app.chart.held().fold > 20
        assert "steps a column" in shown.lines()[0]
        await shown.pilot.press("home")
        await shown.settle()
        assert app.chart.cursor == 0


async def test_the_mouse_goes_where_a_key_goes():
    async with frame(Page, Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        chart = app.chart
        await shown.pilot.click(TimelineChart, offset=(8, 20))
        assert chart.cursor == 0
        await shown.pilot.hover(TimelineChart, offset=(8, 20))
        assert isinstance(chart.tooltip, Content)
        assert "25,600 tokens of 168,000 usable (measured)" in chart.tooltip.plain
        await shown.pilot.click(TimelineChart, offset=(8, 20))
        await shown.settle()
        assert [(what, column.mark.step) for what, column in app.heard] == [("jump", 1)]


async def test_without_steps_it_says_so():
    async with frame(lambda: Page(()), Look(size=(80, 24))) as shown:
        await shown.pilot.press("left", "m", "plus", "g", "0", "F", "f", "n", "enter")
        await shown.settle()
        assert "no step yet" in shown.text()
