"""Another model in an open session: the history stays, its limits decide from the next request on."""

import pytest

from qiming_tui.context.price import held_of
from qiming_tui.model import events as e
from qiming_tui.model.edits import EditKind
from qiming_tui.model.errors import ConfigError
from qiming_tui.model.window import Settings
from qiming_tui.session.switching import switch_model
from tests.session.harness import REF, SMALL, Model, limits, say, session, used
from tests.session.play import do, edit, words


async def test_the_session_goes_on_with_another_model_and_its_limits(tmp_path):
    small = Model(say("short", used(900, 5)))
    model = Model(say(words(2_000), used(1_000, 2_000, cache_read=1_000)))
    async with session(tmp_path, model, small=(small, limits(4_000))) as rig:
        await rig.ask("hello")
        ctx, editor = rig.worker.ctx, rig.worker.editor
        rows = tuple(ctx.live.ledger.values())
        assert held_of(rows, model=REF, now=ctx.services.clock()) > 0
        await do(rig, editor.latch)
        await do(rig, lambda: switch_model(ctx, editor, SMALL))
        assert ctx.profile.info.ref == SMALL
        assert rig.verdict.usable == 3_500
        assert rig.verdict.state.value == "over"
        assert not rig.live.session.latched
        assert held_of(rows, model=SMALL, now=ctx.services.clock()) == 0
        assert (await rig.runtime.store.load(ctx.session_id)).session.model["id"] == SMALL.model
        await rig.ask("and now?")
        assert [end.phase for end in rig.of(e.CompactionEnded)] == ["finished"]
        assert rig.live.last_request.params.model == SMALL
        assert len(model.requests) == 2  # with the title
        await edit(rig, EditKind.PIN, "x", text="kept", source="you")
        await do(rig, lambda: switch_model(ctx, editor, REF))
        assert rig.verdict.usable == 19_500


async def test_a_model_without_room_for_the_reserve_is_refused_and_nothing_changes(tmp_path):
    given = {"small": (Model(), limits(900)), "settings": Settings(reserved=1_000)}
    async with session(tmp_path, Model(), **given) as rig:
        with pytest.raises(ConfigError):
            await do(rig, lambda: switch_model(rig.worker.ctx, rig.worker.editor, SMALL))
        assert rig.worker.ctx.profile.info.ref == REF
