"""Keys that act on the window from the conversation: what they wish for, and of which parts."""

import msgspec

from qiming_tui.tui.keys import known_ids
from qiming_tui.tui.widgets.conversation import Conversation
from qiming_tui.tui.widgets.conversation.wishes import Wishes
from tests.tui.frames import Look
from tests.tui.talks import COSTS
from tests.tui.test_conversation import talking


async def test_keys_on_the_block_under_the_cursor_post_what_they_wish_for():
    async with talking(Look(size=(120, 40))) as (app, held):
        view = app.view
        view.set_costs({**COSTS, "g1": msgspec.structs.replace(COSTS["g1"], pinned=True)})
        view.focus()
        await held.settle()
        for cursor, key, wish in [
            ("r1", "u", ("restore", ("r1",), "m2")),
            ("b1", "u", ("clear", ("b1",), "m2")),
            ("a1", "u", None),
            ("b1", "i", ("pin", ("b1",), "m2")),
            ("g1", "i", ("unpin", ("g1",), "m6")),
            ("u1", "i", ("pin", ("p1",), "m1")),
            ("m3", "i", None),
            ("m3", "z", ("undo", (), "m3")),
            ("s1", "z", ("undo", (), "m3")),
            ("b1", "z", ("undo", (), "")),
            ("b1", "Z", ("redo", (), "")),
            ("r1", "w", ("why", ("r1",), "m2")),
            ("s1", "w", ("why", ("pc",), "m3")),
            ("m3", "b", ("before-after", (), "m3")),
            ("r1", "b", None),
        ]:
            view.cursor = cursor
            app.wishes.clear()
            await held.pilot.press(key)
            assert app.wishes == ([wish] if wish else []), (cursor, key)


async def test_a_running_call_shows_its_seconds():
    async with talking(Look(size=(120, 40)), full=False) as (app, held):
        now = [12_000.0]
        app.view.use_clock(lambda: now[0])
        app.view.load([app.running])
        await held.settle()
        assert "running  2s" in held.text()
        now[0] += 5_900
        app.view._tick()
        await held.settle()
        assert "running  8s" in held.text()


def test_every_key_can_be_set_by_the_user():
    assert Conversation.BINDINGS is Wishes.BINDINGS
    assert {"conversation.clear", "conversation.undo", "conversation.open"} <= known_ids([Wishes])
