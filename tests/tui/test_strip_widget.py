"""The strip on a screen: rows, cursor, keys, mouse; nothing is told by colour alone."""

import msgspec
from rich.cells import cell_len

from qiming_tui.context.strip import StepEvent, marks_of
from qiming_tui.tui.glyphs import ASCII
from qiming_tui.tui.widgets.timeline_strip import TimelineStrip
from tests.tui.frames import Bench, Frame, Look, each_look, frame
from tests.tui.strips import marks, row, sized

STYLES = ("base", "dialogs")


class StripBench(Bench):
    """Hears what the strip posts."""

    def on_timeline_strip_jump(self, message):
        self.heard.append((message.step, message.message_id))


def held(look, found=None):
    strip = TimelineStrip()
    strip.show(marks() if found is None else found)

    def make():
        strip.glyphs = look.glyph_set
        return StripBench(strip, styles=STYLES)

    return strip, frame(make, look)


async def whole_rows(shown: Frame, look: Look) -> None:
    strip = shown.app.query_one(TimelineStrip)
    width, height = look.size
    rows = shown.lines()[: strip.size.height]
    assert len(rows) == (0 if height < 16 else 4 if height >= 30 else 3)
    assert all(cell_len(line) == width for line in rows)
    if not rows:
        return
    line = "|" if look.glyphs == "ascii" else "│"
    assert f"Z{line}112233444566755555" in rows[1]
    assert f"C{line}" in rows[2]
    assert "step 47/47" in rows[0]
    if width >= 80:
        assert "live 30-47" in rows[1]
        assert "P prune  C compact" in rows[2]
    assert shown.app.no_color is look.no_color
    if look.glyphs == "ascii":
        assert "".join(rows).isascii()


async def test_every_size_and_look_is_whole_rows_with_the_same_signs():
    def make():
        found = TimelineStrip()
        found.show(marks())
        return StripBench(found, styles=STYLES)

    await each_look(make, whole_rows)


async def test_at_80x24_it_is_as_in_the_picture():
    _, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        assert shown.lines()[:3] == [
            "─ [t] timeline tenths of usable ────────────────────────────── step 47/47  T12 ─",
            " ctx/10   123344556675567788967788999!Z│112233444566755555  live 30-47".ljust(80),
            " event    ···········P·······P·······!C│·············P···▲  P prune  C compact".ljust(80),
        ]


async def test_keys_move_the_cursor_and_enter_jumps():
    strip, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        strip.focus()
        steps = []
        for key in ("h", "left", "l", "[", "[", "[", "]", "{", "}", "0", "l", "right", "$"):
            await shown.pilot.press(
                {"[": "left_square_bracket", "]": "right_square_bracket"}.get(
                    key,
                    {"{": "left_curly_bracket", "}": "right_curly_bracket", "$": "dollar_sign"}.get(key, key),
                )
            )
            steps.append(strip.cursor)
        assert steps == [46, 45, 46, 43, 29, 28, 29, 25, 29, 1, 2, 3, None]
        await shown.pilot.press("g", "2", "9", "enter")
        assert strip.cursor == 29
        await shown.pilot.press("enter")
        await shown.settle()
        assert shown.app.heard == [(29, "msg_29")]


async def test_going_to_a_step_can_be_left_and_ends_with_any_other_key():
    strip, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        strip.focus()
        await shown.pilot.press("g", "3")
        assert "go to step 3" in shown.lines()[0]
        await shown.pilot.press("backspace", "escape")
        assert (strip.going, strip.cursor) == (None, None)
        await shown.pilot.press("g", "3", "h")
        assert (strip.going, strip.cursor) == (None, 46)
        await shown.pilot.press("g", "9", "9", "9", "enter")
        assert strip.cursor is None, "beyond the end is the end, and following it"
        await shown.pilot.press("1", "2", "enter")
        assert strip.cursor == 12, "the number alone will do"


