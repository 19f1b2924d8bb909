"""What a person does with the conversation: scroll, follow, open, search, select, copy, click."""

import msgspec

from qiming_tui.model.window import ItemState
from qiming_tui.tui.blocks import Cost, Kind
from qiming_tui.tui.toolrow import Phase
from qiming_tui.tui.widgets.conversation import Conversation
from tests.tui.frames import Look, frame
from tests.tui.talks import COSTS, Talk, block, call, shown, talk
from tests.tui.test_conversation import talking

LOOK = Look(size=(80, 24))


def long_talk(count=60):
    blocks = []
    for n in range(count):
        blocks.append(block(f"u{n}", Kind.USER, f"question {n}", seq=2 * n, turn=n + 1))
        text = f"answer {n} begins\n\nand goes on, paragraph two\n\n- with\n- items"
        blocks.append(block(f"a{n}", Kind.TEXT, text, seq=2 * n + 1))
    return blocks


def later(blocks, seq):
    """The same blocks, further down."""
    return [
        msgspec.structs.replace(
            b, id=f"later-{b.id}", order=(b.order[0] + seq, 0), message_id=f"m{b.order[0] + seq}"
        )
        for b in blocks
    ]


def top_of(view):
    """The block and row at the top of the view."""
    place, offset = view.shelf.find(round(view.scroll_y))
    return view.shelf.items[place].block.id, offset


async def test_the_end_is_followed_only_from_the_end():
    """Cases C-116."""
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load(long_talk())
        await held.settle()
        assert view.at_end
        view.put(block("n1", Kind.TEXT, "fresh one", seq=500))
        await held.settle()
        assert "fresh one" in held.text()
        view.scroll_relative(y=-1)
        await held.settle()
        before = top_of(view)
        view.put(block("n2", Kind.TEXT, "fresh two\n\nmore", seq=501))
        await held.settle()
        assert not view.following
        assert top_of(view) == before
        assert "fresh two" not in held.text()
        assert "new below  G" in held.text()
        view.scroll_relative(y=200)
        await held.settle()
        assert view.following
        assert "fresh two" in held.text()
        assert "new below" not in held.text()


async def test_following_is_resumed_near_the_end_going_down():
    """Cases C-116: -1, growth, +1 must not stick above the end."""
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load(long_talk())
        view.put(block("s", Kind.TEXT, "", seq=900, live=True))
        view.delta("s", "one\n\n")
        view.flush()
        await held.settle()
        view.scroll_relative(y=-1)
        view.delta("s", "two\n\n")
        view.flush()
        assert not view.at_end
        view.scroll_relative(y=1)
        await held.settle()
        view.delta("s", "three\n\nfour")
        view.flush()
        await held.settle()
        assert view.following
        assert "four" in held.text()


async def test_scrolling_is_not_animated_and_pages_show_every_block_once():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        blocks = long_talk(30)
        view.load(blocks)
        await held.settle()
        view.action_scroll_home()
        await held.settle()
        assert view.scroll_y == 0
        seen: list[str] = []
        while True:
            row = round(view.scroll_y)
            for y in range(view.rows):
                place, _ = view.shelf.find(min(row + y, view.shelf.total - 1))
                name = view.shelf.items[place].block.id
                if name not in seen:
                    seen.append(name)
            if view.at_end:
                break
            before = view.scroll_y
            view.action_page_down()
            await held.settle()
            assert view.scroll_y > before
        assert seen == [b.id for b in blocks]


async def test_heights_that_were_guessed_wrong_do_not_move_what_is_on_show():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        blocks = long_talk(200)
        view.load(blocks)
        await held.settle()
        for _ in range(15):
            view.scroll_relative(y=-7)
            await held.settle()
            rows = [line.rstrip() for line in held.lines()]
            place, offset = view.shelf.find(round(view.scroll_y))
            assert rows[0] == view.row_strip(place, offset).text.rstrip()
        assert view.shelf.total == sum(item.height for item in view.shelf.items)


async def test_a_message_is_shown_from_its_first_row():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load(long_talk())
        await held.settle()
        assert view.go_to("m20")
        await held.settle()
        assert "question 10" in "\n".join(held.lines()[:3])
        assert not view.following
        assert not view.go_to("nowhere")


async def test_a_load_keeps_place_and_what_was_opened():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load([*talk(), *later(long_talk(), 100)])
        view.open_block("b1")
        view.go_to("m2")
        view.load([*talk(), *later(long_talk(), 100)])
        await held.settle()
        assert "AssertionError: [stage] x [/" in held.text()
        assert top_of(view)[0] == "a1"


async def test_space_opens_and_folds_a_result_and_brackets_stand_as_they_are():
    async with talking(LOOK) as (app, held):
        view = app.view
        view.cursor = "b1"
        view.action_open()
        await held.settle()
        assert "E   AssertionError: [stage] x [/" in held.text()
        view.action_open()
        await held.settle()
        assert "AssertionError" not in held.text()


async def test_a_ghost_opens_to_the_original_and_asks_for_it_if_it_is_in_the_store():
    async with talking(LOOK) as (app, held):
        view = app.view
        view.put(call("r1", "read", "tests/test_retry.py", seq=2, cleared="14:02", was=6_100, loaded=False))
        view.cursor = "r1"
        view.action_peek()
        await held.settle()
        assert [message.block_id for message in app.heard] == ["r1"]
        assert "[Old tool result content cleared]" in held.text()
        assert "being fetched" in held.text()
        view.put(
            call("r1", "read", "tests/test_retry.py", seq=2, cleared="14:02", was=6_100, text="1: import")
        )
        await held.settle()
        assert "1: import" in held.text()


