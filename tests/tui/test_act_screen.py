"""The dry run before an edit, in every size and look: price, difference, health, keys."""

from textual.app import App

from qiming_tui.context.dryrun import DiffRow, Preview
from qiming_tui.context.health import Check, Health
from qiming_tui.context.price import EditPrice
from qiming_tui.tui.glyphs import ASCII, FULL
from qiming_tui.tui.screens.act import ActScreen, SummaryScreen, diff_row, price_rows
from qiming_tui.tui.spans import cells
from qiming_tui.tui.theme import DARK, THEMES
from tests.tui.frames import STYLES, Look, each_look, frame, looks

ROWS = tuple(
    DiffRow(sign="~", klass="R", words=f"T{n} read src/重试/file{n}.py", before=6_100, after=20)
    for n in range(1, 31)
)
PRICE = EditPrice(
    before=102_000,
    after=78_600,
    first=40,
    cached=98_000,
    reread=31_000,
    dropped=23_400,
    break_even=12,
    assumed=True,
)
GOOD = Health((Check("pairs", True, "34 calls with results"), Check("pins", True, "2 pins present")))


def preview(rows=ROWS, health=GOOD):
    return Preview(title="Clear what is suggested", rows=rows, price=PRICE, health=health)


class ActApp(App[None]):
    """The dialog alone."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, screen=None):
        super().__init__(css_path=sorted(STYLES.glob("*.tcss")))
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        self.dialog = screen or ActScreen(preview())
        self.answers = []

    async def on_mount(self):
        await self.push_screen(self.dialog, self.answers.append)


def test_rows_fit_and_say_everything_without_colours():
    for glyphs in (FULL, ASCII):
        for columns in (100, 60, 34):
            rows = [diff_row(row, columns, glyphs) for row in ROWS]
            assert {cells(row) for row in rows} == {columns}
            rows = price_rows(preview(), columns, glyphs)
            assert {cells(row) for row in rows} == {columns}
    said = " ".join("".join(text for _, text in row).strip() for row in price_rows(preview(), 34, ASCII))
    assert "next request ~102.0k -> ~78.6k (predicted)" in said
    assert "frees ~23.4k; reads ~31.0k cached tokens again, pays back after 12 requests" in said
    assert "(prices assumed)" in said
    assert "after it, health good: 34 calls with results, 2 pins present" in said
    text = "".join(
        part for _, part in diff_row(DiffRow(sign="-", klass="U", words="T1", before=90), 30, FULL)
    )
    assert text.startswith("- U T1")
    assert text.endswith("-0.1k")


async def test_every_size_and_look():
    async def check(shown, look):
        page = shown.text()
        assert "Clear what is suggested" in page
        assert "~ R T1 read" in page
        assert "78.6k" in page
        assert "enter do it" in page
        assert "more below" in page
        if look.size[1] > 12:
            assert "pays back after 12 requests" in " ".join(page.split())
            assert "health good" in page

    small = [look for look in looks((80, 24), (60, 20), (40, 12)) if look.glyphs == "ascii"]
    await each_look(ActApp, check, [*looks((120, 40))[:1], *small])


async def test_it_scrolls_and_answers():
    async with frame(ActApp, Look(size=(80, 24))) as shown:
        await shown.pilot.press("pagedown", "pagedown", "pagedown", "pagedown")
        await shown.settle()
        assert "file30.py" in shown.text()
        assert "more below" not in shown.text()
        await shown.pilot.press("n")
        await shown.settle()
        assert shown.app.answers == [False]
        await shown.app.push_screen(ActScreen(preview(rows=())), shown.app.answers.append)
        await shown.pilot.press("enter")
        await shown.settle()
        assert shown.app.answers == [False, True]
        await shown.app.push_screen(SummaryScreen("old text", name="C1"), shown.app.answers.append)
        await shown.pilot.press("a", "ctrl+s")
        await shown.settle()
        assert shown.app.answers[-1] == "aold text"
