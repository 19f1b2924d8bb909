"""Selection, copy and clicks: what leaves the conversation is source text (cases C-126, C-129)."""

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from qiming_tui.tui.blocks import Kind
from qiming_tui.tui.widgets.conversation import Conversation
from tests.tui.frames import Look
from tests.tui.talks import DIFF, SUMMARY, block, talk
from tests.tui.test_conversation import talking

LOOK = Look(size=(80, 24))


def marked(held, words):
    """Row and column of words on the screen."""
    for y, line in enumerate(held.lines()):
        if words in line:
            return y, line.index(words)
    raise AssertionError(words)


def select(view, start, end):
    """Select from (x, y) to (x, y) of the content."""
    view.screen.selections = {view: Selection(Offset(*start), Offset(*end))}
    found = view.get_selection(view.text_selection)
    assert found is not None
    return found[0]


async def test_c_126_a_selection_gives_source_without_gutter_figures_and_wraps():
    async with talking(LOOK) as (app, held):
        view = app.view
        y, x = marked(held, "The sleep is")
        whole = select(view, (0, y), (79, y + 1))
        assert whole == talk()[1].text
        y, x = marked(held, "worker thread,")
        assert select(view, (x, y), (x + 100, y)) == "worker thread,"
        assert select(view, (x, y), (9, y + 1)) == "worker thread, so two"
        y, _ = marked(held, "pytest -x")
        assert select(view, (0, y), (79, y)) == "bash pytest -x tests/test_retry.py"


async def test_a_selection_over_everything_is_the_sources_in_order():
    async with talking(Look(size=(120, 40))) as (app, _):
        found = app.view.get_selection(Selection(None, None))
        assert found is not None
        text = found[0]
        for part in (talk()[0].text, talk()[1].text, "read tests/test_retry.py", talk()[7].text):
            assert part in text
        assert "0.6k" not in text
        assert "T12" not in text
        assert "Old tool result" not in text


async def test_a_selection_by_mouse_is_highlighted_and_keeps_its_text_while_text_comes_in():
    """Cases C-129."""
    async with talking(LOOK) as (app, held):
        view = app.view
        view.put(block("s", Kind.TEXT, "", seq=90, live=True))
        await held.settle()
        y, x = marked(held, "The sleep is")
        await held.pilot.mouse_down(view, offset=(x, y))
        await held.pilot.hover(view, offset=(x + 8, y))
        view.delta("s", "\n\n".join(f"row {n}" for n in range(5)))
        view.flush()
        await held.pilot.mouse_up(view, offset=(x + 8, y))
        await held.settle()
        assert app.screen.get_selected_text() == "The sleep"
        view.action_copy()
        await held.settle()
        assert [(m.text, m.words) for m in app.heard] == [("The sleep", "selection")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a1", talk()[1].text),
        ("b1", "F\nE   AssertionError: [stage] x [/"),
        ("e1", DIFF),
        ("s1", SUMMARY),
        ("r1", "read tests/test_retry.py"),
    ],
)
async def test_a_block_is_copied_as_it_was_written(name, text):
    async with talking(LOOK) as (app, held):
        app.view.cursor = name
        app.view.action_copy()
        await held.settle()
        assert [message.text for message in app.heard] == [text]


async def test_a_click_opens_a_row_follows_a_link_and_goes_to_what_is_new():
    async with talking(LOOK) as (app, held):
        view = app.view
        y, x = marked(held, "pytest -x")
        await held.pilot.click(view, offset=(x, y))
        await held.settle()
        assert "AssertionError" in held.text()
        view.put(block("l", Kind.TEXT, "see [here](javascript:alert(1)) or https://example.org/x.", seq=80))
        view.go_end()
        await held.settle()
        for words in ("here", "https://example.org"):
            y, x = marked(held, words)
            await held.pilot.click(view, offset=(x + 1, y))
        await held.settle()
        hrefs = [m.href for m in app.heard if isinstance(m, Conversation.LinkWanted)]
        assert hrefs == ["https://example.org/x"]
