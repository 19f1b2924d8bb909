"""What a person may choose when the limit is near: put the compaction off once, or switch it off."""

from qiming_tui.model import events as e
from qiming_tui.model.window import State
from tests.session.harness import session
from tests.session.play import M, Play, ends, real, reasons
from tests.session.test_edits_latch import LONG, REPLY


async def test_a_compaction_is_put_off_until_the_turn_that_needs_it_has_ended(tmp_path):
    model = Play(real(REPLY), real("A2"))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        rig.worker.turn.deferred = True
        await rig.ask(LONG)
        assert rig.verdict.state is State.OVER
        assert (reasons(rig), ends(rig)) == (["done"], [])
        [notice] = rig.of(e.Notice)
        assert notice.text.startswith("Compaction put off until this turn has ended: ")
        await rig.ask("U2")
        assert ends(rig)[-1] == ("finished", "finished")
        assert not rig.worker.turn.deferred


async def test_automatic_compaction_is_switched_off_and_on_again(tmp_path):
    model = Play(real(REPLY), real("A2"))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        await rig.worker.edit(rig.worker.editor.latch)
        await rig.worker.idle()
        assert rig.verdict.auto is False
        await rig.ask(LONG)
        assert set(ends(rig)) == {("skipped", "latched")}
        assert rig.verdict.state is State.OVER
        await rig.worker.edit(rig.worker.editor.unlatch)
        await rig.ask("U2")
        assert ends(rig)[-1] == ("finished", "finished")
