"""The title row and the budget bar in an app: sizes, looks, keys, mouse; no information by colour only."""

import re

import pytest
from textual import on

from qiming_tui.context.bar import offers
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import State
from qiming_tui.tui.glyphs import ASCII, FULL, SETS, glyphs
from qiming_tui.tui.theme import DARK, LIGHT, THEMES
from qiming_tui.tui.widgets.budget_bar import BudgetBar
from qiming_tui.tui.widgets.title_bar import TitleBar, TitleData, title_row
from tests.tui.bars import bar
from tests.tui.frames import Bench, Look, each_look, frame

TITLE = TitleData(
    title="flaky-retry",
    agent="build",
    model="sonnet-200k",
    folder="~/src/retry main*",
    compactions=1,
    prunes=3,
    cost=4.61,
)
ZH = TitleData(title="修复不稳定的重试测试", agent="构建", model="千问", folder="~/源码/重试", prunes=1)
URGENT = bar(state=State.LAST_TURN, growth=70_000, offers=offers(clearable=36_200))


class Heard(Bench):
    """Keeps what the bar says."""

    @on(BudgetBar.Act)
    @on(BudgetBar.Picked)
    def _hear(self, event):
        self.heard.append(event.act if isinstance(event, BudgetBar.Act) else event.letter)


def made(look, data=None, title=TITLE):
    def make():
        top, bottom = TitleBar(), BudgetBar()
        top.glyphs = bottom.glyphs = look.glyph_set
        top.show(ZH if look.zh else title)
        bottom.show(data or bar())
        return Heard(top, bottom)

    return frame(make, look)


async def says_what_counts(held, look):
    held.app.query_one(TitleBar).show(ZH if look.zh else TITLE)
    await held.settle()
    columns, height = look.size
    lines = held.lines()
    assert all(len(line) == columns or look.zh for line in lines)
    rows = [line for line in lines if line.strip()]
    titled = columns >= 60
    assert len(rows) == titled + (1 if height < 16 else 4 if columns >= 100 and height >= 30 else 3)
    assert titled == ("qiming" in rows[0])
    shown = rows[titled]
    assert "61% ok" in shown
    assert "102.0k" in shown
    assert "66.0k left" in shown
    if look.zh and titled:
        assert "修复" in rows[0]
    elif look.glyphs == "ascii":
        assert held.text().isascii()


async def test_every_look_says_what_counts():
    def make():
        top, bottom = TitleBar(), BudgetBar()
        bottom.show(bar())
        return Heard(top, bottom)

    await each_look(make, says_what_counts)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_no_information_by_colour_only(size):
    async with made(Look(size=size)) as held:
        coloured = held.lines()
    async with made(Look(size=size, no_color=True)) as held:
        grey = held.lines()
        assert held.app.no_color
    assert [line for i, line in enumerate(grey) if i != 2] == [
        line for i, line in enumerate(coloured) if i != 2
    ]
    assert set("STMZUAR?") <= set(coloured[2])
    runs = re.findall(r"(([STMZUAR?])\2*)", grey[2])
    assert [letter for _, letter in runs] == list("STMZUAR?")
    filled = sum(len(run) for run, _ in runs)
    assert filled == round(102_013 / 200_000 * (size[0] - 2))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bar(percent=78, state=State.NEAR), "78% near"),
        (URGENT, "last turn"),
        (bar(percent=105, state=State.OVER, over_by=8_000), "over by 8.0k"),
        (bar(state=State.FULL), "full"),
        (bar(auto=False), "auto off"),
        (bar(basis=Basis.PREDICTED), "~102.0k"),
        (bar(usable=None, window=0, percent=None, state=State.UNKNOWN), "window unknown"),
    ],
)
@pytest.mark.parametrize(
    "look", [Look(size=(80, 24)), Look(size=(80, 24), no_color=True, glyphs="ascii")], ids=str
)
async def test_every_state_is_a_word(look, data, words):
    async with made(look, data) as held:
        assert words in held.text()


@pytest.mark.parametrize(
    ("theme", "seg", "ink"), [(DARK, "#E69F00", "#0B0D11"), (LIGHT, "#C07700", "#0B0D11")]
)
async def test_colours_come_from_the_theme_and_follow_it(theme, seg, ink):
    async with made(Look(size=(80, 24), theme=theme)) as held:
        cells = [(text, fore, back) for text, fore, back in held.colours(2) if text.startswith("R")]
        assert [(fore.upper(), back.upper()) for _, fore, back in cells] == [(ink, seg)]
        held.app.theme = LIGHT if theme == DARK else DARK
        await held.settle()
        assert seg not in [back.upper() for text, _, back in held.colours(2) if back]


async def test_the_bar_changes_in_one_step_and_only_its_own_rows():
    async with made(Look(size=(80, 24))) as held:
        before = held.lines()
        held.app.query_one(BudgetBar).show(bar(draft_tokens=20_000))
        await held.settle()
        after = held.lines()
        assert before[0] == after[0]
        assert after[2].count("∙") > before[2].count("∙")
        assert "after turn ~131.1k" in after[1]


