"""`/context`: the bar as text: exact, ASCII, each number with where it comes from."""

import msgspec

from qiming_tui.context.bar import Live, bar_data
from qiming_tui.context.report import report
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import Settings, State
from tests.context.make import assistant, state, tool, user
from tests.tui.bars import bar

TALK = (
    user("u1", "hi"),
    assistant("a1", tool("a1", "r1", "word " * 900, compacted=5), tool("a1", "r2", "word " * 50)),
    user("u2", "and now?"),
)


def told(data, view=None, **more):
    return "\n".join(report(data, view or build(state(*TALK), Settings(), Tally()), **more))


def test_it_says_what_the_bar_shows_to_the_last_token():
    words = told(
        bar(since=600, basis=Basis.PREDICTED, cache_break=19_200, reread=51_800), heading="[b]x\x1b[2J"
    )
    assert words.startswith("context  [b]x")
    assert words.isascii()
    assert "\x1b" not in words
    for line in (
        "state    61% ok: ~102,013 of 168,000 usable, ~65,987 left, ~7 turns of ~9,100",
        "count    ~102,013 measured at step 46, +~600 since; our own sum ~98,600, drift +3,413",
        "next     after one more turn ~111,113",
        "next     the request costs ~$0.14",
        "cache    breaks at 19,200: ~51,800 are read again",
        "1 result cleared, ~43,100 tokens: kept, not sent",
    ):
        assert line in words


def test_the_classes_add_up_to_the_request():
    view = build(state(*TALK), Settings(), Tally())
    data = bar_data(view, Live())
    rows = [line for line in told(data, view).splitlines() if line[:3] in {"U  ", "A  ", "R  "}]
    numbers = [int(row.split("~")[1].split()[0].replace(",", "")) for row in rows]
    assert sum(numbers) == view.total
    assert f"the next request  ~{view.total:,}" in told(data, view)
    assert all(words in told(data, view) for words in view.verdict.arithmetic.split("; "))


def test_every_state_has_its_words():
    over = told(bar(state=State.OVER, over_by=3_204, percent=102, auto=False))
    assert "102% over, automatic compaction is off: 102,013 of 168,000 usable, over by 3,204" in over
    unknown = told(bar(usable=None, state=State.UNKNOWN, percent=None))
    assert "state    unknown: the window of this model is not known" in unknown
    assert "71,000 at the beginning are cached" in told(bar())
    assert "the draft is ~3,100: the request would be ~105,113" in told(bar(draft_tokens=3_100))


def test_what_is_odd_is_told():
    view = build(state(*TALK), Settings(), Tally())
    verdict = msgspec.structs.replace(view.verdict, flags=("the provider reported no usage",))
    view = msgspec.structs.replace(view, verdict=verdict, archived=("m1", "m2"))
    words = told(bar(), view)
    assert words.endswith("note     the provider reported no usage")
    assert "2 messages archived behind the summary: kept, not sent" in words
