"""The whole screen in every size and look: whole rows, the same facts, and none of them by colour alone."""

import asyncio

from rich.cells import cell_len

from tests.tui.frames import Frame, Look, each_look
from tests.tui.pages import Page

LEAST_CONVERSATION = 0.4


async def ready(held: Frame) -> Page:
    """Markdown is imported beside the first frame."""
    app = held.app
    assert isinstance(app, Page)
    while not app.main.conversation.ready:
        await held.settle()
    return app


def whole(held: Frame, look: Look) -> list[str]:
    """The rows; each as wide as the screen, and ASCII where nothing else is wanted."""
    rows = held.lines()
    assert len(rows) == look.size[1]
    assert all(cell_len(row) == look.size[0] for row in rows)
    if look.glyphs == "ascii":
        assert [row for row in rows if not row.isascii()] == []
    return rows


async def test_the_first_view_says_the_same_in_every_size_and_look():
    async def check(held: Frame, look: Look) -> None:
        app = await ready(held)
        app.say(zh=look.zh)
        await held.settle()
        rows, text = whole(held, look), held.text()
        width, height = look.size
        for words in ("61% ok", "102.0k", "66.0k left", "✓ edit" if look.glyphs == "full" else "o edit"):
            assert words in text
        assert "F1 help" in rows[-1]
        assert ("测试文件" if look.zh else "Same" if width >= 60 else "attached") in text
        assert app.main.conversation.size.height >= LEAST_CONVERSATION * height
        assert app.main.conversation.size.width == width
        titled = width >= 60
        assert (("修复不稳定" if look.zh else "flaky-retry") in rows[0]) is titled
        assert ("ctx/10" in text) is (height >= 16)
        assert ("200.0k ctx - 32.0k out = 168.0k" in text) is (height >= 16)
        if width >= 100 and height >= 30:
            assert "results 47.5" in text
            assert "58 msgs archived" in text
            assert "[Old tool result content cleared]  p peek  u restore  w why" in text
        if width >= 80:
            assert "1 compaction  3 prunes  $4.61" in rows[0]
            assert "cleared 14:02, was 6.1k" in text
        if width >= 180:
            assert "draft ~3.1k   lands at ~105.1k 63%   after this turn ~111.1k" in rows[-2]
            assert "cost next ~$0.14" in rows[1]

    await each_look(Page, check)


async def test_the_view_that_waits_for_an_answer_says_the_same_in_every_size_and_look():
    async def check(held: Frame, look: Look) -> None:
        app = await ready(held)
        async with asyncio.timeout(20):
            while not app.main.question.awake:
                app.main.question.wake()
                await held.settle()
        rows, text = whole(held, look), held.text()
        width, height = look.size
        for words in ("Allow bash?", "rm -rf", "~2.1k", " y ", " n ", "78% near"):
            assert words in text
        assert app.main.conversation.size.width == width
        if height >= 16:
            panel = app.main.question.region
            assert panel.bottom < app.main.strip.region.y
            assert rows[panel.bottom].strip() == ""
            assert "waiting for you" in text
            assert "~2.1k R" in text
            assert "~0.6k A" in text
        if width >= 80:
            assert "asks because  rm deletes files; no rule matches" in text
            assert "timeout 120 s" in text
        if width >= 100:
            assert "step 51, ~+0.6k since" in rows[1]

    await each_look(lambda: Page(near=True), check)
