"""What a person does to the window: the dry run first, and then exactly that."""

import pytest

from qiming_tui.context import acts
from qiming_tui.context.coverage import Found
from qiming_tui.context.facts import FactKind
from qiming_tui.context.fate import Fate
from qiming_tui.model import events as e
from qiming_tui.model.errors import EditRefused
from qiming_tui.model.window import CompactionEnd
from tests.context import short
from tests.session.harness import Model, say, session, used
from tests.session.play import answer, do, next_body, plant, undo, words

RESULT = words(900, "line")
TALK = (
    short.user("u1", "Never touch data/raw.csv. Where is the limit of 4711 set?"),
    answer("a1", "In src/limits.py.", finish="stop"),
    short.user("u2", "And who reads it?"),
    answer("a2", words(700), finish="stop"),
    short.user("u3", "Go on"),
    answer("a3", "Done.", finish="stop"),
)


async def begun(tmp_path):
    part = short.tool("r1", RESULT, name="read", message="a1")
    talk = list(TALK)
    talk[1] = type(talk[1])(talk[1].info, (*talk[1].parts, part))
    return await plant(tmp_path, *talk)


async def test_the_dry_run_changes_nothing_and_says_what_then_happens(tmp_path):
    opened = await begun(tmp_path)
    async with session(tmp_path, Model(), session_id=opened) as rig:
        acting = rig.worker.acting
        drafts = acts.clear(acting.now()[1], ["r1"])
        before = await next_body(rig)
        seen = await acting.preview("clear", drafts)
        assert await next_body(rig) == before
        assert [(row.sign, row.klass) for row in seen.rows] == [("~", "R")]
        assert seen.rows[0].words.startswith("T1 read")
        assert seen.price.freed > 800
        assert seen.health.good
        (edit,) = await do(rig, lambda: acting.apply(drafts))
        assert (edit.tokens_before, edit.tokens_after) == (seen.price.before, seen.price.after)
        view = await rig.worker.ctx.engine.view(rig.worker.ctx.profile)
        assert view.total == seen.price.after
        pins = await acting.pin(["r1", "u1"])
        assert [draft.params["text"][:5] for draft in pins] == ["line ", "Never"]
        made = await do(rig, lambda: acting.apply(pins))
        assert len({each.group for each in made}) == 1
        assert made[1].seq == made[0].seq + 1
        restored = acts.restore(acting.now()[1], ["r1"])
        back = await acting.preview("restore", restored)
        assert back.price.after == seen.price.before


async def test_a_compaction_is_shown_first_reported_afterwards_and_run_again_with_a_focus(tmp_path):
    opened = await begun(tmp_path)
    model = Model()
    model.summaries = [
        say("src/limits.py was found.", used(2_000, 10)),
        say("", used(2_000, 0)),
        say("src/limits.py holds the limit 4711; never touch data/raw.csv.", used(2_000, 20)),
        say("src/limits.py holds the limit.", used(2_000, 20)),
    ]
    async with session(tmp_path, model, session_id=opened) as rig:
        acting = rig.worker.acting
        seen = await acting.compaction(keep_turns=1)
        assert [row.sign for row in seen.rows] == ["-", "-", "+"]
        assert any("2 turns" in note or "1 turn" in note for note in seen.notes)
        await rig.worker.compact(keep_turns=1)
        await rig.idle()
        report = await acting.report()
        assert report.what.mark.name == "C1"
        assert [row.fate for row in report.what.messages[-2:]] == [Fate.KEPT, Fate.KEPT]
        lost = {c.fact.text for c in report.coverage.facts if c.found is Found.LOST}
        assert {"4711", "Never touch data/raw.csv."} <= lost
        with pytest.raises(EditRefused, match="no compaction C7"):
            await acting.report("C7")
        assert await do(rig, lambda: acting.again("the limit")) is CompactionEnd.BLANK
        assert (await acting.report()).what.mark.name == "C1"
        assert await do(rig, lambda: acting.again("the limit")) is CompactionEnd.FINISHED
        again = await acting.report()
        assert (again.what.mark.name, again.what.mark.focus) == ("C2", "the limit")
        assert not again.coverage.missing(FactKind.CONSTRAINT)
        assert not rig.live.session.latched
        assert not rig.of(e.Notice)
        pins = await acting.pin(["u1"])
        await do(rig, lambda: acting.apply(pins))
        assert await do(rig, lambda: acting.again("the pin")) is CompactionEnd.FINISHED
        assert "one active boundary, 1 pin present" in rig.of(e.Notice)[-1].text
        await undo(rig)
        assert not (await acting.report("C3")).what.mark.active


async def test_what_cannot_be_done_is_refused_with_the_reason(tmp_path):
    async with session(tmp_path, Model(say("Hello.", used(100, 5)))) as rig:
        await rig.ask("hi")
        acting = rig.worker.acting
        for wish in (acting.compaction, acting.suggested, lambda: acting.again("x"), acting.report):
            with pytest.raises(EditRefused):
                await wish()
