"""The screen without a model: what works is offered first, what is missing says what to do."""

import pytest
from rich.cells import cell_len

from qiming_tui.model.limits import ModelRef
from qiming_tui.tui.offer import Key, Offer
from qiming_tui.tui.screens.welcome import Way, WelcomeScreen
from tests.tui.frames import Look, frame, looks
from tests.tui.picks import Page

KEYS = (Key("anthropic", "ANTHROPIC_API_KEY"), Key("openai", "OPENAI_API_KEY"))
LOCAL = ModelRef("local", "smollm2")
MISSING = "install it with: pip install xllamacpp"


def opened(look=None, **fields):
    offer = Offer(**{"reason": "no model is chosen", "local": LOCAL, "keys": KEYS, **fields})
    look = look or Look(size=(80, 24))
    return frame(lambda: Page(lambda: WelcomeScreen(offer, glyphs=look.glyph_set)), look)


@pytest.mark.parametrize("look", looks(), ids=str)
async def test_every_size_and_look_offers_all_ways(look):
    async with opened(look) as shown:
        assert all(cell_len(line) == look.size[0] for line in shown.lines())
        text = shown.text()
        for words in ("no model is chosen", "Use the local model", "Watch the demo", "Choose a model"):
            assert words in text
        assert "Set a key" in text
        assert "esc leave" in text
        await shown.pilot.press("k")
        assert "export ANTHROPIC_API_KEY" in shown.text(), "how it is done is told at every size"
        if look.glyphs == "ascii":
            assert shown.text().isascii()


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({}, Way.LOCAL),
        ({"local_missing": MISSING}, Way.DEMO),
        ({"keys": (Key("openai", "OPENAI_API_KEY", True),)}, Way.MODELS),
    ],
)
async def test_enter_takes_what_works(fields, first):
    async with opened(**fields) as shown:
        await shown.pilot.press("enter")
        await shown.settle()
        assert shown.app.heard == [first]


async def test_what_is_missing_says_what_to_install_and_is_not_taken():
    async with opened(local_missing=MISSING) as shown:
        assert "is not installed" in shown.text()
        await shown.pilot.press("l")
        assert MISSING in shown.text()
        await shown.pilot.press("enter", "l")
        assert shown.app.heard == []
        await shown.pilot.press("d", "d")
        await shown.settle()
        assert shown.app.heard == [Way.DEMO]


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_leaving(key):
    async with opened() as shown:
        await shown.pilot.press(key)
        await shown.settle()
        assert shown.app.heard == [Way.QUIT]


async def test_the_mouse():
    async with opened() as shown:
        listed = shown.app.screen.list
        await shown.pilot.click(listed, offset=(6, 1))
        assert listed.key == Way.DEMO
        await shown.pilot.click(listed, offset=(6, 1))
        await shown.settle()
        assert shown.app.heard == [Way.DEMO]


async def test_the_reason_is_literal():
    async with opened(reason="[red]x[/] \x1b[31mno") as shown:
        assert "[red]x[/] no" in shown.text()
