"""The report on a compaction of another program's session: nothing but the file is known of it."""

from qiming_tui.context.coverage import Found, cover
from qiming_tui.context.facts import FactKind
from qiming_tui.context.fate import Fate, before_after, marks_of, moment
from qiming_tui.context.state import SessionState
from qiming_tui.context.tokens import Tally
from qiming_tui.importers import opencode
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.window import Preset, Settings
from tests.importers.samples import sample


def test_the_compaction_of_a_real_session_is_reported():
    record = opencode.read(sample("compaction-1.4.3")).record
    made = SessionState(
        entries=tuple(record.entries),
        edits=tuple(record.edits),
        model=ModelRef("openai", "m"),
        limits=Limits(200_000, None, 32_000),
    )
    (mark,) = marks_of(made, Preset.OPENCODE)
    assert (mark.name, mark.auto, mark.newest) == ("C1", True, True)
    settings = Settings(preset=Preset.OPENCODE)
    what = before_after(moment(made, mark), settings, Tally())
    assert len(what.messages) == 44
    assert {row.fate for row in what.messages} == {Fate.SUMMED}
    assert [turn.turn for turn in what.turns] == [1, 2]
    assert what.before.total > 50 * what.after.total
    report = cover(what.archived, what.summary)
    files = report.of(FactKind.FILE)
    assert len(files) == 16
    assert sum(covered.found is Found.KEPT for covered in files) == 15
    assert report.unsupported == ()
    assert all(line.sources for line in report.lines if len(line.text) > 40)