async def test_keys_take_an_offer_only_while_it_is_made_and_the_bar_has_the_focus():
    async with made(Look(size=(120, 40)), URGENT) as held:
        shown = held.app.query_one(BudgetBar)
        assert "^X c compact now  /compact with focus" in held.lines()[4]
        await held.pilot.press("c")
        assert held.app.heard == []
        shown.focus()
        await held.settle()
        assert (
            held.lines()[4].strip()
            == "c compact now  f with focus  x clear 36.2k results  d defer once  a auto off"
        )
        await held.pilot.press("c", "f", "x", "d", "a")
        assert held.app.heard == ["compact", "focus", "clear", "defer", "auto"]
        shown.show(bar())
        await held.settle()
        assert "system 3.0" in held.lines()[4]
        await held.pilot.press("c", "x")
        assert len(held.app.heard) == 5


async def test_at_80_columns_the_offers_take_the_under_row():
    async with made(Look(size=(80, 24)), URGENT) as held:
        assert "compact now" in held.lines()[3]
        await held.pilot.click(BudgetBar, offset=(6, 2))
        assert held.app.heard == ["compact"]


async def test_a_click_picks_a_class_and_the_pointer_gets_exact_numbers():
    async with made(Look(size=(120, 40))) as held:
        shown = held.app.query_one(BudgetBar)
        await held.pilot.click(BudgetBar, offset=(40, 1))
        at = held.lines()[4].index("assistant")
        await held.pilot.click(BudgetBar, offset=(at, 3))
        await held.pilot.click(BudgetBar, offset=(100, 1))
        assert held.app.heard == ["R", "A"]
        await held.pilot.hover(BudgetBar, offset=(40, 1))
        assert str(shown.tooltip) == "R results: 47,500 tokens"
        await held.pilot.hover(BudgetBar, offset=(40, 0))
        assert str(shown.tooltip) == "102,013 of 168,000 usable, 200,000 in all (measured)"


async def test_hostile_titles_are_plain_text():
    evil = TitleData(title="[red]x[/] \x1b]52;c;aGk=\x07b\x9b31mc", model="[/", cost=0.0)
    async with made(Look(size=(80, 24)), title=evil) as held:
        assert "[red]x[/] bc  [/" in held.lines()[0]
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(held.lines()))


def title(columns, data=TITLE, signs=FULL):
    return "".join(text for _, text in title_row(data, columns, signs))


def test_the_title_gives_way_in_order():
    assert title(118).startswith("✦ qiming  flaky-retry  build · sonnet-200k · ~/src/retry main*   ")
    assert title(118).endswith("   1 compaction  3 prunes  $4.61")
    assert title(78) == "✦ qiming  flaky-retry  build · sonnet-200k       1 compaction  3 prunes  $4.61"
    assert title(66).startswith("✦ qiming  flaky-retry  sonnet-200k  ")
    assert title(58).startswith("✦ qiming  flaky-retry    ")
    assert title(58, signs=ASCII).startswith("* qiming")
    assert "price unknown" in title(78, TitleData(title="x"))
    assert "compaction" not in title(78, TitleData(title="x"))


@pytest.mark.parametrize("columns", range(10, 120))
def test_a_chinese_title_is_cut_between_characters(columns):
    long = TitleData(title="修复不稳定的重试测试并解释为什么会有竞争" * 3, model="千问", compactions=12)
    for signs in SETS.values():
        row = title_row(long, columns, signs)
        assert sum(len(text.encode("utf-16-le")) // 2 for _, text in row) <= columns
        from_cells = sum(2 if "\u4e00" <= char <= "\u9fff" else 1 for _, text in row for char in text)
        assert from_cells == columns


def test_every_glyph_is_one_cell_and_ascii_is_ascii():
    for held in SETS.values():
        signs = {name: getattr(held, name) for name in held.__struct_fields__}
        for name in ("name", "letters", "ends", "tops"):
            signs.pop(name)
        assert all(
            len(sign) == (2 if name in ("arrow", "cut") and held is not FULL else 1)
            for name, sign in signs.items()
        )
    assert all(str(getattr(ASCII, name)).isascii() for name in ASCII.__struct_fields__)
    assert glyphs("full") is FULL


def test_an_unknown_glyph_set_names_the_known_ones():
    with pytest.raises(Exception, match="no glyph set") as held:
        glyphs("fancy")
    assert "full, safe, ascii" in held.value.hint


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda held: held.name)
def test_what_is_read_can_be_read(theme):
    named = theme.variables
    for ground in (theme.background, theme.surface):
        assert _contrast(theme.foreground, ground) >= 12
        assert _contrast(named["muted"], ground) >= 4.5
        assert _contrast(theme.primary, ground) >= 4.5
        assert _contrast(named["limit"], ground) >= 4.5
        assert _contrast(named["faint"], ground) >= 3.5
    for letter in (*"STMZUAR", "drift"):
        assert _contrast(named[f"seg-{letter}"], theme.background) >= 3
        assert _contrast(named[f"on-{letter}"], named[f"seg-{letter}"]) >= 4.4
