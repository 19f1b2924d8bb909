"""Text that is still being written: at every moment what is on show is right, at the end it is the whole."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from qiming_tui.model.sanitize import clean
from qiming_tui.tui.blocks import Kind
from qiming_tui.tui.glyphs import FULL
from qiming_tui.tui.widgets.conversation.engine import load_engine
from qiming_tui.tui.widgets.conversation.looks import NAMES, PREFIX, Looks
from qiming_tui.tui.widgets.conversation.stream import FENCE_LINES, LIST_ITEMS, Stream, shown_until
from tests.tui.frames import Look
from tests.tui.talks import block, talk
from tests.tui.test_conversation import talking

ENGINE = load_engine()
LOOKS = Looks({name.removeprefix(PREFIX): Style() for name in NAMES}, FULL, plain=False, compact=False)
GUTTER = Segment("  ")

CODE = "\n".join(f"    value_{n} = '''{n}'''  # line {n}" for n in range(FENCE_LINES * 2))
LIST = "\n".join(f"{n}. item *{n}* of many" for n in range(1, LIST_ITEMS * 2))
DOCUMENT = f"""# Title

A paragraph with `code`, **bold** and [a link](https://example.org), long enough to be wrapped at sixty cells.
Second line of it: 中文没有空格也要换行，标点不在行首。

```python
{CODE}
```

{LIST}

| a | b |
|---|--:|
| one | 1 |
| two | 22 |

> quote
> goes on

~~~
tilde
~~~

- a
  - b

Last words.
"""


def texts(lines):
    return ["".join(part.text for part in line.segments).rstrip() for line in lines]


def whole(text, width=60):
    lines = texts(ENGINE.whole(text, width=width, looks=LOOKS, gutter=GUTTER).lines)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def flush(stream, width=60):
    return stream.flush(ENGINE, width=width, looks=LOOKS, gutter=GUTTER)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, len(DOCUMENT) - 1), max_size=25), st.sampled_from([24, 60, 100]))
def test_wherever_the_text_is_cut_the_rows_are_those_of_the_whole(cuts, width):
    stream = Stream()
    at = 0
    before: list[str] = []
    for cut in sorted({*cuts, len(DOCUMENT)}):
        stream.feed(DOCUMENT[at:cut])
        first = flush(stream, width)
        now = texts(stream.lines)
        assert now[:first] == before[:first]
        before, at = now, cut
    assert stream.source == DOCUMENT
    assert before == whole(DOCUMENT, width)


def test_what_is_finished_is_not_rendered_again():
    stream = Stream()
    firsts = []
    for line in DOCUMENT.splitlines(keepends=True):
        stream.feed(line)
        firsts.append(flush(stream))
    assert sum(after < before for before, after in pairwise(firsts)) <= 1  # when a long fence is closed
    assert firsts[-1] > len(stream.lines) - 6
    inside = [first for first, line in zip(firsts, DOCUMENT.splitlines(), strict=True) if "value_" in line]
    assert len(set(inside[FENCE_LINES + 2 :])) == len(inside[FENCE_LINES + 2 :])


@pytest.mark.parametrize("mark", ["`", "``", "```", "```py", "~~~", "|", "| a |", "- ", "#", "1.", "---"])
def test_an_unfinished_line_that_may_become_something_else_is_held_back(mark):
    """Cases C-118."""
    text = f"words\n\n{mark.rstrip()}"
    assert text[: shown_until(text)] == "words\n\n"


def test_a_table_is_held_back_until_it_is_one():
    assert shown_until("words\n\n| a | b |\n") == len("words\n\n")
    text = "| a | b |\n|---|---|\n"
    assert shown_until(text) == len(text)
    assert shown_until("plain `code` here") == len("plain `code` here")


def test_another_width_in_the_middle_loses_and_doubles_nothing():
    stream = Stream()
    half = DOCUMENT.index("value_30")
    stream.feed(DOCUMENT[:half])
    flush(stream)
    stream.restart()
    flush(stream, 40)
    stream.feed(DOCUMENT[half:])
    flush(stream, 40)
    assert texts(stream.lines) == whole(DOCUMENT, 40)


def test_without_the_engine_the_text_stands_as_it_was_written():
    stream = Stream()
    stream.feed("# a\n\n*b*")
    stream.flush(None, width=60, looks=LOOKS, gutter=GUTTER)
    assert texts(stream.lines) == ["  # a", "", "  *b*"]


async def test_deltas_are_shown_and_the_end_replaces_them():
    async with talking(Look(size=(80, 24)), full=False) as (app, held):
        view = app.view
        view.load([block("u", Kind.USER, "go", seq=1, turn=1)])
        view.put(block("a", Kind.TEXT, "", seq=2, live=True))
        for word in ("one ", "two ", "**three", "** four"):
            view.delta("a", word)
        view.flush()
        await held.settle()
        assert "one two three four" in held.text()
        assert "~0.0k A" in held.text()
        view.put(block("a", Kind.TEXT, "one two **three** four five", seq=2))
        await held.settle()
        assert held.text().count("one two") == 1
        assert "four five" in held.text()
        view.delta("a", "late")
        view.flush()
        assert "late" not in held.text()


async def test_text_that_was_streamed_before_the_block_is_told_again_is_kept():
    async with talking(Look(size=(80, 24)), full=False) as (app, held):
        view = app.view
        view.put(block("a", Kind.TEXT, "", seq=2, live=True))
        view.delta("a", "streamed words")
        view.put(block("a", Kind.TEXT, "", seq=2, live=True))
        view.flush()
        view.finish("a")
        await held.settle()
        assert held.text().count("streamed words") == 1


async def test_c_127_resize_in_mid_stream_every_line_once_and_the_end_is_followed():
    lines = [f"line number {n} of the answer" for n in range(200)]
    async with talking(Look(size=(120, 40)), full=False) as (app, held):
        view = app.view
        view.load([*talk(), block("a", Kind.TEXT, "", seq=20, live=True)])
        for index, line in enumerate(lines):
            view.delta("a", f"{line}\n\n")
            if index in {60, 120}:
                view.flush()
                await held.pilot.resize_terminal(*((40, 12) if index == 60 else (120, 40)))
                await held.settle()
                assert view.following
        view.flush()
        await held.settle()
        item = view.shelf.get("a")
        assert item is not None
        shown = [line.text for line in item.lines if line.text]
        assert shown == lines
        assert lines[-1] in held.text()
        view.finish("a")
        await held.settle()
        assert [line.text for line in item.lines if line.text] == lines


async def test_c_128_keys_are_dealt_with_under_five_thousand_chunks():
    async with talking(Look(size=(120, 40)), full=False) as (app, held):
        view = app.view
        view.put(block("a", Kind.TEXT, "", seq=20, live=True))
        flushes = 0
        original = view.flush

        def counted():
            nonlocal flushes
            flushes += 1
            original()

        view.flush = counted
        for index in range(5_000):
            view.delta("a", f"w{index} ")
            if index % 500 == 0:
                await asyncio.sleep(0)
        counted()
        await held.settle()
        assert flushes < 100
        assert "w4999" in held.text()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, len(DOCUMENT) - 1), max_size=10), st.booleans())
def test_the_end_of_a_stream_is_what_a_whole_rendering_gives(cuts, newline):
    text = DOCUMENT.replace(LIST, "1. one\n2. two") if newline else DOCUMENT.replace(LIST, "- x\n").rstrip()
    stream = Stream()
    at = 0
    for cut in sorted({*(min(cut, len(text)) for cut in cuts), len(text)}):
        stream.feed(text[at:cut])
        at = cut
        flush(stream)
    sealed = stream.seal(ENGINE, width=60, looks=LOOKS, gutter=GUTTER)
    expected = ENGINE.whole(text, width=60, looks=LOOKS, gutter=GUTTER)
    assert sealed is not None
    assert texts(sealed.lines) == texts(expected.lines)
    assert [line[1:] for line in sealed.lines] == [line[1:] for line in expected.lines]
    assert sealed.pieces == expected.pieces
    assert sealed.cost_row == expected.cost_row


@pytest.mark.parametrize(("between", "exact"), [("\n", True), ("\n\n", False)])
def test_a_long_list_is_complete_when_it_was_set_tight(between, exact):
    text = between.join(f"- item {n}" for n in range(LIST_ITEMS * 3)) + "\n\nwords\n"
    stream = Stream()
    for at in range(0, len(text), 50):
        stream.feed(text[at : at + 50])
        flush(stream)
    sealed = stream.seal(ENGINE, width=60, looks=LOOKS, gutter=GUTTER)
    assert (sealed is not None) == exact
    if sealed is not None:
        assert texts(sealed.lines) == texts(ENGINE.whole(text, width=60, looks=LOOKS, gutter=GUTTER).lines)


def test_links_that_are_defined_at_the_end_need_the_whole():
    stream = Stream("see [it][1]\n\nwords\n\n[1]: https://example.org\n")
    flush(stream)
    assert stream.seal(ENGINE, width=60, looks=LOOKS, gutter=GUTTER) is None


async def test_c_131_a_sequence_that_is_cut_between_two_pieces_is_never_painted():
    async with talking(Look(size=(80, 24)), full=False) as (app, held):
        view = app.view
        view.put(block("s", Kind.TEXT, "", seq=9, live=True))
        for piece in ("x\x1b", "]52;c;aG", "k=\x07y\x9b", "31mz [/\n\n```\ncode \x1b[31m\n"):
            view.delta("s", piece)
            view.flush()
            await held.settle()
            assert not any(char in held.text() for char in "\x1b\x07\x9b")
        assert "xyz [/" in held.text()
        whole = "x\x1b]52;c;aGk=\x07y"
        view.put(block("s", Kind.TEXT, "xy", seq=9, removed=clean(whole)[1]))
        await held.settle()
        assert "1 control sequence removed" in held.text()
