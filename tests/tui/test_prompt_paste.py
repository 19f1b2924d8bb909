"""Pastes: harmless, folded when long, sent in full (cases C-121, C-122)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from qiming_tui.tui.paste import Draft, Paste, is_long, short
from tests.tui.desk import Desk

LONG = "".join(f"line {number}\n" for number in range(212))


def _terminal(data: str) -> list[events.Paste]:
    return [event for event in XTermParser().feed(data) if isinstance(event, events.Paste)]


async def test_c_121_a_bracketed_paste_of_two_lines_sends_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        (event,) = _terminal("\x1b[200~a\nb\x1b[201~")
        app.post_message(event)
        await pilot.pause()
        await pilot.pause()
        assert app.prompt.text == "a\nb"
        assert app.prompt.document.line_count == 2
        assert not app.told


async def test_c_122_control_sequences_go_and_line_ends_are_ours() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste("a\x1b]52;c;aGk=\x07b\x9b31mc\r\nd\te\x00\x1b]unterminated")
        await pilot.pause()
        assert app.prompt.text == "abc\nd\teunterminated"
        assert "4 control sequences" in app.bar.note.hint


async def test_c_122_a_long_paste_is_a_chip_and_is_sent_in_full() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("see ")
        app.prompt.paste(LONG.replace("\n", "\r\n"))
        app.prompt.write(" please")
        await pilot.pause()
        assert app.prompt.text == f"see [paste #1 212 lines ~{short(Draft(LONG).tokens())} tok] please"
        await pilot.press("enter")
        await pilot.pause()
        assert app.of("sent") == [(f"see {LONG} please", False)]


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("x\n" * 15, False),
        ("x\n" * 16, True),
        ("x" * 1_000, False),
        ("x" * 1_001, True),
    ],
)
def test_the_threshold_is_over_15_lines_or_1000_characters(text: str, long: bool) -> None:
    assert is_long(text) is long
    assert not is_long(text, max_lines=0, max_chars=0)


async def test_a_chip_is_passed_over_and_deleted_as_a_whole() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("a")
        app.prompt.paste(LONG)
        end = app.prompt.cursor_location
        await pilot.press("left")
        assert app.prompt.cursor_location == (0, 1)
        await pilot.press("right")
        assert app.prompt.cursor_location == end
        await pilot.press("backspace")
        assert app.prompt.text == "a"
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert app.prompt.draft.full == "a" + LONG


async def test_what_is_typed_inside_a_chip_comes_after_it() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste(LONG)
        app.prompt.move_cursor((0, 5))
        await pilot.press("!")
        await pilot.pause()
        assert app.prompt.draft.full == LONG + "!"


async def test_a_deletion_that_touches_a_chip_takes_all_of_it() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("word ")
        app.prompt.paste(LONG)
        await pilot.press("ctrl+w")
        await pilot.pause()
        assert app.prompt.text == "word "


async def test_ctrl_o_opens_the_chip_and_so_does_the_same_paste_again() -> None:
    for again in (False, True):
        app = Desk()
        async with app.run_test() as pilot:
            app.prompt.paste(LONG)
            if again:
                app.prompt.paste(LONG)
            else:
                await pilot.press("ctrl+o")
            await pilot.pause()
            assert app.prompt.text == LONG
            assert not app.told


async def test_ctrl_o_without_a_chip_is_the_applications() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+o")
        await pilot.pause()
        assert app.of("command") == [("expand", "")]


async def test_a_megabyte_is_pasted_without_a_stall_of_the_text_area() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.paste("0123456789abcde\n" * 65_536)
        await pilot.pause()
        assert app.prompt.document.line_count == 1
        assert "65,536 lines" in app.prompt.text
        assert len(app.prompt.draft.full) == 1_048_576


def test_a_text_that_only_looks_like_a_chip_stays_as_it_is() -> None:
    paste = Paste(1, "secret", 2)
    other = "[paste #1 9 lines ~0.0k tok]"
    draft = Draft(f"{other} {paste.label} [paste #2 1 line ~0.0k tok]", (paste,))
    assert draft.full == f"{other} secret [paste #2 1 line ~0.0k tok]"
    assert draft.chips(draft.text) == [(len(other) + 1, len(other) + 1 + len(paste.label), paste)]


@given(st.lists(st.one_of(st.text(max_size=20), st.integers(1, 3)), max_size=8))
def test_expansion_is_exact_and_happens_once(parts: list[str | int]) -> None:
    pastes = {n: Paste(n, f"<{n}>\n[paste #1 1 line ~0.0k tok]", 7) for n in (1, 2, 3)}
    text = "".join(pastes[part].label if isinstance(part, int) else part for part in parts)
    wanted = "".join(pastes[part].text if isinstance(part, int) else part for part in parts)
    draft = Draft(text, tuple(pastes.values()))
    assert draft.full == wanted
    assert draft.trimmed().full == wanted


def test_tokens_count_a_paste_once_and_the_rest_as_it_is_typed() -> None:
    paste = Paste(1, "x" * 4_000, 1_000)
    draft = Draft(f"abcd{paste.label}efgh", (paste,))
    assert draft.tokens(len) == 1_008
    assert Draft("abcd", (paste,)).tokens(len) == 4


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, "0.0k"), (49, "0.0k"), (3_100, "3.1k"), (999_949, "999.9k"), (1_200_000, "1.2M")],
)
def test_tokens_in_words(tokens: int, words: str) -> None:
    assert short(tokens) == words