async def test_the_cursor_follows_the_newest_step_until_it_is_moved():
    strip, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        strip.show([*marks(), msgspec.structs.replace(marks()[-1], step=48)])
        await shown.settle()
        assert "step 48/48" in shown.lines()[0]
        strip.focus()
        await shown.pilot.press("h")
        strip.show(marks())
        await shown.settle()
        strip.blur()
        await shown.settle()
        assert "step 47/47" in shown.lines()[0]
        strip.show(marks(), cursor=12)
        await shown.settle()
        assert "step 12/47" in shown.lines()[0]


async def test_the_read_out_takes_the_rules_place_only_with_the_focus_and_no_row_moves():
    strip, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        before = shown.lines()[1:]
        strip.cursor = 28
        strip.focus()
        await shown.settle()
        assert shown.lines()[0].startswith("─ step 28  T7  ~171.2k 102%  ! over by 3.2k  grew +11.6k ")
        assert [line[:50] for line in shown.lines()[3:]] == [line[:50] for line in before[2:]]


async def test_without_colour_the_cursor_is_a_sign_and_its_event_is_in_the_read_out():
    strip, opened = held(Look(size=(120, 40), no_color=True, glyphs="ascii"))
    async with opened as shown:
        strip.show(marks(), cursor=29)
        await shown.settle()
        rows = shown.lines()
        assert rows[2][10 + 28] == ASCII.cursor
        assert rows[3].startswith(" step 29  T8  C C1 auto 171.2k -> 24.3k")


async def test_with_colour_the_event_under_the_cursor_stays():
    strip, opened = held(Look(size=(120, 40)))
    async with opened as shown:
        strip.show(marks(), cursor=29)
        await shown.settle()
        assert shown.lines()[2][10 + 28] == "C"
        assert ("C", "#0f1218", "#9da9ff") in shown.colours(2)


async def test_a_click_moves_the_cursor_and_one_on_it_jumps():
    strip, opened = held(Look(size=(80, 24)))
    async with opened as shown:
        await shown.pilot.click(strip, offset=(10 + 11, 1))
        assert strip.cursor == 12
        await shown.pilot.click(strip, offset=(10 + 29, 1))
        assert strip.cursor == 12, "the line is no step"
        await shown.pilot.click(strip, offset=(10 + 11, 2))
        await shown.settle()
        assert shown.app.heard == [(12, "msg_12")]
        await shown.pilot.hover(strip, offset=(10 + 27, 1))
        assert "171,204 tokens of 168,000 usable" in str(strip.tooltip)


async def test_a_long_history_scrolls_with_the_cursor():
    found = marks_of([row(step, sized(str(step % 10))) for step in range(1, 501)], [])
    strip, opened = held(Look(size=(80, 24)), found)
    async with opened as shown:
        assert shown.lines()[1].startswith(" ctx/10  <")
        strip.focus()
        await shown.pilot.press("0")
        assert shown.lines()[1].startswith(" ctx/10   1234567890")
        assert ">" in shown.lines()[1]
        await shown.pilot.press("g", "2", "5", "0", "enter")
        assert shown.lines()[0].startswith("─ step 250  ")


async def test_what_comes_from_outside_is_literal():
    hostile = [StepEvent("x", "failed: [/] [b]bold"), StepEvent("m", "model [link=x]y")]
    found = [msgspec.structs.replace(marks()[0], events=tuple(hostile))]
    _, opened = held(Look(size=(120, 40)), found)
    async with opened as shown:
        assert "failed: [/] [b]bold" in shown.text()
        assert "model [link=x]y" in shown.text()


async def test_no_step_yet():
    strip, opened = held(Look(size=(80, 24)), ())
    async with opened as shown:
        assert "no step yet" in shown.lines()[1]
        strip.focus()
        await shown.pilot.press("h", "g", "enter", "right_square_bracket", "0", "dollar_sign")
        await shown.settle()
        assert shown.app.heard == []


async def test_where_it_is_not_shown_it_takes_no_focus():
    strip, opened = held(Look(size=(40, 12)))
    async with opened as shown:
        await shown.pilot.press("tab")
        assert not strip.has_focus
