"""The conversation in every size and look: nothing is said by colour alone, nothing is lost at the edge."""

import msgspec
from rich.cells import cell_len

from qiming_tui.tui.blocks import Cost, Kind
from qiming_tui.tui.toolrow import Phase
from qiming_tui.tui.widgets.conversation import Conversation
from qiming_tui.tui.widgets.conversation.reader import NEW_BELOW
from tests.tui.frames import Look, each_look, frame
from tests.tui.talks import COSTS, FACTS, Talk, block, call, shown, talk

ZH = "把不稳定的重试测试修好，并解释为什么会发生竞争。时钟应当由外部传入，这样测试就可以手动推进时间。"
MORE = """## Was sich änderte

1. **bold** and *italic* and ~~gone~~ with `code`, see [docs](https://example.org)

| 文件 | lines |
|------|------:|
| src/重试.py | 12 |

```python
def f(value: int) -> str:  # a very long line of code that does not fit into any of the narrow screens here
    return "x"
```
"""


def scene(look: Look):
    """The talk of the pictures and everything else that can stand in it."""
    blocks = [
        *talk(),
        block("u9", Kind.USER, ZH if look.zh else "Now the rest.", seq=9, turn=13),
        block("t9", Kind.THINKING, "Let me see.\nThen act.", seq=10),
        block("a9", Kind.TEXT, MORE if not look.zh else f"{ZH}\n\n{MORE}", seq=10, part=1),
        call(
            "w9", "write", "测试/备份.py" if look.zh else "tests/b.py", seq=10, part=2, phase=Phase.STREAMING
        ),
        call("x9", "bash", "rm -rf x", seq=10, part=3, phase=Phase.WAITING, started=0),
        call("y9", "bash", "make", seq=10, part=4, phase=Phase.RUNNING, started=0),
        block("n9", Kind.NOTE, "the provider is overloaded", seq=11, failed=True),
    ]
    return blocks, {**COSTS, "u9": Cost(100, "U"), "t9": Cost(50, "A"), "a9": Cost(12_340, "A", pinned=True)}


async def view_in(look: Look, held, app):
    blocks, costs = scene(look)
    app.view.load(blocks)
    app.view.set_costs(costs)
    app.view.set_boundary("m3", FACTS)
    while not app.view.ready:
        await held.settle()
    await held.settle()


def app_in(look: Look) -> Talk:
    view = Conversation()
    view.glyphs = look.glyph_set
    return Talk(view)


async def says_everything(held, look):
    app = held.app
    await view_in(look, held, app)
    assert all(cell_len(line) == look.size[0] for line in held.lines())
    text = shown(app)
    width = app.view.shelf.width
    for place, item in enumerate(app.view.shelf.items):
        for row in range(item.height):
            assert app.view.row_strip(place, row).cell_length == width
    for figure in ("0.1k U", "0.6k A", "0.0k :", "1.9k R", "0.9k A", "12.3k A"):
        assert figure in text
    glyphs = look.glyph_set
    for sign, name in ((glyphs.failed, "bash"), (glyphs.cleared, "read"), (glyphs.ok, "grep")):
        assert f"{sign} {name}" in text
    for sign, name in ((glyphs.running, "write"), (glyphs.waiting, "bash"), (glyphs.running, "bash")):
        assert f"{sign} {name}" in text
    assert "C1 auto" in text
    assert f"{glyphs.edge} T13" in text
    for mark in ("`code`", "## Was sich", "~~gone~~"):
        assert (mark in text) is look.no_color


async def test_every_look_says_everything():
    await each_look(Talk, says_everything)


async def frames(look: Look) -> str:
    async with frame(lambda: app_in(look), look) as held:
        app = held.app
        await view_in(look, held, app)
        return shown(app)


async def test_light_and_dark_say_the_same_and_no_colour_says_no_less():
    dark = await frames(Look())
    assert dark == await frames(Look(theme="qiming-light"))
    mono = await frames(Look(no_color=True))
    for mark in ("`", "~~", "## "):
        mono = mono.replace(mark, "")
    words = mono.split()
    assert [word for word in dark.replace("`", "").split() if word not in words] == []


def channels(colour):
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def near(colour, wanted):
    """Whether two colours are the same but for rounding."""
    return all(abs(a - b) <= 2 for a, b in zip(channels(colour), channels(wanted), strict=True))


def mixed(colour, share, page="#0f1218"):
    """A colour mixed into the page."""
    pairs = zip(channels(colour), channels(page), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


async def test_another_theme_repaints_what_is_there():
    app = Talk()
    async with frame(lambda: app, Look()) as held:
        await view_in(Look(), held, app)
        app.view.scroll_to(y=0)
        await held.settle()
        dark = held.colours(1)
        app.theme = "qiming-light"
        await held.settle()
        light = held.colours(1)
    assert [part[0] for part in dark] == [part[0] for part in light]
    assert dark[1][1:] != light[1][1:]
    assert near(light[1][1], "#464cc2")
    assert near(light[-1][2], "#fbfaf7")


async def test_what_is_found_selected_and_new_is_seen_without_colours():
    look = Look(size=(80, 24), no_color=True)
    async with frame(lambda: app_in(look), look) as held:
        app = held.app
        await view_in(look, held, app)
        app.view.search("helper")
        app.view.scroll_to(y=0)
        await held.settle()
        app.view.put(block("z", Kind.TEXT, "late", seq=90))
        await held.settle()
        assert not app.view.following
        assert NEW_BELOW in held.lines()[-1]
        strips = app.screen._compositor.render_strips()
        reversed_words = [s.text for strip in strips for s in strip if s.style and s.style.reverse]
    assert "helper" in reversed_words
    assert NEW_BELOW in reversed_words


async def test_the_colours_are_those_of_the_picture():
    app = Talk()
    async with frame(lambda: app, Look(size=(120, 40))) as held:
        await view_in(Look(), held, app)
        app.view.scroll_to(y=0)
        await held.settle()
        parts = {text.strip(): (ink, tone) for y in range(22) for text, ink, tone in held.colours(y)}
    for words, ink in (
        ("T12", "#9da9ff"),
        ("setUp", "#7fb4c9"),
        ("exit 1", "#f0736a"),
        ("→", "#f0703a"),
        ("U", "#0b0d11"),
        ("time.sleep(delay)", "#d9dde6"),
    ):
        assert near(parts[words][0], ink), words
    assert near(parts["time.sleep(delay)"][1], mixed("#f2a071", 0.15))
    assert near(parts["self.clock.sleep(delay)"][1], mixed("#7cc4f0", 0.16))
    assert near(parts["U"][1], mixed("#f0e442", 0.8))
    assert near(parts["R"][1], mixed("#e69f00", 0.8))


async def test_facts_of_a_compaction_under_way_failed_and_undone():
    app = Talk()
    async with frame(lambda: app, Look(size=(120, 40))) as held:
        await view_in(Look(), held, app)
        view = app.view
        for facts, words in (
            ({"running": "compacting"}, " compacting "),
            ({"failed": "the model returned no text; the history stays"}, "the model returned no text"),
            ({"undone": True}, "C1 auto undone step 27"),
            ({"rough": True}, "171.2k → ~24.3k"),
        ):
            view.set_boundary("m3", msgspec.structs.replace(FACTS, **facts))
            assert words in shown(app)
