"""The three main views as pictures: colours, tones and columns, which text frames cannot hold."""

import asyncio

import pytest

from qiming_tui.tui.picture import picture
from tests.tui import snapshots
from tests.tui.frames import PATIENCE, Look, frame
from tests.tui.pages import Page

VIEWS = {
    "main-120x40": (Look(size=(120, 40)), False),
    "main-80x24": (Look(size=(80, 24)), False),
    "main-120x40-near": (Look(size=(120, 40)), True),
}


@pytest.mark.parametrize("name", VIEWS)
async def test_the_main_views_look_as_they_did(name, tmp_path):
    look, near = VIEWS[name]
    async with frame(lambda: Page(near=near), look) as held:
        main = held.app.main
        async with asyncio.timeout(20):
            while not main.conversation.ready or (near and not main.question.awake):
                if near:
                    main.question.wake()
                await held.settle()
        for left in reversed(range(PATIENCE)):
            await held.settle()
            try:
                snapshots.same(name, picture(held.app, "qiming"), beside=tmp_path)
                break
            except AssertionError:
                if not left:
                    raise