async def test_what_is_cleared_before_our_eyes_remembers_what_it_was():
    async with talking(Look(size=(120, 40))) as (app, held):
        view = app.view
        assert "was 1.9k" not in held.text()
        view.set_costs({**COSTS, "b1": Cost(12, "R", ItemState.CLEARED)})
        await held.settle()
        assert "cleared, was 1.9k    0.0k :" in held.text()
        view.set_costs(COSTS)
        await held.settle()
        assert "exit 1  2.3s    1.9k R" in held.text()


async def test_a_boundary_opens_its_summary_on_a_small_screen_too():
    for look in (LOOK, Look(size=(120, 40))):
        async with talking(look) as (app, held):
            view = app.view
            view.cursor = "m3"
            view.action_open()
            await held.settle()
            assert "• three call sites left" in held.text()
            view.action_open()
            await held.settle()
            assert "• three call sites left" not in held.text()


async def test_a_long_prompt_is_folded():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load([block("u", Kind.USER, "\n".join(f"row {n}" for n in range(300)), seq=1, turn=1)])
        await held.settle()
        assert "… 290 more rows  space open" in held.text()
        view.open_block("u")
        assert "row 299" in shown(app)


async def test_all_results_open_and_fold():
    async with talking(LOOK) as (app, _):
        view = app.view
        view.action_open_all()
        assert all(item.opened for item in view.shelf.items if item.block.kind is Kind.TOOL)
        view.action_open_all()
        assert not any(item.opened for item in view.shelf.items)


async def test_the_cursor_goes_from_block_to_block_and_through_tall_ones():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        tall = "\n\n".join(f"paragraph {n}" for n in range(60))
        view.load([*talk(), block("tall", Kind.TEXT, tall, seq=30), block("end", Kind.TEXT, "end", seq=31)])
        view.focus()
        view.action_first()
        await held.settle()
        assert view.cursor == "u1"
        seen = [view.cursor]
        for _ in range(40):
            view.action_cursor(1)
            await held.settle()
            if view.cursor != seen[-1]:
                seen.append(view.cursor)
        assert seen == ["u1", "a1", "r1", "b1", "m3", "c1", "a2", "g1", "e1", "tall", "end"]
        assert held.lines()[-1].startswith("▌")
        view.action_cursor(-1)
        await held.settle()
        assert view.cursor == "tall"
        view.action_last()
        assert view.following


async def test_every_key_of_the_focused_view():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load([*talk(), *later(long_talk(), 100)])
        await held.settle()
        view.focus()
        await held.settle()
        assert view.cursor == "later-a59"
        press = held.pilot.press
        await press("g")
        assert (view.cursor, view.scroll_y) == ("u1", 0)
        await press("j", "down", "j")
        assert view.cursor == "b1"
        await press("space")
        await held.settle()
        assert "AssertionError" in held.text()
        await press("enter")
        await held.settle()
        assert "AssertionError" not in held.text()
        await press("k", "p")
        await held.settle()
        assert view.cursor == "r1"
        assert "[Old tool result content cleared]" in held.text()
        await press("up", "y")
        await held.settle()
        assert app.heard[-1].text == talk()[1].text
        view.search("answer 3")
        here = view.cursor
        await press("n")
        assert view.cursor != here
        await press("N")
        assert view.cursor == here
        before = view.scroll_y
        await press("pagedown")
        assert view.scroll_y > before
        await press("pageup")
        assert view.scroll_y == before
        await press("G")
        await held.settle()
        assert view.following
        assert view.at_end
        assert all(binding.id for binding in view.BINDINGS)


async def test_search_looks_into_what_is_folded_and_goes_round():
    async with talking(LOOK, full=False) as (app, held):
        view = app.view
        view.load([*talk(), *later(long_talk(), 100)])
        await held.settle()
        assert view.search("assertionerror") == 1
        await held.settle()
        assert "E   AssertionError" in held.text()
        assert view.cursor == "b1"
        view.go_end()
        assert view.search("answer 1") == 11
        await held.settle()
        assert view.cursor == "later-a19"
        view.action_found(1)
        assert view.cursor == "later-a1"
        view.action_found(-1)
        assert view.cursor == "later-a19"
        assert view.search("nowhere to be found") == 0
        assert view.search("") == 0


async def test_archived_turns_are_dimmed_and_say_that_they_are_not_sent():
    async with talking(LOOK) as (app, held):
        before = held.colours(1)
        app.view.set_archived({"m1", "m2"})
        await held.settle()
        after = held.colours(1)
        assert held.lines()[1].rstrip().endswith("0.0k :")
        assert before[1][1] != after[1][1]


async def test_running_calls_show_their_seconds():
    now = 5_000.0
    view = Conversation(clock=lambda: now)
    app = Talk(view)

    async with frame(lambda: app, LOOK) as held:
        view.load([call("x", "bash", "sleep 9", seq=1, phase=Phase.RUNNING, started=1_000)])
        await held.settle()
        assert "running  4s" in held.text()
        now = 8_200.0
        view._tick()
        await held.settle()
        assert "running  7s" in held.text()
