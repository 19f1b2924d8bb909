"""The page before / after as a picture: colours, tones and columns, which text frames cannot hold."""

from qiming_tui.tui.picture import picture
from tests.tui import snapshots
from tests.tui.fates import FateApp
from tests.tui.frames import Look, frame


async def test_before_and_after_look_as_they_did(tmp_path):
    async with frame(FateApp, Look(size=(120, 40))) as held:
        await held.pilot.press("down", "down")
        await held.settle()
        await held.settle()
        snapshots.same("before-after-120x40", picture(held.app, "qiming"), beside=tmp_path)
