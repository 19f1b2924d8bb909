"""How the prompt looks: the same facts in every size and look, none of them by colour alone."""

import pytest

from qiming_tui.tui.paste import Draft
from qiming_tui.tui.prompt_note import PromptStatus, facts, line
from tests.tui.desk import Desk
from tests.tui.frames import Frame, Look, each_look, frame, looks

DRAFT = PromptStatus(draft_tokens=3_100, lands_at=105_100, percent=63, after_turn=111_100)


async def _text_chip_and_cost(held: Frame, look: Look) -> None:
    app = held.app
    assert isinstance(app, Desk)
    app.prompt.load(Draft())
    app.prompt.write("修复 " if look.zh else "fix ")
    app.prompt.paste("x = 1\n" * 212)
    app.bar.show(DRAFT)
    await held.settle()
    rows = held.lines()[app.bar.region.y : app.bar.region.bottom]
    text = "".join(rows)
    width, height = look.size
    assert all(row.startswith(look.glyph_set.edge) for row in rows)
    assert "draft ~3.1k" in text
    if height >= 16:
        assert f"{look.glyph_set.edge} {look.glyph_set.prompt} {'修复' if look.zh else 'fix'}" in rows[0]
        assert "[paste #1 212 lines ~0.4k tok]" in text
        assert "lands at ~105.1k 63%" in text
    if width >= 80:
        assert "after this turn ~111.1k" in text
    assert len(rows) == (1 if height < 16 or width >= 180 else 2)


async def test_text_chip_and_what_it_will_cost() -> None:
    await each_look(Desk, _text_chip_and_cost)


@pytest.mark.parametrize("look", looks((80, 24), (40, 12)), ids=str)
async def test_what_is_armed_is_in_words_in_every_look(look: Look) -> None:
    async with frame(lambda: Desk(glyphs=look.glyph_set), look) as held:
        held.app.bar.show(PromptStatus(busy=True, doing="running bash"))
        await held.pilot.press("escape")
        await held.settle()
        assert "Esc again to stop (2 s)" in held.text()


async def test_the_prompt_grows_with_its_lines_and_not_without_end() -> None:
    async with frame(Desk, Look(size=(80, 40))) as held:
        app = held.app
        heights = []
        for _ in range(12):
            await held.pilot.press("a", "ctrl+j")
            await held.settle()
            heights.append(app.prompt.size.height)
        assert heights[:7] == [2, 3, 4, 5, 6, 7, 8]
        assert set(heights[7:]) == {8}
        assert held.lines()[-1].strip().startswith("enter send")


async def test_markup_in_a_draft_is_text() -> None:
    async with frame(Desk, Look(size=(80, 24))) as held:
        held.app.prompt.write("[stage] x [/ [b]y[/b]")
        await held.settle()
        assert "[stage] x [/ [b]y[/b]" in held.text()


def _words(status: PromptStatus, width_cells: int = 200) -> str:
    return "".join(text for text, _ in line(status, width_cells=width_cells))


def test_the_line_while_something_runs() -> None:
    status = PromptStatus(
        doing="waiting for permission", waiting=True, elapsed_s=4, step=51, grew=29_700, cost="$0.77"
    )
    assert _words(status) == "waiting for permission 4 s   step 51   turn so far +29.7k   $0.77"
    assert facts(status)[0][0][1] == "warning"


def test_the_line_gives_way_from_its_end() -> None:
    whole = "draft ~3.1k   lands at ~105.1k 63%   after this turn ~111.1k"
    assert _words(DRAFT) == _words(DRAFT, len(whole)) == whole
    assert _words(DRAFT, len(whole) - 1) == "draft ~3.1k   lands at ~105.1k 63%"
    assert _words(DRAFT, 3) == "draft ~3.1k"
    assert _words(PromptStatus()) == ""


def test_a_draft_that_would_compact_says_so_before_anything_else_it_says() -> None:
    status = PromptStatus(draft_tokens=3_100, lands_at=170_000, percent=101, compacts=True)
    assert _words(status).startswith("draft ~3.1k   would compact before the reply   lands at")


def test_what_waits_is_counted_and_what_is_held_says_how_it_goes_on() -> None:
    assert _words(PromptStatus(doing="running", queued=2)) == "running   2 queued"
    assert _words(PromptStatus(queued=1, held=True)) == "1 held, ^X g sends"
