"""The inspector's five tabs on a small session, in every size and look; its keys."""

import json

import msgspec
from rich.cells import cell_len

from qiming_tui.context.past_request import Shown
from qiming_tui.model.edits import Edit, EditKind
from qiming_tui.model.errors import QimingError
from qiming_tui.model.limits import Price
from qiming_tui.model.window import Keep, Klass, PartFate, PrunePlan
from qiming_tui.tui.picture import picture
from qiming_tui.tui.screens.inspector import TABS, InspectorScreen
from qiming_tui.tui.widgets.inspector.page import Head, shares, wrapped
from qiming_tui.tui.widgets.inspector.pages import AGES, Sieve, sifted
from qiming_tui.tui.widgets.inspector.source import Source
from tests.context.inspected import LIMITS, SETTINGS, SYSTEM, compacted, grown, item, step
from tests.tui.frames import Bench, Frame, Look, each_look, frame, looks
from tests.tui.snapshots import same

NAMES = {
    "u1": "T1 you: Fix the flaky retry test",
    "r1": "T1 read src/retry/backoff.py",
    "r2": "T1 bash pytest -x 修复不稳定的测试",
    "s": "summary",
}


class Past:
    """A session that is only values; it counts what it is asked for."""

    settings = SETTINGS
    limits = LIMITS
    price = Price(3.0, 15.0, 0.3, 3.75)
    by_user: frozenset[str] = frozenset()
    edits = (
        Edit(
            id="e",
            session_id="s",
            seq=1,
            group="g",
            kind=EditKind.COMPACT,
            targets=("c",),
            by="auto",
            at=4_500,
        ),
    )

    def __init__(self) -> None:
        self.asked: list[str] = []

    def names(self):
        return NAMES

    async def request(self, step):
        self.asked.append(f"request {step.row.step}")
        if step.row.step == 1:
            raise QimingError("step 1: the rebuilt request has hash 12, the one that was sent 34")
        return Shown(step=step, items=(), body={"messages": ["[b]as it is\x1b[31m"]}, hash="ab" * 32)

    async def plan(self, step):
        self.asked.append(f"plan {step.row.step}")
        fate = PartFate(part_id="r1", tool="read", tokens=41_450, reason=Keep.PROTECTED_TURN)
        return PrunePlan(fates=(fate,), tokens=0, candidates_tokens=0)

    async def sizes(self):
        return {}


class Page(Bench):
    """Nothing but the inspector; what it was dismissed with is kept."""

    def __init__(self, steps=None, **options) -> None:
        super().__init__(styles=("base", "dialogs", "prompt", "inspector"))
        self.past = Past()
        self.copied: list[str] = []

        async def copy(text: str) -> None:
            self.copied.append(text)

        self.inspector = InspectorScreen(Source(self.past, tuple(steps or compacted())), copy=copy, **options)

    def on_mount(self) -> None:
        self.push_screen(self.inspector, self.heard.append)


EXPECTED = {
    "request": ("41,450", "hash"),
    "diff": ("step 2", "41,450"),
    "why": ("85,100", "TRUE"),
    "whatif": ("backtest", "recorded"),
    "cache": ("read 0", "hit"),
}


ALL = [str(look) for look in looks()]


