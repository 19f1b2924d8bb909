"""Why a step went as it did, in words and whole numbers, also where nothing happened."""

import msgspec
import pytest

from qiming_tui.context.budget import verdict
from qiming_tui.context.why import why, why_lines
from qiming_tui.model.ledger import CacheAccount, Outcome, RequestRow, Times
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.model.stream import RequestKind
from qiming_tui.model.usage import Basis, Usage
from qiming_tui.model.window import Keep, PartFate, Preset, PrunePlan, RequestParams, Settings

LIMITS = Limits(200_000, None, 32_000, Origin.USER)


def judged(count, basis=Basis.MEASURED, **more):
    settings = Settings(preset=Preset.OPENCODE, auto=more.pop("auto", True))
    return verdict(settings=settings, limits=LIMITS, count=count, basis=basis, **more)


def row(**fields):
    base = RequestRow(
        id="req_1",
        session_id="ses_1",
        message_id="msg_1",
        step=7,
        seq=7,
        kind=RequestKind.TURN,
        model="a/b",
        limits=LIMITS,
        preset="opencode",
        policy="prune+summary",
        reserved=None,
        tokenizer="o200k_base",
        calibration=1.0,
        manifest=(),
        params=RequestParams(model="b"),
        view_hash="v",
        prefix_hash="p",
        verdict=judged(101_000, Basis.PREDICTED),
        after=judged(102_013),
        usage=Usage(input=2_000, cache_read=99_000, output=1_013, total=102_013),
        cost=0.0123,
        outcome=Outcome.OK,
        times=Times(queued=1),
    )
    return msgspec.structs.replace(base, **fields)


def said(**fields):
    trace = why(row(**fields))
    answers = {answer.question: answer for answer in trace.answers}
    return trace, answers, "\n".join(why_lines(trace))


def test_nothing_happened_and_here_is_why():
    """The sum of the issue: 102,013 of 168,000 usable, 65,987 short."""
    trace, answers, text = said()
    assert (trace.step, answers["compact"].answer) == (7, False)
    assert "102,013 >= 168,000 FALSE, 65,987 short" in answers["compact"].words
    assert "compact  NO   200,000 context - 32,000 output = 168,000 usable; 102,013" in text
    assert answers["send"].words.startswith("~101,000 predicted before it was sent: ")
    assert "usage         2,000 input + 99,000 cache read + 0 cache write + 1,013 output" in text
    assert "= 102,013 total" in text
    assert "~101,000 was expected, 102,013 came: +1,013" in text
    assert answers["prune"].answer is None


def test_what_decided_when_it_overflowed():
    assert said(after=judged(170_000))[1]["compact"].answer is True
    off = said(after=judged(170_000, auto=False))[1]["compact"]
    assert off.answer is False
    assert off.words.startswith("automatic compaction is off; ")


def test_a_refusal_and_a_fault_are_said():
    trace, answers, _ = said(outcome=Outcome.REFUSED, fault="too long", after=None, usage=None)
    assert trace.head == "step 7: a turn's request to a/b, refused: too long"
    assert answers["send"].answer is True
    assert answers["send"].words.startswith("and the provider refused it; ~101,000")
    assert answers["compact"].answer is True, "a refusal is as good as an overflow"
    assert said(outcome=Outcome.REFUSED, after=judged(100, auto=False))[1]["compact"].answer is False
    assert trace.usage == ""


def fate(name, reason=None, tokens=1_000):
    return PartFate(part_id=name, tool="read", tokens=tokens, reason=reason)


@pytest.mark.parametrize(
    ("fates", "tokens", "candidates", "answer", "words"),
    [
        ((), 0, 0, False, "there is no result yet"),
        ((fate("p1"),), 1_000, 1_000, True, "1 result, ~1,000 tokens"),
        (
            (fate("p1", Keep.BELOW_MINIMUM),),
            0,
            900,
            False,
            "the candidates hold ~900 tokens, not more",
        ),
        ((fate("p1", Keep.PINNED),), 0, 0, False, "no candidate (1 result kept: pinned by the user)"),
    ],
)
def test_a_prune_says_what_it_kept_and_by_which_rule(fates, tokens, candidates, answer, words):
    plan = PrunePlan(fates=fates, tokens=tokens, candidates_tokens=candidates)
    _, answers, text = said(prune=plan)
    assert answers["prune"].answer is answer
    assert answers["prune"].words.startswith(words)
    assert all(f"{one.part_id}  read  ~1,000" in text for one in fates), "every part has its line"


def test_the_first_change_is_named():
    answers = said(cache=CacheAccount(first_changed="prt_9:result", cause="cleared"))[1]
    assert answers["cache"].answer is False
    assert answers["cache"].words == (
        "the first change is at prt_9:result (cleared); 99,000 tokens were read from the cache"
    )
