"""The compaction of mock/before-after-120x40.png as values: seven turns, a summary with planted misses."""

from textual.app import App

from qiming_tui.context.coverage import cover
from qiming_tui.context.fate import before_after, mark_of, marks_of, moment
from qiming_tui.context.forecast import Promise
from qiming_tui.context.health import health
from qiming_tui.context.state import Block
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import window_of
from qiming_tui.model.edits import EditKind
from qiming_tui.model.limits import Limits
from qiming_tui.model.parts import Completed, Span
from qiming_tui.model.window import Preset, Settings
from qiming_tui.session.acting import Report
from qiming_tui.tui.screens.before_after import BeforeAfterScreen
from qiming_tui.tui.theme import DARK, THEMES
from tests.context.make import (
    MEMORY,
    SYSTEM,
    TOOLS,
    asks,
    assistant,
    edit,
    goes_on,
    state,
    summary,
    tool,
    user,
)
from tests.tui.frames import STYLES

ASKED = (
    "Why does CI fail only on Mondays?",
    "Show me every sleep in the tests",
    "Please never sleep in CI",
    "Inject a clock into retry",
    "Run it 200 times",
    "Now the worker thread",
    "Finish retry.py",
)
ZH = ("为什么持续集成只在周一失败？", "测试里不要使用睡眠", *ASKED[2:])
PATHS = ("src/retry.py", "tests/conftest.py", "src/clock.py", "tests/test_retry.py", "src/worker.py")
SUMMARY = """\
## Goal
Make `retry` deterministic: clock in src/retry.py and src/clock.py.
## Done
tests/test_retry.py is green, 200 runs.
## Next
src/worker.py, and tests/test_backoff.py with `pytest -q --slow`."""


def _answer(turn):
    name = f"a{turn}"
    path = PATHS[turn % len(PATHS)]
    read = tool(name, f"r{turn}", "line of it\n" * 400 * (1 + turn % 3), input={"filePath": path})
    done = Completed(
        input={"command": "pytest -q"},
        output="FAILED tests/test_retry.py::test_jitter",
        metadata={"exit": 1},
        time=Span(start=1, end=2),
    )
    ran = tool(name, f"b{turn}", name="bash", state=done)
    return assistant(name, f"I look at {path}.", read, *([ran] if turn == 4 else []))


def report(*, zh=False):
    """The report, and the health of the request after it."""
    talk = [
        entry
        for turn, words in enumerate(ZH if zh else ASKED)
        for entry in (user(f"u{turn}", words), _answer(turn))
    ]
    log = (
        edit(1, EditKind.CLEAR, "r0", "r1", by="prune"),
        edit(2, EditKind.COMPACT, "c", "s", "k"),
    )
    made = state(
        *talk,
        asks("c"),
        summary("s", "c", SUMMARY),
        goes_on("k"),
        edits=log,
        system=(*SYSTEM, Block("Work carefully. " * 300, "system")),
        memory=MEMORY,
        tools=TOOLS,
        limits=Limits(12_000, None, 2_000),
    )
    settings = Settings()
    mark = mark_of(marks_of(made, Preset.GUARDED), "")
    what = before_after(moment(made, mark), settings, Tally())
    found = Report(
        what=what,
        coverage=cover(what.archived, SUMMARY),
        summary=SUMMARY,
        promise=Promise(step=28, predicted=what.after.total, measured=what.after.total + 400),
        cleared_tokens=2_000,
    )
    return found, health(what.after, window_of(made, settings))


class FateApp(App[None]):
    """The page alone."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *, zh=False):
        super().__init__(css_path=sorted(STYLES.glob("*.tcss")))
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        self.page = BeforeAfterScreen(*report(zh=zh), title="flaky-retry")
        self.wishes = []

    async def on_mount(self):
        await self.push_screen(self.page, self.wishes.append)