async def whole_pages(shown: Frame, look: Look) -> None:
    """A tab in a look, so that every size and every look has each of them once."""
    assert isinstance(shown.app, Page)
    place = ALL.index(str(look))
    name = TABS[(place // len(TABS) + place) % len(TABS)]
    shown.app.inspector.action_tab(name)
    shown.app.inspector.show()
    await shown.settle()
    await shown.app.workers.wait_for_complete()
    await shown.settle()
    rows, text = shown.lines(), shown.text()
    width, height = look.size
    assert len(rows) == height
    assert all(cell_len(row) == width for row in rows)
    assert rows[0].startswith(" inspector  step 3")
    title = {"whatif": "What-if"}.get(name, name.capitalize())
    assert f"[{title}]" in rows[1], "the tab is told from the others without colours too"
    for words in EXPECTED[name]:
        assert words in text, f"{name}: {words}\n{text}"
    if look.glyphs == "ascii":
        assert all(sign.isascii() or "一" <= sign <= "龥" for sign in text), text


async def test_every_tab_in_every_size_and_look():
    await each_look(lambda: Page(place=2), whole_pages, looks()[::2])


async def test_keys_step_sort_filter_open_and_leave(tmp_path):
    async with frame(lambda: Page(place=2), Look(size=(120, 40))) as shown:
        app = shown.app
        assert isinstance(app, Page)

        async def press(*keys: str) -> str:
            await shown.pilot.press(*keys)
            await shown.settle()
            await app.workers.wait_for_complete()
            await shown.settle()
            return shown.text()

        assert "hash abababababababab checked: exactly as sent, rebuilt from the ledger" in await press(
            "home"
        )
        assert app.past.asked == ["request 3"], "only the tab that is seen is made"
        text = await press("s")
        assert text.index("T1 bash pytest") < text.index("system:0"), "by size"
        text = await press("c", "m", "m")
        assert "1 of 4 items" in text or "0 of 4 items" in text
        await press(*["c"] * 7, "m", "m")
        text = await press("enter")
        assert "as it is" in text
        assert "\x1b" not in app.inspector.raw.text
        await press("y", "escape")
        assert json.loads(app.copied[0])["messages"]
        text = await press("tab", "tab")
        assert "Why did step 3 compact?" in text
        assert "85,100 >= 80,000 TRUE, 5,100 over" in text
        assert "keep: one of the last two turns - T1 read src/retry/backoff.py" in text
        same("inspector-120x40", picture(app, "inspector"), beside=tmp_path)
        text = await press("left")
        assert "Why did step 2 not compact?" in text
        assert "43,650 >= 80,000 FALSE, 36,350 short" in text
        text = await press("left", "1")
        assert "step 1: the rebuilt request has hash 12, the one that was sent 34" in text
        text = await press("right_curly_bracket", "2")
        assert "cache breaks at item 1" in text
        text = await press("e", *"context 200k", "enter")
        assert "context 200k" in text
        assert "180.0k" in text
        assert "gap 0" in text
        await press("e", *"nonsense", "enter")
        assert app.inspector.has_class("-typing")
        text = await press("escape", "5")
        assert "compaction" in text
        await press("1", "home", "down", "x")
        assert app.heard == [("clear", "s")]


async def test_two_thousand_items_are_opened_at_once_and_only_when_they_are_seen():
    many = [SYSTEM, *(item(f"r{n}:result", Klass.RESULT, n, source="read") for n in range(2_000))]
    async with frame(lambda: Page(steps=[step(2, *many)], tab="why"), Look(size=(80, 24))) as shown:
        app = shown.app
        assert isinstance(app, Page)
        await app.workers.wait_for_complete()
        assert app.inspector.table.row_count < 40
        await shown.pilot.press("1")
        await shown.settle()
        await app.workers.wait_for_complete()
        await shown.settle()
        assert app.inspector.table.row_count < 500, "what is far below costs nothing yet"
        await shown.pilot.press("end")
        await shown.settle()
        assert "~1,999" in shown.text()


def test_items_are_sifted_by_class_size_and_age():
    rows = grown(3)[-1].manifest
    assert len(sifted(rows, Sieve())) == len(rows)
    assert {row.klass for _, row in sifted(rows, Sieve(klass="R"))} == {Klass.RESULT}
    assert all(row.tokens >= 5_000 for _, row in sifted(rows, Sieve(least=5_000)))
    last = sifted(rows, Sieve(age=AGES[1]))
    older = sifted(rows, Sieve(age=AGES[2], sort="newest"))
    assert [row.key for _, row in last] == ["u3:0", "a3:call", "r3:result"]
    assert len(last) + len(older) == len(rows)
    assert older[0][0] == len(rows) - 4


def test_columns_give_way_from_the_right_and_words_are_wrapped():
    heads = (Head("#", 5), Head("cl", 2), Head("what"), Head("state", 16))
    assert shares(heads, 120) == (5, 2, 120 - 23 - 8, 16)
    assert shares(heads, 30) == (5, 2, 30 - 7 - 6, 0)
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("\x1b[31mred\nrow", 20) == ["red row"]


def test_an_imported_step_is_marked_as_reconstructed():
    past = [msgspec.structs.replace(one, rebuilt=True) for one in compacted()]
    assert all(one.mark == "~" for one in past)
