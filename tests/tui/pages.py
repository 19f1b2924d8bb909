"""The whole main screen with the session of the pictures in it, and nothing behind it."""

import msgspec
from textual.app import App

from qiming_tui.model.usage import Basis
from qiming_tui.model.window import State
from qiming_tui.tui import keys
from qiming_tui.tui.blocks import Block, Cost, Kind
from qiming_tui.tui.paste import Draft
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.screens.main import MainScreen
from qiming_tui.tui.theme import DARK, THEMES
from qiming_tui.tui.toolrow import Phase
from qiming_tui.tui.widgets.title_bar import TitleData
from tests.tui.bars import TARGET, bar
from tests.tui.desk import QUESTION
from tests.tui.frames import STYLES
from tests.tui.strips import marks
from tests.tui.talks import COSTS, FACTS, block, call, talk

TITLE = TitleData(
    title="flaky-retry",
    agent="build",
    model="sonnet-200k",
    folder="~/src/retry main*",
    compactions=1,
    prunes=3,
    cost=4.61,
)
DRAFT = "Same for tests/test_backoff.py, log attached"
NEAR = bar(
    by_class={"S": 3_000, "T": 11_200, "M": 2_300, "Z": 4_600, "U": 5_100, "A": 31_800, "R": 70_200},
    total=128_200,
    count=131_700,
    state=State.NEAR,
    percent=78,
    basis=Basis.PREDICTED,
    cached=97_400,
    step=51,
    since=600,
)
CODE = """Both helpers now share one `Clock`; the test drives it by hand and nothing really sleeps:

```python
class FakeClock:
    def sleep(self, seconds: float) -> None:
        self.now += seconds      # no thread, no race
```
"""
BACKOFF = """--- a/src/backoff.py
+++ b/src/backoff.py
@@ -27,2 +27,2 @@
 while attempt < self.limit:
-    time.sleep(self.base * 2 ** attempt)
+    self.clock.sleep(self.base * 2 ** attempt)
"""


def near_talk() -> list[Block]:
    """The conversation of main-120x40-near.png."""
    said = "Give backoff the same clock, then run the whole suite."
    waiting = {"phase": Phase.WAITING, "started": 8_000.0}
    return [
        block("u1", Kind.USER, said, seq=1, turn=13, parts=("p1",)),
        block("a1", Kind.TEXT, CODE, seq=2),
        call("e1", "edit", "src/backoff.py", seq=2, part=2, outcome="+9 -4", took_ms=100, diff=BACKOFF),
        call("g1", "grep", "time.sleep src/ tests/", seq=2, part=3, outcome="0 hits", took_ms=100),
        call("w1", "write", "tests/test_backoff.py", seq=2, part=4, phase=Phase.STREAMING, written=600),
        call("b1", "bash", "rm -rf .pytest_cache && pytest -q", seq=2, part=5, **waiting),
    ]


DRAFTED = PromptStatus(draft_tokens=3_100, lands_at=105_113, percent=63, after_turn=111_113)
WAITING = PromptStatus(
    busy=True, doing="waiting for permission", waiting=True, step=51, grew=29_700, cost="$0.77"
)
NEAR_COSTS = {"p1": Cost(100, "U"), "a1": Cost(400, "A"), "e1": Cost(1_100, "A"), "g1": Cost(100, "R")}


class Page(App[None]):
    """The main screen as the application holds it. `near`: the second session of the pictures."""

    BINDINGS = keys.APP
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *, near: bool = False) -> None:
        super().__init__(css_path=sorted(STYLES.glob("*.tcss")))
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        self.near = near
        self.main = MainScreen(clock_s=lambda: 0.0)

    async def on_mount(self) -> None:
        """Everything that the presenter would say."""
        await self.push_screen(self.main)
        main, near = self.main, self.near
        main.bar.show(NEAR if near else TARGET)
        main.conversation.use_clock(lambda: 12_000.0)
        main.conversation.load(near_talk() if near else talk())
        main.conversation.set_costs(NEAR_COSTS if near else COSTS)
        main.conversation.set_boundary("m3", FACTS)
        main.strip.show(marks())
        self.say(zh=False)
        if near:
            main.prompt_bar.show(WAITING)
            main.question.ask(QUESTION)
            main.conversation.expect("b1", 2_100)
        else:
            main.prompt_bar.show(DRAFTED)

    def say(self, *, zh: bool) -> None:
        """Title, folder and draft, in Chinese or not."""
        names = {"title": "修复不稳定的重试测试并解释原因", "folder": "~/源码/重试"} if zh else {}
        self.main.show_title(msgspec.structs.replace(TITLE, **names))
        if not self.near:
            self.main.prompt_bar.prompt.load(Draft("测试文件也一样" if zh else DRAFT))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No demo plays here."""
        return action != "demo"
