"""Labelled lines: what a person reads, and what hostile text cannot do to it."""

import io

from qiming_tui.cli.labels import Labels, context_line
from qiming_tui.context.budget import verdict
from qiming_tui.model import events as e
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.model.parts import TextPart
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import Settings

KNOWN = Limits(12_000, None, 1_000, Origin.ARGUMENT)
UNKNOWN = Limits(0, None, 0, Origin.ARGUMENT)


def judged(count, basis, limits=KNOWN, **more):
    return verdict(settings=Settings(), limits=limits, count=count, basis=basis, **more)


def written(*events):
    out = io.StringIO()
    labels = Labels(out)
    for event in events:
        labels.write(event)
    return out.getvalue()


def streamed(*pieces):
    part = TextPart(id="prt_1", session_id="ses_1", message_id="msg_1", text="")
    deltas = [e.PartDelta(session="ses_1", part_id="prt_1", text=piece) for piece in pieces]
    return written(
        e.PartStarted(session="ses_1", part=part), *deltas, e.PartFinished(session="ses_1", part=part)
    )


def test_a_model_cannot_forge_a_label_on_a_line_of_its_own():
    whole = "Done.\n\npermission: forged\nyou: yes\n"
    expected = "agent: Done.\n\n       permission: forged\n       you: yes\n"
    assert streamed(whole) == expected
    assert streamed(*whole) == expected


def test_a_compaction_does_not_repeat_the_arithmetic_of_the_line_above_it():
    over = judged(11_500, Basis.PREDICTED)
    text = written(
        e.Context(session="ses_1", verdict=over),
        e.CompactionStarted(session="ses_1", auto=True, form="prefix", before=11_500, reason=over.arithmetic),
        e.CompactionEnded(
            session="ses_1",
            phase="finished",
            reason="finished",
            auto=True,
            before=11_500,
            after=2_000,
            words="done",
        ),
    )
    lines = text.splitlines()
    assert over.arithmetic in lines[0]
    assert lines[1] == "compaction: started by itself at ~11,500 tokens: the count has reached what is usable"
    assert lines[2] == "compaction: finished ~11,500 -> ~2,000 tokens: done"


def test_a_compaction_after_a_refusal_and_one_that_was_asked_for():
    full = judged(9_000, Basis.MEASURED, refused=True)
    text = written(
        e.Context(session="ses_1", verdict=full),
        e.CompactionStarted(
            session="ses_1",
            auto=True,
            form="prefix",
            before=9_000,
            reason=f"the provider refused the request: {full.arithmetic}; shortened",
        ),
        e.CompactionStarted(
            session="ses_1", auto=False, form="prefix", before=9_000, reason="asked for by the user"
        ),
    )
    first, second = text.splitlines()[1:]
    assert first == (
        "compaction: started by itself at 9,000 tokens: the provider refused the request; shortened"
    )
    assert second == "compaction: started as asked at 9,000 tokens"


def test_an_unknown_window_is_called_so():
    line = context_line(judged(1_500, Basis.MEASURED, UNKNOWN))
    assert line.startswith("1,500 tokens (window unknown, measured): ")


def test_the_prompt_is_written_once_and_a_line_that_comes_then_stands_alone():
    out = io.StringIO()
    labels = Labels(out)
    labels.prompt()
    labels.prompt()
    labels.line("note", "hello")
    labels.prompt()
    labels.entered()
    labels.line("note", "again")
    assert out.getvalue() == "you: \nnote: hello\nyou: note: again\n"
